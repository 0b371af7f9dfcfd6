import { linkTo } from "../route";
import type { Group } from "./calls";

/** Links to all calls, beside the one that is shown. */
export function Contents({ groups, current }: { groups: readonly Group[]; current: string }) {
  return (
    <nav className="reference-contents" aria-label="Calls">
      <a href={linkTo("reference")}>All calls</a>
      {groups.map(([tag, calls]) => (
        <details key={tag} open={matchMedia("(width >= 76rem)").matches}>
          <summary>{tag}</summary>
          <ul>
            {calls.map(({ name }) => (
              <li key={name}>
                <a href={linkTo("reference", name)} aria-current={name === current ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  );
}
