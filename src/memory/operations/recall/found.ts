import { byCreation, type Placed } from "../../search/place.js";
import type { Shown } from "../../versions/fetch.js";

export interface Found extends Omit<Placed, "share" | "matched" | "recency"> {
  /** Id of the memory that superseded it. */
  readonly supersededBy?: string | undefined;
  /** Share of the query's words that the text has, 0 to 1; undefined in an order by meaning alone. */
  readonly words?: number | undefined;
  /** Reasons for its place, as the contract has them. */
  readonly explanation?:
    | (Pick<Placed, "rank" | "matched" | "recency"> & {
        readonly weight: number;
        readonly fit?: number | undefined;
      })
    | undefined;
  /** Place among several queries of the one that it fits best. */
  readonly queryIndex?: number | undefined;
  /** Its namespace, in a recall of several. */
  readonly namespace?: string | undefined;
  /** Memories created just before and after it, each the oldest first; undefined if none were asked for. */
  readonly before?: readonly Shown[] | undefined;
  readonly after?: readonly Shown[] | undefined;
}

/** Merges what several searches found into the `limit` best, best first; of equals, the older comes first. */
export function bestOf(found: readonly Found[], limit: number): Found[] {
  const best = new Map<string, Found>();
  for (const each of found.toSorted((a, b) => b.rank - a.rank || byCreation(a.entry, b.entry))) {
    // Two queries may find the same memory: the better place counts.
    if (!best.has(each.entry.id)) best.set(each.entry.id, each);
  }
  return [...best.values()].slice(0, limit);
}
