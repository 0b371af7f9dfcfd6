import type { Accounts } from "../../accounts/account.js";
import { getAccount } from "../../accounts/quota.js";
import { endSession, openSession } from "../../accounts/sessions/sessions.js";
import { type Admitted, callerOf } from "./caller.js";

/** Opens, proves and ends the sessions of callers that were admitted. */
export function sessionService({ accounts }: { accounts: Accounts }) {
  return {
    open: async (context: Admitted, { stay }: { stay: boolean }) => {
      const { secret, session } = await openSession(accounts, { caller: callerOf(context), stay });
      return { secret, expiresAtMs: session.expiresAtMs };
    },
    prove: async (context: Admitted) => void (await getAccount(accounts, callerOf(context))),
    end: (context: Admitted) => endSession(accounts, callerOf(context)),
  };
}
