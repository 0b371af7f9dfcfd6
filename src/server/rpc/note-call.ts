import type { RecentCalls } from "../../accounts/calls/recent-calls.js";
import type { Caller } from "../../memory/ports/quota.js";
import type { Call } from "./observe.js";

const SERVICE = "recalld.v1.AccountService";
/** Calls that are not in the log: a look at it would fill it, and a closed account has none. */
const NOT_NOTED = [`${SERVICE}/ListRecentCalls`, `${SERVICE}/CloseAccount`];

/** Notes a call that has ended for its account. Calls without a known key are of no account. */
export function noteCall(recentCalls: Pick<RecentCalls, "note">, call: Call, caller?: Caller): void {
  const { method, protocol, code, ms } = call;
  if (caller === undefined || (code === "ok" && NOT_NOTED.includes(method))) return;
  const { accountId, keyHash } = caller;
  const requestId = call.requestId ?? "";
  recentCalls.note(accountId, { atMs: Date.now() - ms, method, protocol, keyHash, code, ms, requestId });
}
