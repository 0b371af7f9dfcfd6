import type { Account, Accounts } from "../accounts/account.js";
import { type CloseOptions, eraseAccount } from "../accounts/close.js";
import { type Key, NEVER_MS } from "../accounts/key.js";
import * as keys from "../accounts/keys.js";
import { type Plan, type Plans, setPlan, UNLIMITED_CALLS } from "../accounts/plan.js";
import { signUp } from "../accounts/sign-up.js";
import { getUsage, type Usage } from "../accounts/usage.js";
import { failedPrecondition, MemoryError, parseWhole, unavailable } from "../errors.js";
import type { IndexStatus } from "../memory/log/index-status.js";
import type { ModelIdentity } from "../memory/ports/embedder.js";
import type { Log } from "../memory/ports/log.js";
import type { SystemRecords } from "../memory/ports/model-version.js";
import type { Names, Scope } from "../memory/ports/names.js";
import { abandon, pin, readModelStatus } from "../memory/reembedding/change-model.js";
import { parseNamespace } from "../memory/requests/namespace.js";

/** Maximum number of accounts or indexes in one answer. */
export const LISTED_MAX = 1_000;
const LISTED_DEFAULT = 100;

export interface OperatorPorts extends CloseOptions {
  readonly usage: Pick<Usage, "read" | "remove">;
  readonly freeCalls: number;
  readonly plans: Plans;
  readonly systemRecords: SystemRecords;
  readonly log: Log;
  readonly names: Names;
  /** Lists the indexes that have files in `DATA_DIR`, or that this process holds open. */
  readonly indexStatus: (page: { after: string; limit: number }) => Promise<readonly IndexStatus[]>;
  /** Erases the index files of a namespace, and returns its log's id; undefined if it does not exist. */
  readonly eraseIndex: (scope: Scope) => Promise<string | undefined>;
  /** Writes a copy of the database into a new file; absent where it cannot copy itself. */
  readonly backUp?: ((path: string) => Promise<void>) | undefined;
  /** Returns the address of the server; undefined before it listens, and where there is none. */
  readonly address?: (() => string | undefined) | undefined;
}

/** Arguments and options of a command, by name: strings, numbers and flags. */
export type Given = Readonly<Record<string, unknown>>;

export interface Request {
  readonly operation: string;
  readonly given: Given;
}

type Operation = (ports: OperatorPorts, given: Given) => Promise<unknown>;

/**
 * Operations of an operator, who needs no key. Answers are JSON. They run where the database is open: in
 * the command itself, or in the server that it asks.
 */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  "accounts list": async ({ accounts }, given) => (await accounts.list(pageOf(given))).map(accountView),
  "accounts show": async ({ accounts }, given) => accountView(await theAccount(accounts, given)),
  "accounts create": createAccount,
  "accounts close": closeAccount,
  "plans list": async ({ plans }) => plans.names.map((name) => planView(plans.get(name))),
  "plans set": givePlan,
  "keys list": async ({ accounts }, given) => (await theAccount(accounts, given)).keys.map(keyView),
  "keys create": createKey,
  "keys revoke": revokeKey,
  usage: readUsage,
  "index status": async ({ indexStatus }, given) => (await indexStatus(pageOf(given))).map(indexView),
  "index rebuild": rebuildIndex,
  backup: backUp,
  address: addressOf,
  "reembed status": readModelStatus,
  "reembed pin": async (ports, { model }) => ({ modelVersion: await pin(ports, model as ModelIdentity) }),
  "reembed abandon": async (ports) => ({ modelVersion: await abandon(ports) }),
};

/**
 * Runs an operation.
 *
 * @throws MemoryError when the rules of accounts and keys refuse it; `not_found` for what does not
 * exist.
 */
export function operate(ports: OperatorPorts, { operation, given }: Request): Promise<unknown> {
  const asked = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
  if (asked === undefined) {
    throw failedPrecondition(`the server knows no command ${operation}: is it older?`);
  }
  return asked(ports, given);
}

function pageOf(given: Given) {
  const limit = parseWhole("limit", given.limit ?? LISTED_DEFAULT, [1, LISTED_MAX]);
  return { after: text(given, "after"), limit };
}

async function createAccount({ accounts, freeCalls }: OperatorPorts, given: Given) {
  const made = await signUp({ accounts, freeCalls, signUp: "open" }, { email: text(given, "email") });
  return { ...accountView(made.account), api_key: made.key };
}

async function closeAccount(ports: OperatorPorts, given: Given) {
  const { id } = await theAccount(ports.accounts, given);
  return { account_id: id, deleted: await eraseAccount(ports, id) };
}

