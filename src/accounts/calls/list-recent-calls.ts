import { invalid } from "../../errors.js";
import type { Accounts } from "../account.js";
import type { Authenticated } from "../authenticate.js";
import { getAccount } from "../quota.js";
import type { NotedCall, RecentCalls } from "./recent-calls.js";

export const CALLS_PAGE_DEFAULT = 50;
export const CALLS_PAGE_MAX = 100;

export interface CallsRequest {
  readonly caller: Authenticated;
  readonly pageSize?: number | undefined;
  readonly pageToken: string;
  /** True if only calls that failed are wanted. */
  readonly errorsOnly: boolean;
}

/** A call as its account sees it. */
export interface RecentCall extends NotedCall {
  /** The id of its key; undefined if that key is gone. */
  readonly keyId: string | undefined;
}

export interface CallsPage {
  readonly calls: readonly RecentCall[];
  /** Token of the next page; empty on the last page. */
  readonly nextPageToken: string;
  readonly sinceMs: number;
}

/**
 * Lists the last calls of the caller's account, the newest first. A key for one namespace sees its own calls
 * alone. @throws MemoryError `invalid_argument`, or `unauthenticated` if the key was revoked.
 */
export async function listRecentCalls(
  { accounts, recentCalls }: { accounts: Accounts; recentCalls: RecentCalls },
  { caller, pageSize, pageToken, errorsOnly }: CallsRequest,
): Promise<CallsPage> {
  const size = parsePageSize(pageSize);
  const before = parseToken(pageToken);
  const { id, keys } = await getAccount(accounts, caller);
  const keyIds = new Map(keys.map((key) => [key.hash, key.id]));
  const isShown = ({ code, keyHash }: NotedCall) =>
    !(errorsOnly && code === "ok") && (caller.namespace === undefined || keyHash === caller.keyHash);
  const calls = recentCalls.newestFirst(id, before).filter(isShown);
  const more = calls.length > size;
  const shown = calls.slice(0, size);
  return {
    calls: shown.map((call) => ({ ...call, keyId: keyIds.get(call.keyHash) })),
    nextPageToken: more ? String(shown.at(-1)?.number) : "",
    sinceMs: recentCalls.sinceMs,
  };
}

function parsePageSize(value: number | undefined): number {
  if (value === undefined) return CALLS_PAGE_DEFAULT;
  if (!Number.isInteger(value) || value < 1 || value > CALLS_PAGE_MAX) {
    throw invalid("page_size", `is ${value}; it must be a whole number from 1 to ${CALLS_PAGE_MAX}`);
  }
  return value;
}

/** Parses a token, which is the number of the last call of the page before. */
function parseToken(token: string): number | undefined {
  if (token === "") return undefined;
  if (/^[1-9]\d{0,14}$/.test(token)) return Number(token);
  throw invalid("page_token", "is none that this list gave; leave it out to begin anew");
}
