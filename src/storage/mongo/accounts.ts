import { type Collection, type Db, MongoServerError } from "mongodb";
import type { Account, Accounts } from "../../accounts/account.js";
import { MemoryError } from "../../errors.js";
import { answer } from "./answer.js";

const DUPLICATE_KEY = 11_000;

interface AccountRecord extends Omit<Account, "id" | "createdAtMs"> {
  readonly _id: string;
  readonly createdAt: Date;
}

/** The accounts in MongoDB. */
export class MongoAccounts implements Accounts {
  readonly #accounts: Collection<AccountRecord>;

  constructor(db: Db) {
    this.#accounts = db.collection("accounts");
  }

  /** To be called before the first use. */
  async createIndexes(): Promise<void> {
    await this.#accounts.createIndex({ keys: 1 });
  }

  create({ id, createdAtMs, ...account }: Account): Promise<void> {
    return answer(this.#insert({ _id: id, ...account, createdAt: new Date(createdAtMs) }));
  }

  async findByKey(keyHash: string): Promise<Account | undefined> {
    const record = await answer(this.#accounts.findOne({ keys: keyHash }));
    if (record === null) return undefined;
    const { _id, createdAt, ...account } = record;
    return { id: _id, ...account, createdAtMs: createdAt.getTime() };
  }

  async charge({ accountId, keyHash }: { accountId: string; keyHash: string }): Promise<boolean> {
    const payable = { _id: accountId, keys: keyHash, callsLeft: { $gte: 1 } };
    const paid = this.#accounts.findOneAndUpdate(payable, { $inc: { callsLeft: -1 } }, ONLY_WHETHER);
    return (await answer(paid)) !== null;
  }

  async refund(accountId: string): Promise<void> {
    const paid = { _id: accountId, $expr: { $lt: ["$callsLeft", "$callsLimit"] } };
    await answer(this.#accounts.findOneAndUpdate(paid, { $inc: { callsLeft: 1 } }, ONLY_WHETHER));
  }

  async #insert(record: AccountRecord): Promise<void> {
    await this.#accounts.insertOne(record).catch((error) => {
      const taken = error instanceof MongoServerError && error.code === DUPLICATE_KEY;
      throw taken ? new MemoryError("already_exists", `account ${record._id} exists already`) : error;
    });
  }
}

const ONLY_WHETHER = { projection: { _id: 1 } } as const;
