import type { Collection, Db } from "mongodb";
import type { Erasure, Erasures } from "../../memory/ports/erasures.js";
import { answer } from "./with-timeout.js";

type ErasureRecord = Omit<Erasure, "id"> & { readonly _id: string };

/** The erasures under way, in MongoDB. */
export class MongoErasures implements Erasures {
  readonly #erasures: Collection<ErasureRecord>;

  constructor(db: Db) {
    this.#erasures = db.collection("erasures");
  }

  async begin({ id, ...erasure }: Erasure): Promise<void> {
    // One that is begun again stands as it was: several may meet what one of them ended.
    await answer(this.#erasures.updateOne({ _id: id }, { $setOnInsert: erasure }, { upsert: true }));
  }

  async end(id: string): Promise<void> {
    await answer(this.#erasures.deleteOne({ _id: id }));
  }

  async pending(limit: number): Promise<Erasure[]> {
    const records = await answer(this.#erasures.find({}, { sort: { _id: 1 }, limit }).toArray());
    return records.map(({ _id, ...erasure }) => ({ id: _id, ...erasure }));
  }
}
