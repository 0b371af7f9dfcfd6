import { type Collection, type Db, type Filter, MongoBulkWriteError } from "mongodb";
import { inSlices, Slice, weightOf } from "../../../memory/pacing/bounds.js";
import { Budget } from "../../../memory/pacing/budget.js";
import { FIRST_GENERATION } from "../../../memory/ports/generation.js";
import type {
  Entry,
  Fetched,
  Head,
  Log,
  Measured,
  Named,
  Numbered,
  Range,
  Scope,
  Seen,
  Several,
  Tail,
  What,
} from "../../../memory/ports/log.js";
import { lost } from "../../intact.js";
import { DUPLICATE_KEY } from "../find-or-insert.js";
import { ANSWER_TIMEOUT_MS, withTimeout } from "../with-timeout.js";
import { Counted } from "./counted.js";
import {
  allNames,
  findName,
  findOrCreateName,
  listNames,
  type NameRecord,
  removeName,
  renameName,
} from "./names.js";
import { idsFrom, numberId, sequenceOf } from "./number.js";
import { type EntryRecord, fromRecord, projectionOf, toRecord } from "./record.js";
import { Weights } from "./weights.js";

/** Limits of the expected weight of all answers under way, and of the number of waiting reads. */
const ANSWERS_BYTES_MAX = 67_108_864;
const READS_WAITING_MAX = 1_000;

/** Index for counting: each entry's number, kind and bytes. */
const COUNTED = { _id: 1, op: 1, bytes: 1 } as const;
/** Time limit of one count within MongoDB. */
const COUNT_LIMIT_MS = 4_000;

