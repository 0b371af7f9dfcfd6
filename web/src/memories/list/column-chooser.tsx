import { type KeyboardEvent, useEffect, useRef } from "react";
import type { Memory } from "../../api";
import { COLUMNS_MAX } from "./listing";

/** Keys that are offered at most, those that come first. */
const OFFERED_MAX = 40;

export interface ColumnChooserProps {
  readonly memories: readonly Memory[];
  readonly columns: readonly string[];
  onChange(columns: readonly string[]): void;
}

/** Chooses which keys of the metadata have a column, among those of the memories that are listed. */
export function ColumnChooser({ memories, columns, onChange }: ColumnChooserProps) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const stop = new AbortController();
    addEventListener("pointerdown", ({ target }) => closeUnlessIn(details.current, target), {
      signal: stop.signal,
    });
    return () => stop.abort();
  }, []);
  const found = memories.flatMap(({ metadata = {} }) => Object.keys(metadata));
  const keys = [...new Set([...columns, ...found])].slice(0, OFFERED_MAX);
  if (keys.length === 0) return null;
  const isFull = columns.length >= COLUMNS_MAX;
  const toggle = (key: string, isChosen: boolean) =>
    onChange(isChosen ? [...columns, key] : columns.filter((each) => each !== key));
  return (
    <details ref={details} className="columns" onKeyDown={closeByEscape}>
      <summary>Columns{columns.length > 0 && ` (${columns.length})`}</summary>
      <fieldset>
        <legend className="hint">Keys of the metadata, up to {COLUMNS_MAX}</legend>
        {keys.map((key) => (
          <label key={key}>
            <input
              type="checkbox"
              checked={columns.includes(key)}
              disabled={isFull && !columns.includes(key)}
              onChange={({ target }) => toggle(key, target.checked)}
            />{" "}
            <bdi className="mono breakable">{key}</bdi>
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** Closes the list, which lies over others, when the user turns to something else. */
function closeUnlessIn(details: HTMLDetailsElement | null, target: EventTarget | null): void {
  if (details && !details.contains(target as Node)) details.open = false;
}

function closeByEscape({ key, currentTarget }: KeyboardEvent<HTMLDetailsElement>): void {
  if (key !== "Escape") return;
  currentTarget.open = false;
  currentTarget.querySelector("summary")?.focus();
}
