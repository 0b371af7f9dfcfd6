import type { Collection, Db, Filter } from "mongodb";
import type { Grant, Grants, StoredGrant } from "../../accounts/oauth/grants.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

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
