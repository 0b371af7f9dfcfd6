import { byteLengthOf } from "../ports/bounds.js";
import { ALWAYS, type Filter } from "../ports/condition.js";
import type { Happened } from "../ports/event-order.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { scopeOf } from "../requests/namespace.js";
import {
  badToken,
  noPage,
  type Page,
  pageToken,
  parsePageSize,
  parsePageToken,
  parsePlace,
  parseTimePlace,
} from "../requests/page.js";
import type { Shown } from "../versions/showing.js";
import { digestOf } from "./digest.js";
import { type MatchingPorts, readMatching } from "./matching.js";
import type { NamespaceRequest } from "./ports.js";
import { PAGE_BYTES_MAX } from "./read-page.js";

/** Order of when memories happened; of equal times, of when they were stored. Page tokens have its name. */
export type EventTimeOrder = "event-newest" | "event-oldest";

/** Memories read at a time: few, because the page may have no room for them. */
const READ_MANY = 16;
/** Stands in page tokens and conditions for no filter. */
const ALL: Filter = { condition: ALWAYS, key: "" };

interface ListRequest extends NamespaceRequest {
  readonly order: EventTimeOrder;
  readonly filter: Filter | undefined;
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The first places of a page, and that of one more if there are others. */
interface Places {
  readonly logId: string;
  readonly places: readonly Happened[];
}

/**
 * Lists a namespace's memories by when they happened, all or those that match a filter. Each page looks at the times
 * of all of them, which the index of fields holds, and keeps only those that the page needs. A page may hold fewer
 * than requested though others follow: its token tells.
 */
export async function listByEventTime(ports: MatchingPorts, request: ListRequest): Promise<Page<Shown>> {
  const scope = scopeOf(request);
  const { order, filter = ALL, includeSuperseded = false } = request;
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, [order, 4]);
  await authorizeFree(ports.quota, request.caller, { writes: false, namespace: scope.namespace });
  const found = await findPlaces(ports, scope, { ...request, filter, includeSuperseded, token, size });
  if (found === undefined) return noPage(token);
  const { logId, places } = found;
  const reading = { logId, filter, includeSuperseded, nowMs: ports.clock.wallMs() };
  const items: Shown[] = [];
  let [examined, bytes] = [0, 0];
  const wanted = places.slice(0, size);
  while (examined < wanted.length && bytes < PAGE_BYTES_MAX) {
    const some = wanted.slice(examined, examined + READ_MANY);
    const sequences = Float64Array.from(some, ({ sequence }) => sequence);
    const read = await readMatching(ports, { ...reading, sequences });
    const bySequence = new Map(read.map(({ sequence, entry }) => [sequence, entry]));
    for (const { sequence } of some) {
      if (bytes >= PAGE_BYTES_MAX) break;
      examined++;
      const entry = bySequence.get(sequence);
      // It was changed or deleted since it was found.
      if (entry === undefined) continue;
      items.push(entry);
      bytes += byteLengthOf(entry);
    }
  }
  const last = places[examined - 1];
  if (last === undefined || examined === places.length) return { items, nextPageToken: "" };
  const where = [baseOf(logId), String(last.atMs), String(last.sequence), digestOf(filter.key)];
  return { items, nextPageToken: pageToken([order, ...where]) };
}

async function findPlaces(
  { namespaces }: Pick<MatchingPorts, "namespaces">,
  scope: Scope,
  {
    order,
    filter,
    token,
    size,
    ...options
  }: Omit<ListRequest, "filter"> & {
    readonly filter: Filter;
    readonly token: string[] | undefined;
    readonly size: number;
  },
): Promise<Places | undefined> {
  return namespaces.reading(scope, async ({ replica }) => {
    const behind = token && placeIn({ base: baseOf(replica.logId), digest: digestOf(filter.key) }, token);
    await replica.current();
    const { includeSuperseded, signal } = options;
    const places = await replica.searching(async (search) => {
      const selection = await search.select(filter, { includeSuperseded, signal });
      const event = { isNewestFirst: order === "event-newest", behind, limit: size + 1 };
      return search.inEventOrder(selection, event, { includeSuperseded });
    });
    return { logId: replica.logId, places };
  });
}

function placeIn(query: { readonly base: string; readonly digest: string }, token: string[]): Happened {
  const [base, atMs, sequence, digest] = token;
  if (base !== query.base || digest !== query.digest) throw badToken();
  return { atMs: parseTimePlace(atMs), sequence: parsePlace(sequence) };
}
