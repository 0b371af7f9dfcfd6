import { parseFilter } from "../filter/parse.js";
import { ALWAYS, type Filter } from "../ports/condition.js";
import type { Happened } from "../ports/event-order.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import type { JsonObject } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import {
  badToken,
  digestOf,
  noPage,
  type Page,
  pageToken,
  parsePageSize,
  parsePageToken,
  parsePlace,
  parseTimePlace,
} from "../requests/page.js";
import type { Shown } from "../versions/fetch.js";
import { endOf } from "./end-of.js";
import { type MatchingPorts, selectIn } from "./matching.js";
import type { NamespaceRequest } from "./ports.js";
import { newest, oldest, readSome } from "./read-page.js";

/** Order of when memories were stored, or of when they happened; of equal times, of when they were stored. */
export type Order = "newest" | "oldest" | "event-newest" | "event-oldest";

interface ListRequest extends NamespaceRequest {
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** The newest first if left out. */
  readonly order?: Order | undefined;
  /** Filter of the memories; see docs/filters.md. All are listed if left out. */
  readonly filter?: JsonObject | undefined;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Listing {
  readonly scope: Scope;
  readonly order: Order;
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal: AbortSignal | undefined;
  /** Words of the page token behind the list's name; undefined for the first page. */
  readonly token: string[] | undefined;
  readonly size: number;
}

/** A page, and the words of the next one's token; undefined if nothing is left. */
interface Listed {
  readonly items: readonly Shown[];
  readonly next: readonly string[] | undefined;
}

/** A way to list memories: undefined if the namespace does not exist. */
interface List {
  /** Number of words in its page tokens. */
  readonly words: number;
  read(ports: MatchingPorts, listing: Listing): Promise<Listed | undefined>;
}

/** Name of each order in page tokens, so that a token of one order is refused in another. */
const NAMES = {
  newest: "memories",
  oldest: "oldest",
  "event-newest": "event-newest",
  "event-oldest": "event-oldest",
} as const;

/** Stands in page tokens and conditions for no filter. */
const ALL: Filter = { condition: ALWAYS, key: "" };

/**
 * Lists a namespace's memories; a namespace that does not exist has none. A page may hold fewer than requested though
 * others follow: its token tells. A token works with its own order and filter only. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for a token of another namespace or order, or of a namespace
 * dropped since.
 */
export async function listMemories(
  ports: MatchingPorts,
  { caller, signal, order = "newest", includeSuperseded = false, ...request }: ListRequest,
): Promise<Page<Shown>> {
  const filter = parseFilter(request.filter);
  const list =
    order === "event-newest" || order === "event-oldest"
      ? BY_EVENT_TIME
      : filter === undefined
        ? LOG
        : SELECTED;
  const scope = scopeOf({ caller, ...request });
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, [NAMES[order], list.words]);
  await authorizeFree(ports.quota, caller, { writes: false, namespace: scope.namespace });
  const listing = { scope, order, filter: filter ?? ALL, includeSuperseded, signal, token, size };
  const page = await list.read(ports, listing);
  if (page === undefined) return noPage(token);
  const nextPageToken = page.next === undefined ? "" : pageToken([NAMES[order], ...page.next]);
  return { items: page.items, nextPageToken };
}

/** Lists all memories by when they were stored, as the log has them. */
const LOG: List = {
  words: 2,
  read: async (ports, { scope, order, token, size, includeSuperseded }) => {
    const end = await endOf(ports, scope);
    if (end === undefined) return undefined;
    const [base, at] = token ?? [];
    // A copy in another model version has the same numbers.
    if (token !== undefined && base !== baseOf(end.logId)) throw badToken();
    const place = token && Math.min(parsePlace(at), end.last + 1);
    const read = order === "newest" ? newest : oldest;
    const showing = { nowMs: ports.clock.wallMs(), includeSuperseded };
    const { items, next } = await read(ports, { ...end, ...showing, place, size });
    return { items, next: next === undefined ? undefined : [baseOf(end.logId), String(next)] };
  },
};

/** Lists what a filter selects by when it was stored. */
const SELECTED: List = {
  words: 3,
  read: async (ports, { scope, order, token, size, ...selecting }) => {
    const matching = await selectIn(ports, scope, selecting);
    if (matching === undefined) return undefined;
    const { logId, selection } = matching;
    const list = listOf(logId, selecting.filter);
    const [base, at, digest] = token ?? [];
    if (token !== undefined) list.expect(base, digest);
    const place = token && parsePlace(at);
    const sequences =
      order === "newest"
        ? selection.between(1, place ?? Number.MAX_SAFE_INTEGER).toReversed()
        : selection.between(place ?? 1, Number.MAX_SAFE_INTEGER);
    const { items, examined } = await readSome(ports, { logId, sequences, size, ...selecting });
    const next = sequences[examined];
    return { items, next: next === undefined ? undefined : [list.base, String(next), list.digest] };
  },
};

/**
 * Lists memories by when they happened. Each page looks at the times of all of them, which the index of fields holds,
 * and keeps only those that the page needs.
 */
const BY_EVENT_TIME: List = {
  words: 4,
  read: async (ports, { scope, order, token, size, ...selecting }) => {
    const found = await ports.namespaces.reading(scope, async ({ replica }) => {
      const { logId } = replica;
      const list = listOf(logId, selecting.filter);
      const [base, atMs, sequence, digest] = token ?? [];
      if (token !== undefined) list.expect(base, digest);
      const behind = token && { atMs: parseTimePlace(atMs), sequence: parsePlace(sequence) };
      await replica.current();
      const places = await replica.searching(async (search) => {
        const selection = await search.select(selecting.filter, selecting);
        // One more than the page, to know whether others follow.
        const event = { isNewestFirst: order === "event-newest", behind, limit: size + 1 };
        return search.inEventOrder(selection, event, selecting);
      });
      return { logId, list, places };
    });
    if (found === undefined) return undefined;
    const { logId, list, places } = found;
    const sequences = Float64Array.from(places.slice(0, size), ({ sequence }) => sequence);
    const { items, examined } = await readSome(ports, { logId, sequences, size, ...selecting });
    const last: Happened | undefined = places[examined - 1];
    if (last === undefined || examined === places.length) return { items, next: undefined };
    return { items, next: [list.base, String(last.atMs), String(last.sequence), list.digest] };
  },
};

/** The list that a filter makes of a log, by which page tokens are told apart. */
function listOf(logId: string, filter: Filter) {
  const [base, digest] = [baseOf(logId), digestOf(filter.key)];
  const expect = (itsBase: string | undefined, itsDigest: string | undefined) => {
    if (itsBase !== base || itsDigest !== digest) throw badToken();
  };
  return { base, digest, expect };
}
