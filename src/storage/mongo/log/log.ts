import { LRUCache } from "lru-cache";
import type { Collection, Filter } from "mongodb";
import { Budget } from "../../../concurrency/budget.js";
import { appendInSlices, SLICE_BYTES_MAX, Slice, weightOf } from "../../../memory/ports/bounds.js";
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
import { lost } from "../../intact.js";
import { ANSWER_TIMEOUT_MS, takenIn, withTimeout } from "../driver.js";
import { idsFrom, numberId, parseNumberId, sequenceOf } from "../ids.js";
import { RangeCounts } from "./range-counts.js";
import { type EntryRecord, fromRecord, projectionOf, toRecord } from "./record.js";

/** Limits of the expected weight of all answers under way, and of the number of waiting reads. */
const ANSWERS_BYTES_MAX = 67_108_864;
const READS_WAITING_MAX = 1_000;
/** Maximum number of remembered weights of logs. */
const REMEMBERED_MAX = 10_000;
/** Maximum number of documents asked for at a time, and assumed weight while a log's is unknown. */
const ASK_MAX = 512;
const UNKNOWN_BYTES = { all: 1_048_576, vectors: 1_048_576, text: 65_536, header: 8_192 } as const;

/** Index for counting: each entry's number, kind and bytes. It alone is read, because a document is up to 1.6 MB. */
export const COUNT_INDEX = { _id: 1, op: 1, bytes: 1 } as const;
/** Time limit of one count within MongoDB. */
const COUNT_LIMIT_MS = 4_000;

