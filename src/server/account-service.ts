import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "../../gen/recalld/v1/account_pb.js";
import type { Account } from "../accounts/account.js";
import { getAccount } from "../accounts/quota.js";
import { type SignUpOptions, signUp } from "../accounts/sign-up.js";
import { callerOf } from "./caller.js";

/** recalld.v1.AccountService: translates between the wire and the room. */
export function accountService(options: SignUpOptions): Partial<ServiceImpl<typeof AccountService>> {
  return {
    async signUp({ email }) {
      const { account, key } = await signUp(options, { email });
      return { ...shared(account), apiKey: key };
    },
    async getAccount(_request, context) {
      const account = await getAccount(options.accounts, callerOf(context));
      return { ...shared(account), email: account.email, createdAt: timestampFromMs(account.createdAtMs) };
    },
  };
}

function shared({ id, plan, callsLimit, callsLeft }: Account) {
  return { accountId: id, plan, callsLimit, callsUsed: callsLimit - callsLeft };
}
