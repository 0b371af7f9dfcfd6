import { setTimeout as sleep } from "node:timers/promises";
import type { Collection, Db, Filter, UpdateFilter } from "mongodb";
import type { Account, Accounts } from "../../accounts/account.js";
import { livingKeys } from "../../accounts/key.js";
import { MemoryError, unavailable } from "../../errors.js";
import { findOrInsert, isTaken, withTimeout } from "./driver.js";

/** Maximum number of attempts to change an account while others change it, and of the random pause after each. */
const CHANGE_ATTEMPTS_MAX = 100;
const CHANGE_PAUSE_MS_MAX = 20;

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
    return this.#update(payable, { $inc: { callsLeft: -calls } });
  }

  async refund(accountId: string, calls = 1): Promise<void> {
    // Calls that were taken one by one may have been refunded in part: halved, until no more fit.
    for (let rest = calls, next = calls; rest > 0 && next >= 1; ) {
      const paid = { _id: accountId, $expr: { $lte: [{ $add: ["$callsLeft", next] }, "$callsLimit"] } };
      const isGiven = await this.#update(paid, { $inc: { callsLeft: next } });
      if (isGiven) rest -= next;
      next = isGiven ? Math.min(next, rest) : Math.floor(next / 2);
    }
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

  /** Requires that nothing has changed since it was read but the calls, which others may take meanwhile. */
  async change(accountId: string, to: (account: Account) => Account | undefined): Promise<boolean> {
    for (let attempt = 0; attempt < CHANGE_ATTEMPTS_MAX; attempt++) {
      const found = await withTimeout(this.#accounts.findOne({ _id: accountId }));
      const account = found && fromRecord(found);
      const changed = account && to(account);
      if (!found || !changed) return false;
      const { plan, callsLimit, callsLeft, keys } = changed;
      const same = { _id: accountId, plan: found.plan, callsLimit: found.callsLimit, keys: found.keys };
      const calls = callsLeft - account.callsLeft;
      const update = { $set: { plan, callsLimit, keys }, $inc: { callsLeft: calls } };
      if (await this.#update(same, update)) return true;
      await sleep(Math.random() * CHANGE_PAUSE_MS_MAX);
    }
    throw unavailable("the account is changed by others at the same time");
  }

  /** Updates the account that fits a filter in one atomic step; returns whether one did. */
  async #update(filter: Filter<AccountRecord>, update: UpdateFilter<AccountRecord>): Promise<boolean> {
    const onlyWhether = { projection: { _id: 1 } } as const;
    return (await withTimeout(this.#accounts.findOneAndUpdate(filter, update, onlyWhether))) !== null;
  }
}

function fromRecord({ _id, keys, ...account }: AccountRecord): Account {
  return { id: _id, ...account, keys: livingKeys(keys) };
}

/** Makes a filter for accounts that have a valid key with this hash, or a valid session of a valid key. */
function holding(hash: string) {
  const living = (each: object) => ({ $elemMatch: { ...each, expiresAtMs: { $gt: Date.now() } } });
  return { $or: [{ keys: living({ hash }) }, { keys: living({ sessions: living({ hash }) }) }] };
}