/** Log in MongoDB: a document for each entry, and one for each name. */
export class MongoLog implements Log {
  readonly #weights = new Weights();
  readonly #reads = new Budget({
    max: ANSWERS_BYTES_MAX,
    waitingMax: READS_WAITING_MAX,
    waitMs: ANSWER_TIMEOUT_MS,
    what: "reads",
  });
  readonly #names: Collection<NameRecord>;
  readonly #entries: Collection<EntryRecord>;

  readonly #counted = new Counted({ count: (range) => withTimeout(this.#count(range)) });

  constructor(db: Db) {
    this.#names = db.collection("namespaces");
    this.#entries = db.collection("log");
  }

  /** Creates the indexes; must be called before the first use. */
  async createIndexes(): Promise<void> {
    await this.#entries.createIndex({ id: 1 });
    // Counting reads only this index, because a document is up to 1.6 MB.
    await this.#entries.createIndex(COUNTED);
  }

  find(scope: Scope): Promise<string | undefined> {
    return withTimeout(findName(this.#names, scope));
  }

  create(scope: Scope, generation = FIRST_GENERATION): Promise<string> {
    return withTimeout(findOrCreateName(this.#names, scope, generation));
  }

  rename(scope: Scope, of: { from: string; to: string }): Promise<void> {
    return withTimeout(renameName(this.#names, scope, of));
  }

  names(of: { after?: Scope | undefined; limit: number }): Promise<Named[]> {
    return withTimeout(allNames(this.#names, of));
  }

  retire(scope: Scope, logId: string): Promise<void> {
    return withTimeout(removeName(this.#names, scope, logId));
  }

  list(of: Parameters<Log["list"]>[0]): Promise<Head[]> {
    return withTimeout(listNames(this.#names, of));
  }

  /**
   * Counts what a log holds. In a log of over 65,536 entries, the count may include what another process
   * erased within the last minute.
   */
  async measure({ logId }: { logId: string }): Promise<Measured> {
    const newest = { sort: { _id: -1 }, projection: { _id: 1 } } as const;
    const last = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId) }, newest));
    return this.#counted.measure(logId, last ? sequenceOf(last._id) : 0);
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      const next = await withTimeout(this.#next(last));
      if (next === undefined) break;
      last = next;
      found.push(next);
    }
    return found;
  }

  async append({ logId, from, entries }: Parameters<Log["append"]>[0]): Promise<number> {
    let inserted = 0;
    // Each slice must be answered in time.
    for (const slice of inSlices(entries)) {
      const first = from + inserted;
      const records = slice.map((entry, i) => toRecord(numberId(logId, first + i), entry));
      const kept = await withTimeout(this.#insert(records));
      inserted += kept;
      if (kept < slice.length) break;
    }
    return inserted;
  }

  read<W extends What>(range: Range<W>): Promise<Tail<W>> {
    return this.#weighed({ ...range, most: range.limit }, () => this.#read(range));
  }

  async last(logId: string): Promise<Numbered<Entry<"head">> | undefined> {
    const newest = { sort: { _id: -1 }, projection: projectionOf("head") } as const;
    const record = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId) }, newest));
    return record ? numbered(record, "head") : undefined;
  }

  async fetch<W extends What>(of: Several & { what: W }): Promise<Fetched<W>> {
    const most = of.sequences.length;
    const { entries, rest } = await this.#weighed({ ...of, most }, () => this.#find(of));
    const found = entries.filter((each): each is Numbered<Seen[W]> => each.entry.op === "store");
    return { found, rest };
  }

  locate({ logId, id }: { logId: string; id: string }): Promise<number | undefined> {
    return withTimeout(this.#numberOf({ _id: idsFrom(logId), id, op: "store" }));
  }

  numberOf({ logId, id }: { logId: string; id: string }): Promise<number | undefined> {
    return withTimeout(this.#numberOf({ _id: idsFrom(logId), id }));
  }

  async erase({ logId, sequences }: Several): Promise<void> {
    const $in = sequences.map((sequence) => numberId(logId, sequence));
    const sums = { "sums.text": "", "sums.vectors": "" } as const;
    this.#counted.forget(logId, sequences);
    const gone = { text: "", metadata: "", vector: "", windows: "", bytes: "", ...sums } as const;
    await withTimeout(
      this.#entries.updateMany({ _id: { $in }, op: "store" }, { $set: { op: "erased" }, $unset: gone }),
    ).finally(() => this.#counted.forget(logId, sequences));
  }

  async #count({ logId, from, to }: { logId: string; from: number; to: number }) {
    const _id = { $gte: numberId(logId, from), $lt: numberId(logId, to) };
    const $match = { _id, op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const options = { hint: COUNTED, maxTimeMS: COUNT_LIMIT_MS };
    const [found] = await this.#entries.aggregate<Measured>([{ $match }, { $group }], options).toArray();
    return { memories: found?.memories ?? 0, bytes: Number(found?.bytes ?? 0) };
  }

  async #numberOf(filter: Filter<EntryRecord>): Promise<number | undefined> {
    const record = await this.#entries.findOne(filter, { projection: { _id: 1 } });
    return record ? sequenceOf(record._id) : undefined;
  }

  /** Returns the id of the first entry after those of a log. */
  async #next(logId: string): Promise<string | undefined> {
    const behind = logId === "" ? {} : { _id: { $gte: idsFrom(logId).$lt } };
    const record = await this.#entries.findOne(behind, { sort: { _id: 1 }, projection: { _id: 1 } });
    return record?._id.split(":", 1)[0];
  }

  async #insert(records: EntryRecord[]): Promise<number> {
    try {
      return (await this.#entries.insertMany(records, { ordered: true })).insertedCount;
    } catch (error) {
      const taken = takenIn(error);
      if (taken === undefined) throw error;
      return taken;
    }
  }

  async #read<W extends What>({ logId, from, limit, what }: Range<W>): Promise<Tail<W>> {
    const slice = new Slice<Entry<W>>(limit);
    let complete = false;
    for (let next = from; !complete && !slice.isFull; next = (slice.entries.at(-1)?.sequence ?? 0) + 1) {
      const { bytes } = slice;
      const asked = Math.min(limit - slice.entries.length, this.#weights.askable(logId, { what, bytes }));
      const some = await this.#dense({ logId, from: next, limit: asked, what });
      for (const { sequence, entry } of some) if (!slice.isFull) slice.add(sequence, entry);
      complete = some.length < asked && !slice.isFull;
    }
    return { entries: slice.entries, complete };
  }

  /** Reads entries without holes; fewer than `limit` when no more exist, or when the slice is full. */
  async #dense<W extends What>(range: Range<W>): Promise<Numbered<Entry<W>>[]> {
    const { logId, from, limit, what } = range;
    const _id = idsFrom(logId, numberId(logId, from));
    const found = await this.#some({ logId, _id }, { limit, what, sort: { _id: 1 } });
    const sequences = gapsIn(found, range);
    if (sequences.length === 0) return found;
    // A scan can pass a number just before it is taken, and then see a later one. The later writer had
    // seen the number taken, so an entry that a second look does not find either is lost.
    const late = new Map<number, Numbered<Entry<W>>>();
    for (let rest: readonly number[] = sequences; rest.length > 0; ) {
      const looked = await this.#find({ logId, sequences: rest, what });
      for (const each of looked.entries) late.set(each.sequence, each);
      rest = looked.rest;
    }
    const filled = sequences.map(
      (sequence) => late.get(sequence) ?? { sequence, entry: lost("it is missing") },
    );
    return [...found, ...filled].sort((a, b) => a.sequence - b.sequence).slice(0, limit);
  }

  async #find<W extends What>({ logId, sequences, what }: Several & { what: W }) {
    const slice = new Slice<Entry<W>>();
    let rest = [...sequences].sort((a, b) => b - a);
    while (rest.length > 0 && !slice.isFull) {
      const { bytes } = slice;
      const asked = rest.slice(0, this.#weights.askable(logId, { what, bytes }));
      const $in = asked.map((sequence) => numberId(logId, sequence));
      const found = await this.#some(
        { logId, _id: { $in } },
        { limit: asked.length, what, sort: { _id: -1 } },
      );
      for (const { sequence, entry } of found) if (!slice.isFull) slice.add(sequence, entry);
      // The rest did not fit, or MongoDB did not send it because its answer was full.
      const last = slice.isFull ? (slice.entries.at(-1)?.sequence ?? 0) : 0;
      rest = [...asked.filter((sequence) => sequence < last), ...rest.slice(asked.length)];
    }
    return { entries: slice.entries, rest };
  }

  async #some<W extends What>(
    { logId, _id }: { logId: string; _id: Filter<EntryRecord>["_id"] },
    { limit, what, sort }: { limit: number; what: W; sort: { _id: 1 | -1 } },
  ): Promise<Numbered<Entry<W>>[]> {
    const options = { sort, limit, batchSize: limit, singleBatch: true, projection: projectionOf(what) };
    const records = await this.#entries.find({ _id } as Filter<EntryRecord>, options).toArray();
    const found = records.map((record) => numbered(record, what));
    const bytes = found.reduce((sum, { entry }) => sum + weightOf(entry), 0);
    this.#weights.note(logId, { what, entries: found.length, bytes });
    return found;
  }

  /** Runs a read when its expected weight has room beside the others. */
  #weighed<T>(of: { logId: string; what: What; most: number }, read: () => Promise<T>): Promise<T> {
    const { logId, what, most } = of;
    const entries = Math.min(most, this.#weights.askable(logId, { what, bytes: 0 }));
    return this.#reads.run(entries * this.#weights.of(logId, what), () => withTimeout(read()));
  }
}

/**
 * Returns how many more documents to ask for, so that they fill the slice if they are as large as those
 * in it.
 */
function numbered<W extends What>(record: EntryRecord, what: W): Numbered<Entry<W>> {
  return { sequence: sequenceOf(record._id), entry: fromRecord(record, what) };
}

/** Returns the first numbers, at most `limit`, that are missing before the last one found. */
function gapsIn(
  found: readonly Numbered<Entry<"head">>[],
  { from, limit }: { from: number; limit: number },
): number[] {
  const there = new Set(found.map(({ sequence }) => sequence));
  const last = found.at(-1)?.sequence ?? from;
  const missing: number[] = [];
  for (let sequence = from; sequence < last && missing.length < limit; sequence++) {
    if (!there.has(sequence)) missing.push(sequence);
  }
  return missing;
}

/**
 * Returns the index at which an ordered insert stopped because the number is taken; earlier entries are
 * kept.
 */
function takenIn(error: unknown): number | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined;
  const [first] = [error.writeErrors].flat();
  const kept = error.result.getWriteConcernError() === undefined;
  return kept && first?.code === DUPLICATE_KEY ? first.index : undefined;
}
