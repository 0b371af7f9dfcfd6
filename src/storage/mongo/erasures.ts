import type { Collection, Db } from "mongodb";
import type { Erasure, Erasures } from "../../memory/ports/erasures.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

type ErasureDocument = Omit<Erasure, "id"> & { readonly _id: string };

export class MongoErasures implements Erasures {
  readonly #erasures: Collection<ErasureDocument>;

  constructor(db: Db) {
    this.#erasures = db.collection("erasures");
  }

  async begin({ id, ...erasure }: Erasure): Promise<void> {
    // An erasure that is begun again keeps its first record: several processes may meet the same end of
    // a log.
    await withTimeout(findOrInsert(this.#erasures, { _id: id, ...erasure }));
  }

  async end(id: string): Promise<void> {
    await withTimeout(this.#erasures.deleteOne({ _id: id }));
  }

  async pending(limit: number): Promise<Erasure[]> {
    const records = await withTimeout(this.#erasures.find({}, { sort: { _id: 1 }, limit }).toArray());
    return records.map(({ _id, ...erasure }) => ({ id: _id, ...erasure }));
  }
}
