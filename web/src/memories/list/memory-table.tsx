import type { JsonValue } from "@bufbuild/protobuf";
import type { KeyboardEvent } from "react";
import type { Memory } from "../../api";
import { ago, count, dateTime, day } from "../../format";
import { ScrollRegion } from "../../parts/scroll-region";
import { moveAmong } from "./keyboard";

/** Value by which one can filter. */
export type Plain = string | number | boolean | null;

export interface MemoryTableProps {
  readonly memories: readonly Memory[];
  readonly columns: readonly string[];
  /** Ids of the selected memories; undefined if none can be selected. */
  readonly selected: ReadonlySet<string> | undefined;
  /** Ids of memories that came while the list was watched. */
  readonly fresh: ReadonlySet<string>;
  onSelect(ids: readonly string[], isSelected: boolean): void;
  onOpen(id: string): void;
  onNarrow(key: string, value: Plain): void;
}

export function MemoryTable(props: MemoryTableProps) {
  const { memories, columns, selected, onSelect } = props;
  const ids = memories.map(({ id }) => id);
  const hasEvents = memories.some(({ eventTime }) => eventTime !== undefined);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const row = moveAmong(event);
    if (row === undefined || selected === undefined) return;
    const id = ids[row];
    if (id !== undefined) onSelect([id], !selected.has(id));
  };
  return (
    <section className="card card-flush">
      <ScrollRegion label="Memories">
        <table className="cards memories" onKeyDown={onKeyDown}>
          <thead>
            <tr>
              {selected && (
                <th scope="col" className="cell-select">
                  <input
                    type="checkbox"
                    aria-label="Select all that are shown"
                    checked={ids.every((id) => selected.has(id))}
                    onChange={({ target }) => onSelect(ids, target.checked)}
                  />
                </th>
              )}
              <th scope="col">Memory</th>
              {columns.map((key) => (
                <th key={key} scope="col" className="mono">
                  {key}
                </th>
              ))}
              <th scope="col" className="number">
                Tokens
              </th>
              {hasEvents && <th scope="col">Happened</th>}
              <th scope="col">Stored</th>
            </tr>
          </thead>
          <tbody>
            {memories.map((memory) => (
              <Row key={memory.id} memory={memory} hasEvents={hasEvents} {...props} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

function Row({ memory, hasEvents, ...props }: { memory: Memory; hasEvents: boolean } & MemoryTableProps) {
  const { columns, selected, fresh, onSelect, onOpen, onNarrow } = props;
  const { id, text, metadata = {}, supersededBy, tokens, createdAt, eventTime } = memory;
  return (
    <tr data-selected={selected?.has(id)} data-fresh={fresh.has(id)}>
      {selected && (
        <td className="cell-select">
          <input
            type="checkbox"
            aria-label={`Select ${text.slice(0, 60)}`}
            checked={selected.has(id)}
            onChange={({ target }) => onSelect([id], target.checked)}
          />
        </td>
      )}
      <th scope="row">
        <button type="button" className="row" onClick={() => onOpen(id)}>
          <span className="row-text" dir="auto">
            {text}
          </span>
        </button>
        {supersededBy !== undefined && <span className="badge badge-warn">Superseded</span>}
      </th>
      {columns.map((key) => (
        <td key={key} data-label={key}>
          <Value
            field={key}
            // A key may be called as what every object has, such as `constructor`.
            value={Object.hasOwn(metadata, key) ? metadata[key] : undefined}
            onNarrow={onNarrow}
          />
        </td>
      ))}
      <td data-label="Tokens" className="number">
        {count(tokens)}
      </td>
      {hasEvents && (
        <td data-label="Happened" className="whole quiet" title={dateTime(eventTime)}>
          {eventTime && day(eventTime)}
        </td>
      )}
      <td data-label="Stored" className="whole quiet" title={dateTime(createdAt)}>
        {ago(createdAt)}
      </td>
    </tr>
  );
}

interface ValueProps extends Pick<MemoryTableProps, "onNarrow"> {
  readonly field: string;
  readonly value: JsonValue | undefined;
}

/** Shows a value of the metadata. A click lists what has the same one. */
function Value({ field, value, onNarrow }: ValueProps) {
  if (value === undefined) return <span className="quiet">–</span>;
  if (typeof value === "object" && value !== null)
    return <code className="cell-value">{JSON.stringify(value)}</code>;
  return (
    <button
      type="button"
      className="cell-value result-text"
      title={`Only where ${field} is this`}
      onClick={() => onNarrow(field, value)}
    >
      <bdi>{String(value)}</bdi>
    </button>
  );
}