/** Log in MongoDB: a document for each entry. It reads no more at a time than a slice holds. */
export class MongoLog implements Log {
  readonly #weights = new Weights();
  readonly #reads = new Budget({
    max: ANSWERS_BYTES_MAX,
    waitingMax: READS_WAITING_MAX,
    waitMs: ANSWER_TIMEOUT_MS,
    what: "reads",
  });
  readonly #counts = new RangeCounts({ count: (range) => withTimeout(this.#count(range)) });

  constructor(private readonly entries: Collection<EntryRecord>) {}

  append(batch: Batch): Promise<number> {
    // Each slice must be answered in time.
    return appendInSlices(batch, ({ logId, from, entries }) =>
      withTimeout(this.#insert(entries.map((entry, i) => toRecord(numberId(logId, from + i), entry)))),
    );
  }

  read<W extends Projection>(range: Range<W>): Promise<Tail<W>> {
    const { logId, projection, limit } = range;
    return this.#weighed({ logId, projection, most: limit }, () => this.#read(range));
  }

  async last(logId: string): Promise<Sequenced<Entry<"header">> | undefined> {
    const newest = { sort: { _id: -1 }, projection: projectionOf("header") } as const;
    const record = await withTimeout(this.entries.findOne({ _id: idsFrom(logId) }, newest));
    return record ? sequenced(record, "header") : undefined;
  }

  async fetch<W extends Projection>(request: Sequences & { projection: W }): Promise<Fetched<W>> {
    const { logId, projection, sequences } = request;
    const weighed = { logId, projection, most: sequences.length };
    const { entries, rest } = await this.#weighed(weighed, () => this.#find(request));
    return { found: entries.filter(isMemory<W>), rest };
  }

  async erase({ logId, sequences }: Sequences): Promise<void> {
    const _id = { $in: sequences.map((sequence) => numberId(logId, sequence)) };
    const sums = { "sums.text": "", "sums.vectors": "", "sums.label": "" } as const;
    const content = { text: "", metadata: "", vector: "", windows: "", bytes: "", ...sums } as const;
    const gone = { ...content, externalId: "", expiresAtMs: "", eventAtMs: "" } as const;
    const goneAll = { ...gone, supersedesOrExpires: "" } as const;
    const $set = { op: "erased" } as const;
    // What a memory superseded stays so.
    const superseding = { _id, op: "store", supersedes: { $exists: true } };
    const forgetting = { unerased: { $in: [...sequences] }, _id: idsFrom(logId) };
    this.#counts.forget(logId, sequences);
    const erasing = this.entries.bulkWrite([
      { updateMany: { filter: superseding, update: { $set, $unset: gone } } },
      { updateMany: { filter: { _id, op: "store" }, update: { $set, $unset: goneAll } } },
      { updateMany: { filter: forgetting, update: { $unset: { unerased: "" } } } },
    ]);
    await withTimeout(erasing).finally(() => this.#counts.forget(logId, sequences));
  }

  /**
   * Counts what a log holds. In a log of over 65,536 entries, the count may include what another process
   * erased within the last minute.
   */
  async measure({ logId }: { logId: string }): Promise<Measured> {
    return this.#counts.measure(logId, (await lastNumber(this.entries, { _id: idsFrom(logId) })) ?? 0);
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      // The first entry after those of the log before.
      const rest = last === "" ? {} : { _id: { $gte: idsFrom(last).$lt } };
      const first = { sort: { _id: 1 }, projection: { _id: 1 } } as const;
      const next = await withTimeout(this.entries.findOne(rest, first));
      if (next === null) break;
      last = parseNumberId(next._id).logId;
      found.push(last);
    }
    return found;
  }

  async #read<W extends Projection>({ logId, from, limit, projection }: Range<W>): Promise<Tail<W>> {
    const slice = new Slice<Entry<W>>(limit);
    let complete = false;
    for (let next = from; !complete && !slice.isFull; next = from + slice.entries.length) {
      const { bytes } = slice;
      const asked = Math.min(
        limit - slice.entries.length,
        this.#weights.askable(logId, { projection, bytes }),
      );
      const _id = idsFrom(logId, numberId(logId, next));
      const found = await this.#some({ logId, _id }, { limit: asked, projection, sort: { _id: 1 } });
      const dense = found.filter(({ sequence }, i) => sequence === next + i);
      const hasGap = dense.length < found.length;
      if (hasGap && dense.length === 0) {
        const length = Math.min(asked, (found[0]?.sequence ?? 0) - next);
        const sequences = Array.from({ length }, (_, i) => next + i);
        // A scan can pass a number just before it is taken, and then see a later one. The later writer had
        // seen the number taken, so an entry that a second look does not find either is lost.
        const late = await this.#find({ logId, sequences, projection: "header" });
        if (late.entries.length === 0)
          dense.push(...sequences.map((sequence) => ({ sequence, entry: lost("it is missing") })));
      }
      for (const { sequence, entry } of dense) if (!slice.isFull) slice.add(sequence, entry);
      complete = found.length < asked && !hasGap && !slice.isFull;
    }
    return { entries: slice.entries, complete };
  }

  async #find<W extends Projection>({ logId, sequences, projection }: Sequences & { projection: W }) {
    const slice = new Slice<Entry<W>>();
    let rest = [...sequences].sort((a, b) => b - a);
    while (rest.length > 0 && !slice.isFull) {
      const { bytes } = slice;
      const asked = rest.slice(0, this.#weights.askable(logId, { projection, bytes }));
      const $in = asked.map((sequence) => numberId(logId, sequence));
      const found = await this.#some(
        { logId, _id: { $in } },
        { limit: asked.length, projection, sort: { _id: -1 } },
      );
      for (const { sequence, entry } of found) if (!slice.isFull) slice.add(sequence, entry);
      // The rest did not fit, or MongoDB did not send it because its answer was full.
      const last = slice.isFull ? (slice.entries.at(-1)?.sequence ?? 0) : 0;
      rest = [...asked.filter((sequence) => sequence < last), ...rest.slice(asked.length)];
    }
    return { entries: slice.entries, rest };
  }

  async #some<W extends Projection>(
    { logId, _id }: { logId: string; _id: Filter<EntryRecord>["_id"] },
    { limit, projection, sort }: { limit: number; projection: W; sort: { _id: 1 | -1 } },
  ): Promise<Sequenced<Entry<W>>[]> {
    const options = {
      sort,
      limit,
      batchSize: limit,
      singleBatch: true,
      projection: projectionOf(projection),
    };
    const records = await this.entries.find({ _id } as Filter<EntryRecord>, options).toArray();
    const found = records.map((record) => sequenced(record, projection));
    const bytes = found.reduce((sum, { entry }) => sum + weightOf(entry), 0);
    this.#weights.note(logId, { projection, entries: found.length, bytes });
    return found;
  }

  /** Runs a read when its expected weight has room beside the others. */
  #weighed<T>(
    request: { logId: string; projection: Projection; most: number },
    read: () => Promise<T>,
  ): Promise<T> {
    const { logId, projection, most } = request;
    const entries = Math.min(most, this.#weights.askable(logId, { projection, bytes: 0 }));
    return this.#reads.run(entries * this.#weights.bytesPerEntry(logId, projection), () =>
      withTimeout(read()),
    );
  }

  async #count({ logId, from, to }: { logId: string; from: number; to: number }) {
    const _id = { $gte: numberId(logId, from), $lt: numberId(logId, to) };
    const $match = { _id, op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const options = { hint: COUNT_INDEX, maxTimeMS: COUNT_LIMIT_MS };
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

/** Finds the last number among the entries that match. */
export async function lastNumber(
  entries: Collection<EntryRecord>,
  filter: Filter<EntryRecord>,
): Promise<number | undefined> {
  const options = { sort: { _id: -1 }, projection: { _id: 1 } } as const;
  const found = await withTimeout(entries.findOne(filter, options));
  return found === null ? undefined : sequenceOf(found._id);
}

function sequenced<W extends Projection>(record: EntryRecord, projection: W): Sequenced<Entry<W>> {
  return { sequence: sequenceOf(record._id), entry: fromRecord(record, projection) };
}

/**
 * Remembers the weight of each log's entries that were read last, to ask for just as many as fill a
 * slice. MongoDB never sends more than 16 MB at once.
 */
class Weights {
  readonly #bytes = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** Returns the expected weight of one of the log's entries, in bytes. */
  bytesPerEntry(logId: string, projection: Projection): number {
    return this.#bytes.get(`${logId} ${projection}`) ?? UNKNOWN_BYTES[projection];
  }

  /** Returns how many entries to ask for, so that they fill what is left of a slice. */
  askable(logId: string, { projection, bytes }: { projection: Projection; bytes: number }): number {
    const left = Math.ceil((SLICE_BYTES_MAX - bytes) / this.bytesPerEntry(logId, projection));
    return Math.max(1, Math.min(ASK_MAX, left));
  }

  note(
    logId: string,
    { projection, entries, bytes }: { projection: Projection; entries: number; bytes: number },
  ): void {
    if (entries === 0) return;
    this.#bytes.set(`${logId} ${projection}`, bytes / entries);
  }
}
