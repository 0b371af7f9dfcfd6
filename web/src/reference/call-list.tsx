import { linkTo } from "../route";
import type { Group } from "./calls";
import { MethodAndPath } from "./method-and-path";
import type { Document } from "./openapi";
import { Inline, Prose } from "./prose";

/** Index of all calls, by group. */
export function CallList({ document, groups }: { document: Document; groups: readonly Group[] }) {
  return (
    <>
      {document.info?.description && (
        <section className="card">
          <Prose text={document.info.description} />
        </section>
      )}
      {groups.map(([tag, calls]) => (
        <section key={tag} className="card stack reference-group" aria-label={tag}>
          <h2>{tag}</h2>
          <Prose text={document.tags?.find(({ name }) => name === tag)?.description ?? ""} />
          <ul className="reference-calls">
            {calls.map((call) => (
              <li key={call.name}>
                <a href={linkTo("reference", call.name)}>{call.name}</a>
                <MethodAndPath call={call} />
                <p className="quiet">
                  <Inline text={call.summary ?? ""} />
                </p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
