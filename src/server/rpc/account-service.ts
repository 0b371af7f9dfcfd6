import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import {
  AccountService,
  KeyAccess,
  KeyAccessSchema,
  type ListRecentCallsRequest,
} from "../../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../../gen/recalld/v1/memory_pb.js";
import type { Account } from "../../accounts/account.js";
import { getAccount } from "../../accounts/authenticate.js";
import type { CallRecord } from "../../accounts/calls/calls.js";
import { type CallsFilter, listRecentCalls, readShares } from "../../accounts/calls/read-calls.js";
import type { CallRecorder } from "../../accounts/calls/record-calls.js";
import { type CloseOptions, closeAccount } from "../../accounts/close.js";
import { type Key, NEVER_MS } from "../../accounts/key.js";
import { createKey, managedBy, revokeKey } from "../../accounts/keys.js";
import { type SignUpOptions, signUp } from "../../accounts/sign-up.js";
import { type DayUsage, getUsage, type Usage } from "../../accounts/usage.js";
import { invalid } from "../../errors.js";
import type { ModelDescription } from "../../memory/ports/embedder.js";
import type { Caller } from "../../memory/ports/quota.js";
import { parseNamespace } from "../../memory/requests/namespace.js";
import { suggestion } from "../../suggest.js";
import { chosen, expiryOf, timestampOf } from "./fields.js";
import { nameOf, type Service } from "./service.js";

export type AccountPorts = SignUpOptions &
  CloseOptions & {
    readonly usage: Pick<Usage, "read" | "remove">;
    readonly calls: CallRecorder;
    /** Describes the model that reads new texts. */
    model(): ModelDescription | undefined;
  };

/** Largest int32, which says of a limit that there is none. */
const CALLS_ON_WIRE_MAX = 2_147_483_647;

const ACCESS = { choices: KeyAccessSchema, words: ["full", "read_only"] } as const;

/** Names of the contract's methods, whole, by themselves and by their last part. */
const METHODS = new Map<string, string>();
for (const { methods } of [MemoryService, AccountService]) {
  for (const each of methods) METHODS.set(each.name, nameOf(each)).set(nameOf(each), nameOf(each));
}

/** Serves recalld.v1.AccountService: translates its messages to the operations of accounts and back. */
export function accountService(ports: AccountPorts): Service<typeof AccountService> {
  const { accounts, usage } = ports;
  return {
    async signUp({ email }) {
      const { account, key } = await signUp(ports, { email });
      return { ...shared(account), apiKey: key };
    },
    async getAccount(_request, { caller }) {
      const account = await getAccount(accounts, caller);
      const { email, createdAtMs, keys } = account;
      const key = keys.find(({ hash }) => hash === caller.keyHash);
      const model = ports.model();
      return {
        ...shared(account),
        email,
        createdAt: timestampFromMs(createdAtMs),
        key: key && keyMessage(key, caller),
        model: model && { ...model, languages: [...model.languages] },
      };
    },
    async getUsage({ days }, { caller }) {
      const account = await getAccount(accounts, caller);
      const found = await getUsage(usage, { accountId: account.id, days });
      const shares = await readShares(ports.calls, account, caller);
      const keys = shares.keys.map(({ name: keyId, ...used }) => ({ keyId, ...used }));
      const namespaces = shares.namespaces.map(({ name: namespace, ...used }) => ({ namespace, ...used }));
      return { days: found.map(dayOf), keys, namespaces, since: timestampOf(shares.sinceMs) };
    },
    async listRecentCalls({ pageSize, pageToken, ...request }, call) {
      const filter = callsFilterOf(request);
      const page = await listRecentCalls(ports, { caller: call.caller, pageSize, pageToken, filter });
      const { nextPageToken, sinceMs } = page;
      return { calls: page.calls.map(recentCallOf), nextPageToken, since: timestampOf(sinceMs) };
    },
    async createKey(asked, { caller }) {
      const access = chosen("access", asked.access, ACCESS) ?? "full";
      const account = () => managedBy(accounts, caller);
      const request = { ...asked, access, expiry: expiryOf(asked.expiry), account };
      const { secret, key } = await createKey(accounts, request);
      return { apiKey: secret, key: keyMessage(key, caller) };
    },
    async listKeys(_request, { caller }) {
      return { keys: (await managedBy(accounts, caller)).keys.map((key) => keyMessage(key, caller)) };
    },
    async revokeKey({ id, force }, { caller }) {
      await revokeKey(accounts, { account: () => managedBy(accounts, caller), id, force });
      return { id };
    },
    async closeAccount({ accountId }, { caller }) {
      return { deleted: await closeAccount(ports, { caller, accountId }) };
    },
  };
}

function shared({ id, plan, callsLimit, callsLeft }: Account) {
  const callsUsed = Math.min(callsLimit - callsLeft, CALLS_ON_WIRE_MAX);
  return { accountId: id, plan, callsLimit: Math.min(callsLimit, CALLS_ON_WIRE_MAX), callsUsed };
}

/** Parses the choice of calls in a request. A mistyped name is refused, for it would choose none. */
function callsFilterOf({
  errorsOnly,
  keyId,
  code,
  ...given
}: Omit<ListRecentCallsRequest, "pageSize" | "pageToken" | "$typeName">): CallsFilter {
  const method = given.method === undefined ? undefined : METHODS.get(given.method);
  if (given.method !== undefined && method === undefined)
    throw invalid("method", `is no method of this API${suggestion(given.method, [...METHODS.keys()])}`);
  if (code !== undefined && code !== "ok" && codeFromString(code) === undefined) {
    throw invalid("code", "is neither ok nor the name of an error");
  }
  const namespace = given.namespace === undefined ? undefined : parseNamespace(given.namespace);
  return { errorsOnly, keyId, code, method, namespace };
}

function dayOf({ hours = {}, ...day }: DayUsage) {
  return { ...day, hours: Object.entries(hours).map(([hour, used]) => ({ hour: Number(hour), ...used })) };
}

function recentCallOf({ atMs, ms: durationMs, namespace = "", message = "", ...call }: CallRecord) {
  const { method, protocol, code, requestId, keyId } = call;
  const startTime = timestampOf(atMs);
  return { startTime, method, protocol, keyId, namespace, code, message, durationMs, requestId };
}

function keyMessage(key: Key, caller: Pick<Caller, "keyHash" | "sessionHash">) {
  const { id, name, prefix, namespace = "", replaces = "", sessions = [], client = "", expiresAtMs } = key;
  return {
    id,
    name,
    prefix,
    namespace,
    replaces,
    client,
    createdAt: timestampFromMs(key.createdAtMs),
    lastUsedAt: timestampOf(key.lastUsedAtMs),
    access: key.access === "full" ? KeyAccess.FULL : KeyAccess.READ_ONLY,
    expiresAt: expiresAtMs === NEVER_MS ? undefined : timestampFromMs(expiresAtMs),
    current: key.hash === caller.keyHash,
    sessions: sessions.map((session) => ({
      id: session.id,
      createdAt: timestampFromMs(session.createdAtMs),
      lastUsedAt: timestampOf(session.lastUsedAtMs),
      // It ends when its key does, if not before.
      expiresAt: timestampFromMs(Math.min(session.expiresAtMs, expiresAtMs)),
      current: session.hash === caller.sessionHash,
    })),
  };
}
