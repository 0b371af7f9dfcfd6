import type { Collection } from "mongodb";
import { appendInSlices } from "../../../memory/ports/bounds.js";
import {
  type Batch,
  type Entry,
  type Fetched,
  isMemory,
  type Log,
  type Measured,
  type Projection,
  type Range,
  type Sequenced,
  type Sequences,
  type Tail,
} from "../../../memory/ports/log.js";
import { takenIn } from "../find-or-insert.js";
import { withTimeout } from "../with-timeout.js";
import { Counted } from "./counted.js";
import { idsFrom, numberId, parseNumberId } from "./number.js";
import { EntryReader, lastNumber, numbered } from "./reader.js";
import { type EntryRecord, projectionOf, toRecord } from "./record.js";

/** Index for counting: each entry's number, kind and bytes. It alone is read, because a document is up to 1.6 MB. */
export const COUNTED = { _id: 1, op: 1, bytes: 1 } as const;
/** Time limit of one count within MongoDB. */
const COUNT_LIMIT_MS = 4_000;

/** Log in MongoDB: a document for each entry. */
export class MongoLog implements Log {
  readonly #reader: EntryReader;
  readonly #counted = new Counted({ count: (range) => withTimeout(this.#count(range)) });

  constructor(private readonly entries: Collection<EntryRecord>) {
    this.#reader = new EntryReader(entries);
  }

  append(batch: Batch): Promise<number> {
    // Each slice must be answered in time.
    return appendInSlices(batch, ({ logId, from, entries }) =>
      withTimeout(this.#insert(entries.map((entry, i) => toRecord(numberId(logId, from + i), entry)))),
    );
  }

  read<W extends Projection>(range: Range<W>): Promise<Tail<W>> {
    return this.#reader.read(range);
  }

  async last(logId: string): Promise<Sequenced<Entry<"head">> | undefined> {
    const newest = { sort: { _id: -1 }, projection: projectionOf("head") } as const;
    const record = await withTimeout(this.entries.findOne({ _id: idsFrom(logId) }, newest));
    return record ? numbered(record, "head") : undefined;
  }

  async fetch<W extends Projection>(request: Sequences & { what: W }): Promise<Fetched<W>> {
    const { entries, rest } = await this.#reader.find(request);
    return { found: entries.filter(isMemory<W>), rest };
  }

  async erase({ logId, sequences }: Sequences): Promise<void> {
    const _id = { $in: sequences.map((sequence) => numberId(logId, sequence)) };
    const sums = { "sums.text": "", "sums.vectors": "", "sums.label": "" } as const;
    const content = { text: "", metadata: "", vector: "", windows: "", bytes: "", ...sums } as const;
    const gone = { ...content, externalId: "", expiresAtMs: "", eventAtMs: "" } as const;
    const $set = { op: "erased" } as const;
    // What a memory superseded stays so.
    const superseding = { _id, op: "store", supersedes: { $exists: true } };
    const replacing = { unerased: { $in: [...sequences] }, _id: idsFrom(logId) };
    this.#counted.forget(logId, sequences);
    const erasing = this.entries.bulkWrite([
      { updateMany: { filter: superseding, update: { $set, $unset: gone } } },
      { updateMany: { filter: { _id, op: "store" }, update: { $set, $unset: { ...gone, special: "" } } } },
      { updateMany: { filter: replacing, update: { $unset: { unerased: "" } } } },
    ]);
    await withTimeout(erasing).finally(() => this.#counted.forget(logId, sequences));
  }

  /**
   * Counts what a log holds. In a log of over 65,536 entries, the count may include what another process
   * erased within the last minute.
   */
  async measure({ logId }: { logId: string }): Promise<Measured> {
    return this.#counted.measure(logId, (await lastNumber(this.entries, { _id: idsFrom(logId) })) ?? 0);
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      // The first entry after those of the log before.
      const behind = last === "" ? {} : { _id: { $gte: idsFrom(last).$lt } };
      const first = { sort: { _id: 1 }, projection: { _id: 1 } } as const;
      const next = await withTimeout(this.entries.findOne(behind, first));
      if (next === null) break;
      last = parseNumberId(next._id).logId;
      found.push(last);
    }
    return found;
  }

  async #count({ logId, from, to }: { logId: string; from: number; to: number }) {
    const _id = { $gte: numberId(logId, from), $lt: numberId(logId, to) };
    const $match = { _id, op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const options = { hint: COUNTED, maxTimeMS: COUNT_LIMIT_MS };
    const [found] = await this.entries.aggregate<Measured>([{ $match }, { $group }], options).toArray();
    return { memories: found?.memories ?? 0, bytes: Number(found?.bytes ?? 0) };
  }

  /** Inserts in order; of entries up to one whose number is taken, the earlier ones are kept. */
  async #insert(records: EntryRecord[]): Promise<number> {
    try {
      return (await this.entries.insertMany(records, { ordered: true })).insertedCount;
    } catch (error) {
      const [first] = takenIn(error);
      if (first === undefined) throw error;
      return first.index;
    }
  }
}
