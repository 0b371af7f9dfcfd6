import type { JsonObject } from "@bufbuild/protobuf";
import { type FormEvent, useState } from "react";
import { ListMemoriesRequest_Order as Order } from "../api";
import { parseMetadata } from "../playground/metadata";

/** Choice of the memories that a list shows, and of their order. */
export interface Listing {
  readonly order: Order;
  readonly includeSuperseded: boolean;
  /** Choice of the memories that are listed, in the language of filters; all if left out. */
  readonly filter?: JsonObject;
}

export const NEWEST: Listing = { order: Order.NEWEST_FIRST, includeSuperseded: false };

export interface ListOptionsProps {
  readonly listing: Listing;
  onChange(listing: Listing): void;
}

export function ListOptions({ listing, onChange }: ListOptionsProps) {
  return (
    <div className="list-options">
      <label htmlFor="list-order">Order</label>
      <select
        id="list-order"
        value={listing.order}
        onChange={({ target }) => onChange({ ...listing, order: Number(target.value) as Order })}
      >
        <option value={Order.NEWEST_FIRST}>Newest first</option>
        <option value={Order.OLDEST_FIRST}>Oldest first</option>
      </select>
      <label>
        <input
          type="checkbox"
          checked={listing.includeSuperseded}
          onChange={({ target }) => onChange({ ...listing, includeSuperseded: target.checked })}
        />{" "}
        Superseded ones, too
      </label>
      <FilterBox onChange={(filter) => onChange({ ...withoutFilter(listing), ...(filter && { filter }) })} />
    </div>
  );
}

function withoutFilter({ order, includeSuperseded }: Listing): Listing {
  return { order, includeSuperseded };
}

/** Takes a filter as JSON when it is sent by Enter. */
function FilterBox({ onChange }: { onChange(filter: JsonObject | undefined): void }) {
  const [json, setJson] = useState("");
  const filter = parseMetadata(json);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof filter !== "string") onChange(filter);
  };
  return (
    <form method="post" className="filter-box" onSubmit={submit}>
      <label htmlFor="list-filter">Filter</label>
      <input
        id="list-filter"
        className="mono"
        placeholder='{"source": "chat"}'
        autoComplete="off"
        spellCheck={false}
        aria-invalid={typeof filter === "string"}
        aria-describedby="filter-problem"
        value={json}
        onChange={({ target }) => setJson(target.value)}
      />
      <button type="submit">Apply</button>
      <p id="filter-problem" className="problem" aria-live="polite">
        {typeof filter === "string" && filter}
      </p>
    </form>
  );
}
