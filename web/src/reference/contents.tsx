import type { Call } from "./openapi";

export type Group = readonly [tag: string, calls: readonly Call[]];

/** Shortens a Connect path to the name of its RPC; other paths stay as they are. */
export function shortName({ method, path }: Call): string {
  const rpc = /^\/[\w.]+\.\w+\/(\w+)$/.exec(path)?.[1];
  if (rpc !== undefined) return method === "post" ? rpc : `${rpc} by ${method.toUpperCase()}`;
  return `${method.toUpperCase()} ${path}`;
}

/** Table of contents. It uses buttons, not links, because the part of the address after # names the page. */
export function Contents({ groups }: { groups: readonly Group[] }) {
  return (
    <nav className="docs-contents" aria-label="Calls">
      {groups.map(([tag, calls]) => (
        <details key={tag} open={matchMedia("(width >= 76rem)").matches}>
          <summary>{tag}</summary>
          <ul>
            {calls.map((call) => (
              <li key={call.id}>
                <button type="button" className="button-plain" onClick={() => show(call.id)}>
                  {shortName(call)}
                </button>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  );
}

function show(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView();
  section?.querySelector<HTMLElement>("h3")?.focus({ preventScroll: true });
}
