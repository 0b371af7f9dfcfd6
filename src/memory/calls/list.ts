import { authorizeFree } from "../input/authorize.js";
import { scopeOf } from "../input/namespace.js";
import { badToken, pageToken, parsePageSize, parsePageToken } from "../input/page.js";
import { fetchAll } from "../log/fetch.js";
import type { Clock } from "../pacing/clock.js";
import { baseOf } from "../ports/generation.js";
import type { Log, Numbered } from "../ports/log.js";
import type { Caller, Quota } from "../ports/quota.js";
import { type ShowingOptions, type Shown, shownOf } from "../versions/showing.js";
import { endOf, type LogEnd } from "./end-of.js";

/** Entries per read, and reads per page: there may be many deleted entries between two memories. */
const READ_MANY = 128;
const READS_MAX = 50;
/** Bytes after which a page ends, with the memory that reaches them, so that every answer is bounded. */
const PAGE_BYTES_MAX = 1_048_576;

export interface ListRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Token of the next page; empty on the last page. */
  readonly nextPageToken: string;
}

/**
 * Lists a namespace's memories, newest first; a namespace that does not exist has none. A page may hold
 * fewer than requested though others follow: its token tells. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for a token of another namespace, or of one dropped since.
 */
export async function listMemories(
  { quota, log, clock }: { quota: Quota; log: Log; clock: Clock },
  { caller, ...request }: ListRequest,
): Promise<Page<Shown>> {
  const scope = scopeOf({ caller, ...request });
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, ["memories", 2]);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  if (end === undefined) {
    if (token !== undefined) throw badToken();
    return { items: [], nextPageToken: "" };
  }
  const { includeSuperseded = false } = request;
  const showing = { log, logId: end.logId, nowMs: clock.wallMs(), includeSuperseded };
  const { items, before } = await newest(log, { showing, before: placeIn(end, token), size });
  const nextPageToken = before > 1 ? pageToken(["memories", baseOf(end.logId), String(before)]) : "";
  return { items, nextPageToken };
}

function placeIn(end: LogEnd, token: string[] | undefined): number {
  if (token === undefined) return end.last + 1;
  const [base, before] = token;
  // A copy in another model generation has the same numbers.
  if (base !== baseOf(end.logId) || !/^[1-9]\d{0,14}$/.test(before ?? "")) throw badToken();
  return Math.min(Number(before), end.last + 1);
}

/** Reads up to `size` memories with numbers below `before`, newest first; answers where the rest begins. */
async function newest(
  log: Log,
  of: { showing: ShowingOptions; before: number; size: number },
): Promise<{ items: Shown[]; before: number }> {
  const { showing, size } = of;
  const items: Shown[] = [];
  let bytes = 0;
  let { before } = of;
  for (let reads = 0; before > 1 && reads < READS_MAX; reads++) {
    const from = Math.max(1, before - (reads === 0 ? size : READ_MANY));
    for await (const { sequence, entry } of backwards(log, { showing, from, before })) {
      items.push(entry);
      bytes += Buffer.byteLength(entry.text) + Buffer.byteLength(entry.metadata);
      if (items.length === size || bytes >= PAGE_BYTES_MAX) return { items, before: sequence };
    }
    before = from;
  }
  return { items, before };
}

async function* backwards(
  log: Log,
  { showing, from, before }: { showing: ShowingOptions; from: number; before: number },
): AsyncGenerator<Numbered<Shown>> {
  const sequences = Array.from({ length: before - from }, (_, i) => from + i);
  const { logId } = showing;
  for await (const some of fetchAll(log, { logId, sequences, what: "text" }))
    yield* await shownOf(showing, some);
}
