import { parseFilter } from "../filter/parse.js";
import { byteLengthOf } from "../ports/bounds.js";
import type { Filter } from "../ports/condition.js";
import { baseOf } from "../ports/model-version.js";
import { authorizeFree } from "../requests/authorize.js";
import type { JsonObject } from "../requests/json-object.js";
import { scopeOf } from "../requests/namespace.js";
import {
  badToken,
  noPage,
  type Page,
  pageToken,
  parsePageSize,
  parsePageToken,
  parsePlace,
} from "../requests/page.js";
import type { Shown } from "../versions/showing.js";
import { digestOf } from "./digest.js";
import { endOf, type LogEnd } from "./end-of.js";
import { type EventTimeOrder, listByEventTime } from "./list-by-event-time.js";
import { type Matching, type MatchingPorts, readMatching, selectIn } from "./matching.js";
import type { NamespaceRequest, ReadingPorts } from "./ports.js";
import { newest, oldest, PAGE_BYTES_MAX } from "./read-page.js";

/** Memories read at a time: few, because the page may have no room for them. */
const READ_MANY = 16;

interface ListMatchingRequest extends ListRequest {
  /** Filter of the memories; see docs/filters.md. */
  readonly filter?: JsonObject | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface PageOf extends Matching {
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly order: StoredOrder;
  /** Number of the memory that the page begins with; undefined for the first page. */
  readonly place: number | undefined;
  readonly size: number;
}

/** Order of when memories were stored. */
type StoredOrder = "newest" | "oldest";
export type Order = StoredOrder | EventTimeOrder;

interface ListRequest extends NamespaceRequest {
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** The newest first if left out. */
  readonly order?: Order | undefined;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
}

/** Name of each list in its page tokens, so that a token of one order is refused in the other. */
const LISTS = { newest: "memories", oldest: "oldest" } as const;

/**
 * Lists a namespace's memories, newest or oldest first; a namespace that does not exist has none. A page may
 * hold fewer than requested though others follow: its token tells. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for a token of another namespace or order, or of a namespace
 * dropped since.
 */
export async function listMemories(
  ports: ReadingPorts,
  { caller, ...request }: ListRequest & { readonly order?: StoredOrder | undefined },
): Promise<Page<Shown>> {
  const scope = scopeOf({ caller, ...request });
  const { order = "newest" } = request;
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, [LISTS[order], 2]);
  await authorizeFree(ports.quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(ports, scope);
  if (end === undefined) return noPage(token);
  const place = token && placeIn(end, token);
  const read = order === "newest" ? newest : oldest;
  const { includeSuperseded = false } = request;
  const showing = { nowMs: ports.clock.wallMs(), includeSuperseded };
  const { items, next } = await read(ports, { ...end, ...showing, place, size });
  const nextPageToken = next === undefined ? "" : pageToken([LISTS[order], baseOf(end.logId), String(next)]);
  return { items, nextPageToken };
}

function placeIn(end: LogEnd, [base, place]: string[]): number {
  // A copy in another model version has the same numbers.
  if (base !== baseOf(end.logId)) throw badToken();
  return Math.min(parsePlace(place), end.last + 1);
}

/**
 * Lists the memories of a namespace that match a filter, like `listMemories`; all if there is none. A page
 * token works with its own filter only.
 */
export async function listMatching(
  ports: MatchingPorts,
  { filter: given, signal, order = "newest", ...request }: ListMatchingRequest,
): Promise<Page<Shown>> {
  const filter = parseFilter(given);
  if (order === "event-newest" || order === "event-oldest") {
    return listByEventTime(ports, { ...request, order, filter, signal });
  }
  if (filter === undefined) return listMemories(ports, { ...request, order });
  const scope = scopeOf(request);
  const { includeSuperseded = false } = request;
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, [LISTS[order], 3]);
  await authorizeFree(ports.quota, request.caller, { writes: false, namespace: scope.namespace });
  const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
  if (matching === undefined) return noPage(token);
  const query = [baseOf(matching.logId), digestOf(filter.key)] as const;
  const place = token && placeAmong(query, token);
  const { items, next } = await readMatchingPage(ports, {
    ...matching,
    filter,
    includeSuperseded,
    order,
    place,
    size,
  });
  const nextPageToken = next === undefined ? "" : pageToken([LISTS[order], query[0], String(next), query[1]]);
  return { items, nextPageToken };
}

function placeAmong(query: readonly [base: string, digest: string], token: string[]): number {
  const [base, place, digest] = token;
  if (base !== query[0] || digest !== query[1]) throw badToken();
  return parsePlace(place);
}

/** Reads a page; returns where the next one begins, undefined if nothing is left. */
async function readMatchingPage(
  ports: ReadingPorts,
  { selection, order, place, size, ...reading }: PageOf,
): Promise<{ items: Shown[]; next: number | undefined }> {
  const isNewest = order === "newest";
  const rest = isNewest
    ? selection.between(1, place ?? Number.MAX_SAFE_INTEGER).toReversed()
    : selection.between(place ?? 1, Number.MAX_SAFE_INTEGER);
  const items: Shown[] = [];
  const showing = { ...reading, nowMs: ports.clock.wallMs() };
  let bytes = 0;
  for (let at = 0; at < rest.length; at += READ_MANY) {
    const some = rest.subarray(at, at + READ_MANY);
    const found = await readMatching(ports, { ...showing, sequences: some });
    for (const { sequence, entry } of isNewest ? found.reverse() : found) {
      if (items.length === size || bytes >= PAGE_BYTES_MAX) return { items, next: sequence };
      items.push(entry);
      bytes += byteLengthOf(entry);
    }
  }
  return { items, next: undefined };
}
