import type { Collection, Db, Filter, FindOneAndUpdateOptions, UpdateFilter } from "mongodb";
import { type Account, type Accounts, KEYS_MAX, type KeyUse, SESSIONS_MAX } from "../../accounts/account.js";
import { livingKeys } from "../../accounts/key.js";
import type { Grant, Grants, StoredGrant } from "../../accounts/oauth/grants.js";
import { MemoryError, unavailable } from "../../errors.js";
import { findOrInsert, isTaken, withTimeout } from "./driver.js";

const PLAN_ATTEMPTS_MAX = 5;

interface AccountRecord extends Omit<Account, "id"> {
  readonly _id: string;
}

/** Accounts in MongoDB. Each account and its keys are one document, so that a change is atomic for both. */
export class MongoAccounts implements Accounts {
  readonly #accounts: Collection<AccountRecord>;
  readonly #closed: Collection<{ readonly _id: string; readonly closedAt: Date }>;

  constructor(db: Db) {
    this.#accounts = db.collection("accounts");
    this.#closed = db.collection("closed_accounts");
  }

  async create({ id, ...account }: Account): Promise<void> {
    const inserting = this.#accounts.insertOne({ _id: id, ...account }).catch((error) => {
      throw isTaken(error) ? new MemoryError("already_exists", `account ${id} exists already`) : error;
    });
    await withTimeout(inserting);
  }

  async find(accountId: string): Promise<Account | undefined> {
    const record = await withTimeout(this.#accounts.findOne({ _id: accountId }));
    return record === null ? undefined : fromRecord(record);
  }

  async list({ after, limit }: Parameters<Accounts["list"]>[0]): Promise<Account[]> {
    const found = this.#accounts.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit });
    return (await withTimeout(found.toArray())).map(fromRecord);
  }

  async findByKey(keyHash: string): Promise<Account | undefined> {
    const record = await withTimeout(this.#accounts.findOne(holding(keyHash)));
    return record === null ? undefined : fromRecord(record);
  }

  charge({ accountId, keyHash, calls = 1 }: Parameters<Accounts["charge"]>[0]): Promise<boolean> {
    const payable = { _id: accountId, ...holding(keyHash), callsLeft: { $gte: calls } };
    return this.#change(payable, { $inc: { callsLeft: -calls } });
  }

  async refund(accountId: string, calls = 1): Promise<void> {
    // Calls that were taken one by one may have been refunded in part: halved, until no more fit.
    for (let rest = calls, next = calls; rest > 0 && next >= 1; ) {
      const paid = { _id: accountId, $expr: { $lte: [{ $add: ["$callsLeft", next] }, "$callsLimit"] } };
      const isGiven = await this.#change(paid, { $inc: { callsLeft: next } });
      if (isGiven) rest -= next;
      next = isGiven ? Math.min(next, rest) : Math.floor(next / 2);
    }
  }

  async setPlan({ accountId, plan, callsLimit }: Parameters<Accounts["setPlan"]>[0]): Promise<boolean> {
    for (let attempt = 0; attempt < PLAN_ATTEMPTS_MAX; attempt++) {
      const found = await withTimeout(this.#accounts.findOne({ _id: accountId }));
      if (found === null) return false;
      // The filter requires the limit that was read: calls may be charged meanwhile, but the plan must
      // not change.
      const unchanged = { _id: accountId, callsLimit: found.callsLimit };
      const to = { $set: { plan, callsLimit }, $inc: { callsLeft: callsLimit - found.callsLimit } };
      if (await this.#change(unchanged, to)) return true;
    }
    throw unavailable("the account's plan is changed by others at the same time");
  }

  async addKey({ accountId, key }: Parameters<Accounts["addKey"]>[0]): Promise<boolean> {
    const expired = { $pull: { keys: { expiresAtMs: { $lte: Date.now() } } } };
    await withTimeout(this.#accounts.updateOne({ _id: accountId }, expired));
    const belowLimit = { _id: accountId, [`keys.${KEYS_MAX - 1}`]: { $exists: false } };
    return this.#change(belowLimit, { $push: { keys: key } });
  }

  async addSession({ accountId, keyId, session }: Parameters<Accounts["addSession"]>[0]): Promise<boolean> {
    const living = { _id: accountId, ...withKey({ id: keyId }) };
    const ofKey = { arrayFilters: [{ "key.id": keyId }] };
    const expired = { $pull: { [SESSIONS]: { expiresAtMs: { $lte: Date.now() } } } };
    await withTimeout(this.#accounts.updateOne(living, expired, ofKey));
    const added = { $push: { [SESSIONS]: { $each: [session], $slice: -SESSIONS_MAX } } };
    return this.#change(living, added, ofKey);
  }

  removeSession({ accountId, sessionId }: Parameters<Accounts["removeSession"]>[0]): Promise<boolean> {
    const has = { _id: accountId, ...withSession({ id: sessionId }) };
    const ofKey = { arrayFilters: [{ "key.sessions.id": sessionId }] };
    const without = { $pull: { [SESSIONS]: { id: sessionId } } };
    return this.#change(has, without, ofKey);
  }

  removeKey({ accountId, keyId, force }: Parameters<Accounts["removeKey"]>[0]): Promise<boolean> {
    const another = withKey({ id: { $ne: keyId }, client: { $exists: false } });
    const ofClient = withKey({ id: keyId, client: { $exists: true } });
    const notLast = force ? {} : { $or: [another, ofClient] };
    const removable = { _id: accountId, ...withKey({ id: keyId }), ...notLast };
    return this.#change(removable, { $pull: { keys: { id: keyId } } });
  }

  async expireKey({ accountId, keyId, atMs }: Parameters<Accounts["expireKey"]>[0]): Promise<void> {
    const sooner = { $min: { "keys.$.expiresAtMs": atMs } };
    await withTimeout(this.#accounts.updateOne({ _id: accountId, "keys.id": keyId }, sooner));
  }

  async settleKey({ accountId, keyId }: Parameters<Accounts["settleKey"]>[0]): Promise<void> {
    const settled = { $unset: { "keys.$.replaces": "", "keys.$.graceMs": "" } } as const;
    await withTimeout(this.#accounts.updateOne({ _id: accountId, "keys.id": keyId }, settled));
  }

  async touch(uses: readonly KeyUse[]): Promise<void> {
    const writes = uses.flatMap(({ accountId, keyHash, atMs }) => [
      {
        updateOne: {
          filter: { _id: accountId, "keys.hash": keyHash },
          update: { $max: { "keys.$.lastUsedAtMs": atMs } },
        },
      },
      {
        updateOne: {
          filter: { _id: accountId, "keys.sessions.hash": keyHash },
          update: { $max: { [`${SESSIONS}.$[session].lastUsedAtMs`]: atMs } },
          arrayFilters: [{ "key.sessions.hash": keyHash }, { "session.hash": keyHash }],
        },
      },
    ]);
    if (writes.length > 0) await withTimeout(this.#accounts.bulkWrite(writes, { ordered: false }));
  }

  async remove(accountId: string): Promise<void> {
    if ((await this.find(accountId)) === undefined) return;
    // The note comes first. It has no effect alone, so a crash in between leaves the account open.
    await withTimeout(findOrInsert(this.#closed, { _id: accountId, closedAt: new Date() }));
    await withTimeout(this.#accounts.deleteOne({ _id: accountId }));
  }

  async isClosed(accountId: string): Promise<boolean> {
    if ((await withTimeout(this.#closed.findOne({ _id: accountId }))) === null) return false;
    return (await this.find(accountId)) === undefined;
  }

  /** Changes the first account that fits a filter in one atomic step; returns whether one did. */
  async #change(
    filter: Filter<AccountRecord>,
    update: UpdateFilter<AccountRecord>,
    options: FindOneAndUpdateOptions = {},
  ): Promise<boolean> {
    const onlyWhether = { ...options, projection: { _id: 1 } };
    return (await withTimeout(this.#accounts.findOneAndUpdate(filter, update, onlyWhether))) !== null;
  }
}

function fromRecord({ _id, keys, ...account }: AccountRecord): Account {
  return { id: _id, ...account, keys: livingKeys(keys) };
}

/** Makes a filter for accounts that have a valid key with this hash, or a valid session of a valid key. */
function holding(hash: string) {
  return { $or: [withKey({ hash }), withSession({ hash })] };
}

function withKey(key: object) {
  return { keys: { $elemMatch: { ...key, expiresAtMs: { $gt: Date.now() } } } };
}

function withSession(session: object) {
  return withKey({ sessions: { $elemMatch: { ...session, expiresAtMs: { $gt: Date.now() } } } });
}

/** The sessions of the key that a filter of the array calls `key`. */
const SESSIONS = "keys.$[key].sessions";

interface GrantRecord extends Omit<StoredGrant, "codeHash" | "keptUntilMs"> {
  readonly _id: string;
  /** Time as a Date, so that MongoDB removes the document by itself. */
  readonly keptUntil: Date;
}

interface SecretRecord {
  readonly _id: string;
  readonly secret: string;
}

export class MongoGrants implements Grants {
  readonly #grants: Collection<GrantRecord>;
  readonly #secrets: Collection<SecretRecord>;

  constructor(db: Db) {
    this.#grants = db.collection("grants");
    this.#secrets = db.collection("grant_secrets");
  }

  async secret(fresh: string): Promise<string> {
    return (await withTimeout(findOrInsert(this.#secrets, { _id: "clients", secret: fresh }))).secret;
  }

  async add({ codeHash, keptUntilMs, ...grant }: Grant): Promise<void> {
    await withTimeout(this.#grants.insertOne({ _id: codeHash, ...grant, keptUntil: new Date(keptUntilMs) }));
  }

  async find(codeHash: string): Promise<StoredGrant | undefined> {
    return fromGrantRecord(await withTimeout(this.#grants.findOne(living(codeHash))));
  }

  async take({ codeHash, keyId }: Parameters<Grants["take"]>[0]): Promise<boolean> {
    const unused = { keyId: { $exists: false }, expiresAtMs: { $gt: Date.now() } };
    const taking = this.#grants.updateOne({ ...living(codeHash), ...unused }, { $set: { keyId } });
    return (await withTimeout(taking)).matchedCount === 1;
  }

  async markReplayed(codeHash: string): Promise<StoredGrant | undefined> {
    const used = { ...living(codeHash), keyId: { $exists: true } };
    await withTimeout(this.#grants.updateOne(used, { $set: { replayed: true } }));
    return this.find(codeHash);
  }

  async removeOf(accountId: string): Promise<void> {
    await withTimeout(this.#grants.deleteMany({ accountId }));
  }
}

/** Makes a filter for the grant of a code, which MongoDB takes up to a minute to remove. */
function living(codeHash: string): Filter<GrantRecord> {
  return { _id: codeHash, keptUntil: { $gt: new Date() } };
}

function fromGrantRecord(record: GrantRecord | null): StoredGrant | undefined {
  if (record === null) return undefined;
  const { _id, keptUntil, ...grant } = record;
  return { codeHash: _id, keptUntilMs: keptUntil.getTime(), ...grant };
}
