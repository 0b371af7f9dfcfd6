import { setImmediate as nextIteration } from "node:timers/promises";
import { invalid, parseWhole } from "../../errors.js";
import type { Caller } from "../../memory/ports/quota.js";
import type { Account, Accounts } from "../account.js";
import { getAccount } from "../authenticate.js";
import { type Counts, NOTHING, sum } from "../usage.js";
import type { CallRecord, CallsPage } from "./calls.js";
import type { CallRecorder } from "./record-calls.js";

export const CALLS_PAGE_DEFAULT = 50;
export const CALLS_PAGE_MAX = 100;
/** Records that a page looks through at most, which takes about ten milliseconds in slices. */
export const CALLS_SEARCHED_MAX = 2_500;
/** Names of each kind that are told apart in an answer: those with most calls. */
export const SHARES_MAX = 50;
/** Records that are read and matched at a time, which takes about a millisecond. */
const READ_MANY = 250;
/** Name of all that is not counted apart; no key and no namespace has it. */
const REST = "";

export interface ReadPorts {
  readonly accounts: Accounts;
  readonly calls: Pick<CallRecorder, "list" | "max" | "sinceMs">;
}

/** Choice of records. Those of its fields that are given must all fit a record. */
export interface CallsFilter extends Partial<Record<FilterField, string | undefined>> {
  readonly errorsOnly?: boolean;
}

const FILTER_FIELDS = ["method", "keyId", "code", "namespace"] as const;
type FilterField = (typeof FILTER_FIELDS)[number];

export interface CallsRequest {
  readonly caller: Caller;
  readonly pageSize?: number | undefined;
  readonly pageToken: string;
  readonly filter: CallsFilter;
}

/**
 * Lists the last calls of the caller's account, the newest first. A key for one namespace sees its own calls
 * alone. A page of a filtered list may have fewer calls than its size, or none, and a token for the next page. The id
 * of a key that is gone is empty.
 *
 * @throws MemoryError `invalid_argument`, or `unauthenticated` if the key was revoked.
 */
export async function listRecentCalls(
  { accounts, calls }: ReadPorts,
  { caller, pageSize = CALLS_PAGE_DEFAULT, pageToken, filter }: CallsRequest,
) {
  const size = parseWhole("page_size", pageSize, [1, CALLS_PAGE_MAX]);
  const before = parseToken(pageToken);
  const account = await getAccount(accounts, caller);
  const own = caller.namespace === undefined ? undefined : ownKeyId(account, caller);
  const { keyId = own } = filter;
  if (own !== undefined && keyId !== own) {
    return { calls: [], nextPageToken: "", sinceMs: sinceMs(account, calls) };
  }
  const chosen = { ...filter, keyId };
  const found: CallRecord[] = [];
  let next: string | undefined;
  for await (const { page, rest } of pagesOf(calls, {
    accountId: account.id,
    before,
    max: CALLS_SEARCHED_MAX,
  })) {
    found.push(...page.filter((call) => fits(call, chosen)));
    next = rest;
    if (found.length > size) break;
  }
  const living = new Set(account.keys.map(({ id }) => id));
  const page = found.slice(0, size);
  return {
    calls: page.map((call) => (living.has(call.keyId) ? call : { ...call, keyId: "" })),
    nextPageToken: (found.length > size ? page.at(-1)?.id : next) ?? "",
    sinceMs: sinceMs(account, calls),
  };
}

function fits(call: CallRecord, { errorsOnly = false, ...filter }: CallsFilter): boolean {
  if (errorsOnly && call.code === "ok") return false;
  return FILTER_FIELDS.every((field) => filter[field] === undefined || call[field] === filter[field]);
}

/**
 * Reads the records of an account, the newest first and `max` at most, some at a time. Each page comes with the id behind
 * which the rest is; undefined if there is no more.
 */
async function* pagesOf(
  calls: ReadPorts["calls"],
  { accountId, before, max }: Omit<CallsPage, "limit"> & { readonly max: number },
): AsyncGenerator<{ page: CallRecord[]; rest: string | undefined }> {
  let rest = before;
  for (let read = 0; read < max; read += READ_MANY, await nextIteration()) {
    const limit = Math.min(READ_MANY, max - read);
    const page = await calls.list({ accountId, before: rest, limit });
    rest = page.length < limit ? undefined : page.at(-1)?.id;
    yield { page, rest };
    if (rest === undefined) return;
  }
}

/** Parses a token, which is the id of the last call of the page before. */
function parseToken(token: string): string | undefined {
  if (token === "") return undefined;
  if (/^call_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(token)) return token;
  throw invalid("page_token", "is none that this list gave; leave it out to begin anew");
}

/** Usage of one key or namespace. The last one may have an empty name: it sums up all others. */
export interface UsageShare extends Counts {
  readonly name: string;
}

/**
 * Counts what each key and each namespace used, over the recorded calls. A key for one namespace sees its own
 * share and that of its namespace. Keys are named by their ids; those that are gone are in the rest.
 */
export async function readShares(calls: ReadPorts["calls"], account: Account, caller: Caller) {
  const living = new Set(account.keys.map(({ id }) => id));
  const own = caller.namespace === undefined ? undefined : ownKeyId(account, caller);
  const [keys, namespaces] = [new Map<string, Counts>(), new Map<string, Counts>()];
  let last: CallRecord | undefined;
  let isAll = false;
  for await (const { page, rest } of pagesOf(calls, { accountId: account.id, max: calls.max })) {
    for (const { keyId, namespace = REST, used } of page) {
      if (used === undefined) continue;
      if (own === undefined || keyId === own) add(keys, living.has(keyId) ? keyId : REST, used);
      if (own === undefined || namespace === caller.namespace) add(namespaces, namespace, used);
    }
    last = page.at(-1) ?? last;
    isAll = rest === undefined;
  }
  const oldestMs = isAll ? sinceMs(account, calls) : (last?.atMs ?? Date.now());
  return { keys: sharesOf(keys), namespaces: sharesOf(namespaces), sinceMs: oldestMs };
}

function sinceMs({ createdAtMs }: Account, calls: ReadPorts["calls"]): number {
  return Math.max(createdAtMs, calls.sinceMs());
}

function ownKeyId({ keys }: Account, { keyHash }: Caller): string | undefined {
  return keys.find(({ hash }) => hash === keyHash)?.id;
}

function add(map: Map<string, Counts>, name: string, used: Counts): void {
  map.set(name, sum(map.get(name) ?? NOTHING, used));
}

/** Orders shares by their calls. What goes beyond the bound, and what has no name, is summed up at the end. */
function sharesOf(counted: ReadonlyMap<string, Counts>): UsageShare[] {
  const named = [...counted]
    .filter(([name]) => name !== REST)
    .sort(([, a], [, b]) => callsOf(b) - callsOf(a));
  const listed = named.slice(0, SHARES_MAX).map(([name, counts]) => ({ name, ...counts }));
  const others = [...counted].filter(([name]) => name === REST).concat(named.slice(SHARES_MAX));
  if (others.length === 0) return listed;
  return [...listed, { name: REST, ...others.reduce((all, [, counts]) => sum(all, counts), NOTHING) }];
}

function callsOf({ stores, recalls }: Counts): number {
  return stores + recalls;
}
