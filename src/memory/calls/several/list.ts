import { authorizeFree } from "../../input/authorize.js";
import { scopeOf } from "../../input/namespace.js";
import {
  badToken,
  noPage,
  type Page,
  pageToken,
  parsePageSize,
  parsePageToken,
  parsePlace,
} from "../../input/page.js";
import type { Clock } from "../../pacing/clock.js";
import { baseOf } from "../../ports/generation.js";
import type { Log } from "../../ports/log.js";
import type { Caller, Quota } from "../../ports/quota.js";
import type { Shown } from "../../versions/showing.js";
import { endOf, type LogEnd } from "../end-of.js";
import { newest, oldest } from "./read-page.js";

/** Order of a list: the newest or the oldest first. */
export type Order = "newest" | "oldest";

export interface ListRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly pageSize?: number | undefined;
  /** Empty means the first page. */
  readonly pageToken: string;
  /** The newest first if left out. */
  readonly order?: Order | undefined;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
}

/** Name of each list in its page tokens, so that a token of one order is refused in the other. */
export const LISTS = { newest: "memories", oldest: "oldest" } as const;

/**
 * Lists a namespace's memories, newest or oldest first; a namespace that does not exist has none. A page may
 * hold fewer than requested though others follow: its token tells. Costs nothing.
 *
 * @throws MemoryError `invalid_argument` also for a token of another namespace or order, or of a namespace
 * dropped since.
 */
export async function listMemories(
  { quota, log, clock }: { quota: Quota; log: Log; clock: Clock },
  { caller, ...request }: ListRequest,
): Promise<Page<Shown>> {
  const scope = scopeOf({ caller, ...request });
  const { order = "newest" } = request;
  const size = parsePageSize(request.pageSize);
  const token = parsePageToken(request.pageToken, [LISTS[order], 2]);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  if (end === undefined) return noPage(token);
  const place = token && placeIn(end, token);
  const read = order === "newest" ? newest : oldest;
  const { includeSuperseded = false } = request;
  const showing = { nowMs: clock.wallMs(), includeSuperseded };
  const { items, next } = await read(log, { ...end, ...showing, place, size });
  const nextPageToken = next === undefined ? "" : pageToken([LISTS[order], baseOf(end.logId), String(next)]);
  return { items, nextPageToken };
}

function placeIn(end: LogEnd, [base, place]: string[]): number {
  // A copy in another model generation has the same numbers.
  if (base !== baseOf(end.logId)) throw badToken();
  return Math.min(parsePlace(place), end.last + 1);
}
