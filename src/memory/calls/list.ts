import { authorizeFree } from "../input/authorize.js";
import { scopeOf } from "../input/namespace.js";
import { badToken, pageToken, parsePageSize, parsePageToken } from "../input/page.js";
import { fetchAll } from "../log/fetch.js";
import { baseOf } from "../ports/generation.js";
import type { Log, Numbered, Seen } from "../ports/log.js";
import type { Caller, Quota } from "../ports/quota.js";
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
  { quota, log }: { quota: Quota; log: Log },
  { caller, ...request }: ListRequest,
): Promise<Page<Seen["text"]>> {
  const scope = scopeOf({ caller, ...request });
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, ["memories", 2]);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  if (end === undefined) {
    if (token !== undefined) throw badToken();
    return { items: [], nextPageToken: "" };
  }
  const { items, before } = await newest(log, { ...end, before: placeIn(end, token), size });
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
  of: { logId: string; before: number; size: number },
): Promise<{ items: Seen["text"][]; before: number }> {
  const { logId, size } = of;
  const items: Seen["text"][] = [];
  let bytes = 0;
  let { before } = of;
  for (let reads = 0; before > 1 && reads < READS_MAX; reads++) {
    const from = Math.max(1, before - (reads === 0 ? size : READ_MANY));
    for await (const { sequence, entry } of backwards(log, { logId, from, before })) {
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
  { logId, from, before }: { logId: string; from: number; before: number },
): AsyncGenerator<Numbered<Seen["text"]>> {
  const sequences = Array.from({ length: before - from }, (_, i) => from + i);
  for await (const some of fetchAll(log, { logId, sequences, what: "text" })) yield* some;
}
