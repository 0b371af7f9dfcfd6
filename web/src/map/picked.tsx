import { counted } from "../format";
import { linkTo } from "../route";
import type { Contents } from "./contents";

/** Memories of the map that stand out together. */
export interface Picked {
  readonly title: string;
  readonly ids: readonly string[];
}

/** Texts that are shown here at most; the list shows all. */
const SHOWN_MAX = 20;
/** Values that a filter takes in a list. */
const FILTER_IDS_MAX = 256;

export interface PickedListProps {
  readonly namespace: string;
  readonly picked: Picked;
  readonly contents: Contents;
  onSelect(id: string): void;
  onClear(): void;
}

/** Lists the memories that were picked, and leads to the list of memories with just these. */
export function PickedList({ namespace, picked, contents, onSelect, onClear }: PickedListProps) {
  const { title, ids } = picked;
  const listed = ids.slice(0, FILTER_IDS_MAX);
  return (
    <section className="card stack" aria-label="Picked memories">
      <div className="quota-head">
        <h2 className="breakable" dir="auto">
          {title}
        </h2>
        <button type="button" className="button-small" onClick={onClear}>
          Clear
        </button>
      </div>
      <p className="hint" role="status">
        {counted(ids.length, "memory", "memories")}.{" "}
        {ids.length > 0 && (
          <a href={`${linkTo("memories", namespace)}?${filterFor(listed)}`}>
            {listed.length < ids.length ? `Open the first ${listed.length} in the list` : "Open in the list"}
          </a>
        )}
      </p>
      <ul className="results results-small">
        {ids.slice(0, SHOWN_MAX).map((id) => (
          <li key={id}>
            <button type="button" className="result-text" dir="auto" onClick={() => onSelect(id)}>
              {contents.get(id)?.text ?? id}
            </button>
          </li>
        ))}
      </ul>
      {ids.length > SHOWN_MAX && <p className="hint">The list shows the other {ids.length - SHOWN_MAX}.</p>}
    </section>
  );
}

function filterFor(ids: readonly string[]): string {
  return new URLSearchParams({ filter: JSON.stringify({ $id: { $in: ids } }) }).toString();
}
