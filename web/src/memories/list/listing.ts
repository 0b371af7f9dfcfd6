import type { JsonObject } from "@bufbuild/protobuf";
import { ListMemoriesRequest_Order as Order } from "../../api";
import { parseMetadata } from "../../playground/metadata";
import type { Query } from "../../route";
import { columnsIn } from "./columns";

/** Choice of the memories that a list shows, and how. It stands in the address, so that it can be kept. */
export interface Listing {
  readonly order: Order;
  readonly includeSuperseded: boolean;
  /** Filter as it was typed, in JSON; empty for all. */
  readonly filter: string;
  /** Keys of the metadata that have a column; undefined if nobody has chosen. */
  readonly columns: readonly string[] | undefined;
  /** Question by which memories are recalled in place of a list; empty for the list. */
  readonly question: string;
}

export function listingOf({ order, superseded, filter = "", columns, q = "" }: Query): Listing {
  return {
    order: order === "oldest" ? Order.OLDEST_FIRST : Order.NEWEST_FIRST,
    includeSuperseded: superseded === "1",
    filter,
    columns: columnsIn(columns),
    question: q,
  };
}

/** Writes what differs from a plain list, so that the address of one stays short. */
export function queryOf({ order, includeSuperseded, filter, columns, question }: Listing): Query {
  return {
    ...(order === Order.OLDEST_FIRST && { order: "oldest" }),
    ...(includeSuperseded && { superseded: "1" }),
    ...(filter !== "" && { filter }),
    ...(columns && { columns: JSON.stringify(columns) }),
    ...(question !== "" && { q: question }),
  };
}

/** Choice as calls take it. A filter that cannot be read is none: its field says what is wrong. */
export interface Chosen {
  readonly includeSuperseded: boolean;
  readonly filter?: JsonObject;
}

export function chosenBy({ includeSuperseded, filter: json }: Listing): Chosen {
  const filter = parseMetadata(json);
  const isOne = typeof filter === "object" && Object.keys(filter).length > 0;
  return { includeSuperseded, ...(isOne && { filter }) };
}

/** Adds to a filter that a key of the metadata has this value. */
export function narrowed(listing: Listing, key: string, value: string | number | boolean | null): Listing {
  const { filter = {} } = chosenBy(listing);
  return { ...listing, filter: JSON.stringify({ ...filter, [pathOf(key)]: value }) };
}

/** Writes one key as a path of the language of filters. */
function pathOf(key: string): string {
  return key.replace(/[\\.]|^\$/g, "\\$&");
}
