import type { Memory } from "../../api";
import { COLUMNS_MAX } from "./columns";

/** Keys that are offered at most, those that come first. */
const OFFERED_MAX = 40;

export interface ColumnFieldsProps {
  readonly memories: readonly Memory[];
  readonly columns: readonly string[];
  onChange(columns: readonly string[]): void;
}

/** Chooses which keys of the metadata have a column, among those of the memories that are listed. */
export function ColumnFields({ memories, columns, onChange }: ColumnFieldsProps) {
  const found = memories.flatMap(({ metadata = {} }) => Object.keys(metadata));
  const keys = [...new Set([...columns, ...found])].slice(0, OFFERED_MAX);
  if (keys.length === 0) return null;
  const isFull = columns.length >= COLUMNS_MAX;
  const toggle = (key: string, isChosen: boolean) =>
    onChange(isChosen ? [...columns, key] : columns.filter((each) => each !== key));
  return (
    <fieldset className="columns">
      <legend className="hint">Columns of the metadata, up to {COLUMNS_MAX}</legend>
      {keys.map((key) => (
        <label key={key} className="check">
          <input
            type="checkbox"
            checked={columns.includes(key)}
            disabled={isFull && !columns.includes(key)}
            onChange={({ target }) => toggle(key, target.checked)}
          />
          <bdi className="mono breakable">{key}</bdi>
        </label>
      ))}
    </fieldset>
  );
}
