import type { Collection, Db } from "mongodb";
import type { Format, Formats, Marked } from "../../memory/format/format.js";
import { findOrInsert } from "./find-or-insert.js";
import { withTimeout } from "./with-timeout.js";

type FormatRecord = Marked & { readonly _id: string };

const ID = "format";

/** The database's format mark, in MongoDB. */
export class MongoFormats implements Formats {
  readonly #meta: Collection<FormatRecord>;

  constructor(db: Db) {
    this.#meta = db.collection("meta");
  }

  async read(): Promise<Marked | undefined> {
    const record = await withTimeout(this.#meta.findOne({ _id: ID }));
    return record === null ? undefined : toMarked(record);
  }

  async mark(format: Format): Promise<Marked> {
    return toMarked(await withTimeout(findOrInsert(this.#meta, { _id: ID, format, revision: 1 })));
  }

  async replace({ from, to }: Parameters<Formats["replace"]>[0]): Promise<boolean> {
    const changed = { $set: { format: to, revision: from + 1 } };
    return (await withTimeout(this.#meta.updateOne({ _id: ID, revision: from }, changed))).matchedCount === 1;
  }
}

function toMarked({ format, revision }: FormatRecord): Marked {
  return { format, revision };
}
