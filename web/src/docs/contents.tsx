import type { Call } from "./openapi";

export type Group = readonly [tag: string, calls: readonly Call[]];

/** A connect path by its RPC's name, any other as it is. */
export function shortName({ method, path }: Call): string {
  const rpc = /^\/[\w.]+\.\w+\/(\w+)$/.exec(path)?.[1];
  if (rpc !== undefined) return method === "post" ? rpc : `${rpc} by ${method.toUpperCase()}`;
  return `${method.toUpperCase()} ${path}`;
}

/** Buttons, not links: the address after # is taken by the pages. */
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