async function givePlan(ports: OperatorPorts, given: Given) {
  const { id: accountId } = await theAccount(ports.accounts, given);
  await setPlan(ports, { accountId, plan: text(given, "plan") });
  return accountView(await theAccount(ports.accounts, given));
}

async function createKey({ accounts }: OperatorPorts, given: Given) {
  const { secret, key } = await keys.createKey(accounts, {
    account: () => theAccount(accounts, given),
    name: text(given, "name"),
    access: given["read-only"] === true ? "read_only" : "full",
    namespace: text(given, "namespace"),
    replaces: "",
  });
  return { ...keyView(key), api_key: secret };
}

async function revokeKey({ accounts }: OperatorPorts, given: Given) {
  const id = text(given, "key");
  await keys.revokeKey(accounts, {
    account: () => theAccount(accounts, given),
    id,
    force: given.force === true,
  });
  return { id };
}

async function readUsage({ accounts, usage }: OperatorPorts, given: Given) {
  const { id: accountId } = await theAccount(accounts, given);
  const days = await getUsage(usage, { accountId, days: given.days as number | undefined });
  return days.map(({ date, stores, recalls, tokensStored, tokensQueried }) => ({
    date,
    stores,
    recalls,
    tokens_stored: tokensStored,
    tokens_queried: tokensQueried,
  }));
}

async function rebuildIndex({ accounts, eraseIndex }: OperatorPorts, given: Given) {
  const { id: accountId } = await theAccount(accounts, given);
  const namespace = parseNamespace(text(given, "namespace"));
  const logId = await eraseIndex({ accountId, namespace });
  if (logId === undefined) {
    throw new MemoryError("not_found", `account ${accountId} has no namespace ${namespace}`);
  }
  return { account_id: accountId, namespace, log: logId };
}

async function backUp(ports: OperatorPorts, given: Given) {
  if (ports.backUp === undefined) {
    throw failedPrecondition(
      "MongoDB has tools of its own for this: see docs/operations.md#mongodb on mongodump",
    );
  }
  await ports.backUp(text(given, "path"));
}

async function addressOf({ address }: OperatorPorts) {
  const known = address?.();
  if (known === undefined) throw unavailable("the server does not listen yet; try again");
  return { address: known };
}

async function theAccount(accounts: Accounts, given: Given): Promise<Account> {
  const id = text(given, "account");
  const found = id === "" ? undefined : await accounts.find(id);
  if (found === undefined) throw new MemoryError("not_found", `there is no account ${id}`);
  return found;
}

function text(given: Given, name: string): string {
  return String(given[name] ?? "");
}

function accountView({ id, email, plan, callsLimit, callsLeft, keys, createdAtMs }: Account) {
  return {
    account_id: id,
    email,
    plan,
    calls_limit: limitOf(callsLimit),
    calls_used: callsLimit - callsLeft,
    keys: keys.length,
    created_at: timeOf(createdAtMs),
  };
}

function planView({ name, calls, rate, concurrency }: Plan) {
  return {
    plan: name,
    calls: limitOf(calls),
    calls_per_second: rate?.perSecond ?? null,
    burst: rate?.burst ?? null,
    concurrent_calls: concurrency ?? null,
  };
}

/** Shows a limit; null means none. */
function limitOf(calls: number): number | null {
  return calls >= UNLIMITED_CALLS ? null : calls;
}

/** Shows a key without its hash, which no command needs. */
function keyView({ id, name, prefix, access, namespace, createdAtMs, lastUsedAtMs, expiresAtMs }: Key) {
  return {
    id,
    name,
    prefix,
    access,
    namespace: namespace ?? null,
    created_at: timeOf(createdAtMs),
    last_used_at: lastUsedAtMs === undefined ? null : timeOf(lastUsedAtMs),
    expires_at: expiresAtMs === NEVER_MS ? null : timeOf(expiresAtMs),
  };
}

function indexView({ logId, scope, isOpen, memories, last, files }: IndexStatus) {
  const { vectors, words } = files.parts;
  return {
    account_id: scope?.accountId ?? null,
    namespace: scope?.namespace ?? null,
    log: logId,
    open: isOpen,
    memories: memories ?? null,
    last_entry: last,
    vectors_upto: vectors.upto,
    words_upto: words.upto,
    lag: Math.max(0, last - Math.min(vectors.upto, words.upto)),
    files: files.files,
    bytes: files.bytes,
    vectors: vectors.rows,
    vectors_removed: vectors.removed,
    rows: words.rows,
    rows_removed: words.removed,
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
