import { nonEmptyLogOf } from "../log/living-log.js";
import type { Filter } from "../ports/condition.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { parseFilter } from "../requests/filter.js";
import {
  badToken,
  digestOf,
  type Page,
  parsePageSize,
  parsePageToken,
  parseSequenceCursor,
  parseTimeCursor,
  tokenOf,
} from "../requests/page.js";
import type { VisibleMemory } from "../versions/fetch.js";
import { ALL } from "./matching.js";
import { fillPage, inOrder, newest, oldest, type Step } from "./page-of-memories.js";
import type { Ports, SelectingRequest } from "./ports.js";

/** Order of when memories were stored, or of when they happened; of equal times, of when they were stored. */
export type Order = "newest" | "oldest" | "event-newest" | "event-oldest";

interface ListRequest extends SelectingRequest {
  readonly pageSize?: number | undefined;
  readonly pageToken: string;
  readonly order?: Order | undefined;
}

interface ListQuery {
  readonly scope: Scope;
  readonly order: Order;
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal: AbortSignal | undefined;
  readonly size: number;
  /** Where the page begins in a log, as the numbers of its token; empty for the first page. @throws for a foreign token. */
  cursorIn(logId: string): readonly number[];
}

/** Maximum number of times that a page is read, if others update what is in it meanwhile. */
const READS_MAX = 10;

/** Where the next page of a list begins: the numbers of its page token. */
type Cursor = number | readonly number[];

/** A log, and a walk through the memories that are listed of it. */
interface LogList {
  readonly logId: string;
  readonly steps: AsyncIterable<Step<Cursor>>;
}

interface Selected {
  readonly sequences: Float64Array;
  /** Returns the cursor after the first `examined` of them; undefined if nothing is left. */
  cursorAfter(examined: number): Cursor | undefined;
}

/**
 * Lists a namespace's memories; a namespace that does not exist has none. A page may hold fewer than requested
 * although others follow: then it has a token. A token works with its own order and filter only. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for a token of another namespace or order, or of a namespace
 * dropped since.
 */
export async function listMemories(ports: Ports, request: ListRequest): Promise<Page<VisibleMemory>> {
  const { signal, order = "newest", includeSuperseded = false } = request;
  const filter = parseFilter(request.filter) ?? ALL;
  const isByEvent = order.startsWith("event");
  const isWholeLog = filter === ALL && !isByEvent;
  const size = parsePageSize(request.pageSize);
  // A token has the log, the cursor and, unless the whole log is listed, a digest of the filter.
  const list = order === "newest" ? "memories" : order;
  const digest = isWholeLog ? [] : [digestOf(filter.key)];
  const token = parsePageToken(request.pageToken, list, (isByEvent ? 3 : 2) + digest.length);
  const scope = await authorizeFree(ports, request, { writes: false });
  const cursorIn = (logId: string) => {
    if (token === undefined) return [];
    const [base, first, second] = token;
    // A copy in another model version has the same numbers.
    if (base !== baseOf(logId) || (!isWholeLog && token.at(-1) !== digest[0])) throw badToken();
    return isByEvent ? [parseTimeCursor(first), parseSequenceCursor(second)] : [parseSequenceCursor(first)];
  };
  const query = { scope, order, filter, includeSuperseded, signal, size, cursorIn };
  for (let reads = 1; ; reads++) {
    const listed = await (isWholeLog ? listLog(ports, query) : listSelected(ports, query));
    if (listed === undefined) {
      if (token !== undefined) throw badToken();
      return { items: [], nextPageToken: "" };
    }
    const { items, next, isCurrent } = await fillPage(listed.steps, size);
    // A memory that was updated while the page was read may belong to this page again. Newest first, an update moves it
    // before the first page, so reading again would not find it.
    if (!isCurrent && order !== "newest" && reads < READS_MAX) continue;
    if (next === undefined) return { items, nextPageToken: "" };
    const cursor = [next].flat().map(String);
    return { items, nextPageToken: tokenOf([list, baseOf(listed.logId), ...cursor, ...digest]) };
  }
}

/** Lists all memories by when they were stored, as the log has them; undefined without a namespace. */
async function listLog(
  ports: Ports,
  { scope, order, size, includeSuperseded, cursorIn }: ListQuery,
): Promise<LogList | undefined> {
  const held = await nonEmptyLogOf(ports, scope);
  if (held === undefined) return undefined;
  const { logId, last } = held;
  const [at] = cursorIn(logId);
  const cursor = at === undefined ? undefined : Math.min(at, last + 1);
  const walk = { logId, includeSuperseded, projection: "text", last, cursor, readFirst: size } as const;
  return { logId, steps: order === "newest" ? newest(ports, walk) : oldest(ports, walk) };
}

/** Lists what a filter selects by when it was stored, or by when it happened; undefined without a namespace. */
function listSelected(
  ports: Ports,
  { scope, order, size, cursorIn, ...selecting }: ListQuery,
): Promise<LogList | undefined> {
  return ports.namespaces.using(scope, async ({ replica }) => {
    const { logId } = replica;
    const [first, second = 0] = cursorIn(logId);
    await replica.current();
    const { sequences, cursorAfter } = await replica.searching(async (search): Promise<Selected> => {
      const selection = await search.select(selecting.filter);
      if (order === "newest" || order === "oldest") {
        const sequences =
          order === "newest"
            ? selection.between(1, first ?? Number.MAX_SAFE_INTEGER).toReversed()
            : selection.between(first ?? 1, Number.MAX_SAFE_INTEGER);
        return { sequences, cursorAfter: (examined: number) => sequences[examined] };
      }
      const after = first === undefined ? undefined : { atMs: first, sequence: second };
      // One more than the page, to know whether others follow. Each page reads the event times of all matches, which
      // are in memory, and keeps only those that it needs.
      const event = { isNewestFirst: order === "event-newest", after, limit: size + 1 };
      const events = await search.inEventOrder(selection, event);
      const cursorAfter = (examined: number) => {
        const last = events[examined - 1];
        return last === undefined || examined === events.length ? undefined : [last.atMs, last.sequence];
      };
      return { sequences: Float64Array.from(events.slice(0, size), (each) => each.sequence), cursorAfter };
    }, selecting);
    return { logId, steps: inOrder(ports, { logId, sequences, ...selecting }, cursorAfter) };
  });
}
