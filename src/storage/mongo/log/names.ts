import { randomBytes } from "node:crypto";
import type { Collection } from "mongodb";
import { FIRST_MODEL_VERSION, inModelVersion } from "../../../memory/ports/model-version.js";
import type { Listed, Named, Names, Scope } from "../../../memory/ports/names.js";
import { findOrInsert, withTimeout } from "../driver.js";
import { afterAll, nameId, scopeIn } from "../ids.js";

interface NameRecord {
  /** Id as `nameId` makes it. */
  readonly _id: string;
  readonly logId: string;
}

export class MongoNames implements Names {
  constructor(private readonly names: Collection<NameRecord>) {}

  async find(scope: Scope): Promise<string | undefined> {
    return (await withTimeout(this.names.findOne({ _id: nameId(scope) })))?.logId;
  }

  /** Finds a name's log or creates one; concurrent calls all get the same log. */
  async create(scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> {
    const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
    return (await withTimeout(findOrInsert(this.names, { _id: nameId(scope), logId }))).logId;
  }

  async rename(scope: Scope, { from, to }: { from: string; to: string }): Promise<void> {
    await withTimeout(this.names.updateOne({ _id: nameId(scope), logId: from }, { $set: { logId: to } }));
  }

  async retire(scope: Scope, logId: string): Promise<void> {
    await withTimeout(this.names.deleteOne({ _id: nameId(scope), logId }));
  }

  async scopeOf(logId: string): Promise<Scope | undefined> {
    const found = await withTimeout(this.names.findOne({ logId }, { projection: { _id: 1 } }));
    return found === null ? undefined : scopeIn(found._id);
  }

  async list({ accountId, prefix = "", after, limit }: Listed): Promise<Named[]> {
    const $gte = accountId === undefined ? "" : nameId({ accountId, namespace: prefix });
    const _id = { $gte, ...($gte && { $lt: afterAll($gte) }), ...(after && { $gt: nameId(after) }) };
    const found = await withTimeout(this.names.find({ _id }, { sort: { _id: 1 }, limit }).toArray());
    return found.map(({ _id, logId }) => ({ scope: scopeIn(_id), logId }));
  }
}
