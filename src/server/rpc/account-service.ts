import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type AccountService, KeyAccess } from "../../../gen/recalld/v1/account_pb.js";
import type { Account } from "../../accounts/account.js";
import { type CloseOptions, closeAccount } from "../../accounts/close.js";
import { type Key, NEVER_MS } from "../../accounts/key.js";
import { createKey, type KeysOptions, listKeys, revokeKey } from "../../accounts/keys.js";
import { getAccount } from "../../accounts/quota.js";
import { type SignUpOptions, signUp } from "../../accounts/sign-up.js";
import { getUsage, type Usage } from "../../accounts/usage.js";
import { invalid } from "../../errors.js";
import { callerOf } from "./caller.js";

/** Ports that the account calls need. */
export type AccountPorts = SignUpOptions &
  KeysOptions &
  CloseOptions & {
    readonly usage: Pick<Usage, "read" | "remove">;
    /** Describes the model that reads new texts. */
    model(): ServedModel | undefined;
  };

/** Description of a model, as callers are told it. */
export interface ServedModel {
  readonly id: string;
  /** The languages that it reads, as BCP 47 tags; empty if they are unknown. */
  readonly languages: readonly string[];
  /** Score above which a match is strong; absent if unknown. */
  readonly strongScore?: number;
}

/** Largest int32, which says of a limit that there is none. */
const CALLS_ON_WIRE_MAX = 2_147_483_647;

/** Translates recalld.v1.AccountService between the wire and the accounts. */
export function accountService(ports: AccountPorts): Partial<ServiceImpl<typeof AccountService>> {
  const { accounts, usage } = ports;
  return {
    async signUp({ email }) {
      const { account, key } = await signUp(ports, { email });
      return { ...shared(account), apiKey: key };
    },
    async getAccount(_request, context) {
      const caller = callerOf(context);
      const account = await getAccount(accounts, caller);
      const { email, createdAtMs, keys } = account;
      const key = keys.find(({ hash }) => hash === caller.keyHash);
      const model = ports.model();
      return {
        ...{ ...shared(account), email, createdAt: timestampFromMs(createdAtMs) },
        ...(key && { key: shown(key, caller) }),
        ...(model && { model: { ...model, languages: [...model.languages] } }),
      };
    },
    async getUsage({ days }, context) {
      const caller = callerOf(context);
      return { days: await getUsage({ accounts, usage }, { caller, days }) };
    },
    async createKey({ name, access, namespace, replaces, graceSeconds }, context) {
      const caller = callerOf(context);
      const request = { name, access: accessOf(access), namespace, replaces, graceSeconds };
      const { secret, key } = await createKey(ports, { caller, ...request });
      return { apiKey: secret, key: shown(key, caller) };
    },
    async listKeys(_request, context) {
      const caller = callerOf(context);
      return { keys: (await listKeys(accounts, caller)).map((key) => shown(key, caller)) };
    },
    async revokeKey({ id, force }, context) {
      await revokeKey(accounts, { caller: callerOf(context), id, force });
      return { id };
    },
    async closeAccount({ accountId }, context) {
      return { deleted: await closeAccount(ports, { caller: callerOf(context), accountId }) };
    },
  };
}

function shared({ id, plan, callsLimit, callsLeft }: Account) {
  const callsUsed = Math.min(callsLimit - callsLeft, CALLS_ON_WIRE_MAX);
  return { accountId: id, plan, callsLimit: Math.min(callsLimit, CALLS_ON_WIRE_MAX), callsUsed };
}

function shown(key: Key, { keyHash }: { keyHash: string }) {
  const { id, name, prefix, namespace = "", replaces = "", createdAtMs, lastUsedAtMs, expiresAtMs } = key;
  return {
    ...{ id, name, prefix, namespace, replaces },
    access: key.access === "full" ? KeyAccess.FULL : KeyAccess.READ_ONLY,
    createdAt: timestampFromMs(createdAtMs),
    ...(lastUsedAtMs !== undefined && { lastUsedAt: timestampFromMs(lastUsedAtMs) }),
    ...(expiresAtMs !== NEVER_MS && { expiresAt: timestampFromMs(expiresAtMs) }),
    current: key.hash === keyHash,
  };
}

function accessOf(access: KeyAccess): Key["access"] {
  if (access === KeyAccess.UNSPECIFIED || access === KeyAccess.FULL) return "full";
  if (access === KeyAccess.READ_ONLY) return "read_only";
  throw invalid("access", "is neither KEY_ACCESS_FULL nor KEY_ACCESS_READ_ONLY");
}
