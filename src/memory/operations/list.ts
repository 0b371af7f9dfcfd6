import { heldLogOf } from "../log/living-log.js";
import { ALWAYS, type Filter } from "../ports/condition.js";
import type { Happened } from "../ports/index.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
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
import { selectIn } from "./matching.js";
import { fillPage, inOrder, newest, oldest, type Step } from "./page-of-memories.js";
import type { Ports, SelectingRequest } from "./ports.js";

/** Entries per read, and reads per page: there may be many deleted entries between two memories. */
const READ_MANY = 128;
const READS_MAX = 50;

/** Order of when memories were stored, or of when they happened; of equal times, of when they were stored. */
export type Order = "newest" | "oldest" | "event-newest" | "event-oldest";

interface ListRequest extends SelectingRequest {
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** The newest first if left out. */
  readonly order?: Order | undefined;
}

interface Listing {
  readonly scope: Scope;
  readonly order: Order;
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal: AbortSignal | undefined;
  readonly size: number;
  /** The place in a log at which the page begins, as its token has it; undefined for the first page. */
  placeIn(logId: string): readonly string[] | undefined;
}

/** A log, and the way through what is listed of it. Places are the numbers that a page token has. */
interface Listed {
  readonly logId: string;
  readonly steps: AsyncIterable<Step<number | readonly number[]>>;
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
  ports: Ports,
  { caller, signal, order = "newest", includeSuperseded = false, ...request }: ListRequest,
): Promise<Page<Shown>> {
  const filter = parseFilter(request.filter);
  const isByEvent = order === "event-newest" || order === "event-oldest";
  const list = isByEvent ? listByEventTime : filter === undefined ? listLog : listSelected;
  const scope = scopeOf({ caller, ...request });
  const size = parsePageSize(request.pageSize);
  // A token has the log, the place and, but for a list of the log itself, the filter.
  const digest = list === listLog ? [] : [digestOf(filter?.key ?? "")];
  const words = 1 + (isByEvent ? 2 : 1) + digest.length;
  const token = parsePageToken(request.pageToken, [NAMES[order], words]);
  await authorizeFree(ports.quota, caller, { writes: false, namespace: scope.namespace });
  const placeIn = (logId: string) => {
    if (token === undefined) return undefined;
    // A copy in another model version has the same numbers.
    const [base, ...rest] = token;
    const place = rest.slice(0, rest.length - digest.length);
    if (base !== baseOf(logId) || rest[place.length] !== digest[0]) throw badToken();
    return place;
  };
  const listing = { scope, order, filter: filter ?? ALL, includeSuperseded, signal, size, placeIn };
  const listed = await list(ports, listing);
  if (listed === undefined) return noPage(token);
  const { items, next } = await fillPage(listed.steps, size);
  const nextPageToken =
    next === undefined
      ? ""
      : pageToken([NAMES[order], baseOf(listed.logId), ...[next].flat().map(String), ...digest]);
  return { items, nextPageToken };
}

/** Lists all memories by when they were stored, as the log has them; undefined without a namespace. */
async function listLog(
  ports: Ports,
  { scope, order, size, includeSuperseded, placeIn }: Listing,
): Promise<Listed | undefined> {
  const held = await heldLogOf(ports, scope);
  if (held === undefined) return undefined;
  const { logId, last } = held;
  const [at] = placeIn(logId) ?? [];
  const place = at === undefined ? undefined : Math.min(parsePlace(at), last + 1);
  const reads = { readFirst: size, readMany: READ_MANY, readsMax: READS_MAX };
  const walk = { logId, includeSuperseded, what: "text", last, place, ...reads } as const;
  return { logId, steps: order === "newest" ? newest(ports, walk) : oldest(ports, walk) };
}

/** Lists what a filter selects by when it was stored; undefined without a namespace. */
async function listSelected(
  ports: Ports,
  { scope, order, placeIn, size: _, ...selecting }: Listing,
): Promise<Listed | undefined> {
  const matching = await selectIn(ports, scope, selecting);
  if (matching === undefined) return undefined;
  const { logId, selection } = matching;
  const [at] = placeIn(logId) ?? [];
  const place = at === undefined ? undefined : parsePlace(at);
  const sequences =
    order === "newest"
      ? selection.between(1, place ?? Number.MAX_SAFE_INTEGER).toReversed()
      : selection.between(place ?? 1, Number.MAX_SAFE_INTEGER);
  return { logId, steps: inOrder(ports, { logId, sequences, ...selecting }, (behind) => sequences[behind]) };
}

/**
 * Lists memories by when they happened; undefined without a namespace. Each page looks at the times of all of them,
 * which the index of fields holds, and keeps only those that the page needs.
 */
function listByEventTime(
  ports: Ports,
  { scope, order, size, placeIn, ...selecting }: Listing,
): Promise<Listed | undefined> {
  return ports.namespaces.reading(scope, async ({ replica }) => {
    const { logId } = replica;
    const [atMs, at] = placeIn(logId) ?? [];
    const behind = atMs === undefined ? undefined : { atMs: parseTimePlace(atMs), sequence: parsePlace(at) };
    await replica.current();
    const places = await replica.searching(async (search) => {
      const selection = await search.select(selecting.filter, selecting);
      // One more than the page, to know whether others follow.
      const event = { isNewestFirst: order === "event-newest", behind, limit: size + 1 };
      return search.inEventOrder(selection, event, selecting);
    });
    const sequences = Float64Array.from(places.slice(0, size), ({ sequence }) => sequence);
    const placeBehind = (examined: number) => {
      const last: Happened | undefined = places[examined - 1];
      return last === undefined || examined === places.length ? undefined : [last.atMs, last.sequence];
    };
    return { logId, steps: inOrder(ports, { logId, sequences, ...selecting }, placeBehind) };
  });
}
