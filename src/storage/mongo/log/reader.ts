import { LRUCache } from "lru-cache";
import type { Collection, Filter } from "mongodb";
import { Budget } from "../../../concurrency/budget.js";
import { SLICE_BYTES_MAX, Slice, weightOf } from "../../../memory/ports/bounds.js";
import type { Entry, Projection, Range, Sequenced, Sequences, Tail } from "../../../memory/ports/log.js";
import { lost } from "../../intact.js";
import { ANSWER_TIMEOUT_MS, withTimeout } from "../with-timeout.js";
import { idsFrom, numberId, sequenceOf } from "./number.js";
import { type EntryRecord, fromRecord, projectionOf } from "./record.js";

/** Limits of the expected weight of all answers under way, and of the number of waiting reads. */
const ANSWERS_BYTES_MAX = 67_108_864;
const READS_WAITING_MAX = 1_000;
/** Maximum number of remembered weights of logs. */
const REMEMBERED_MAX = 10_000;
/** Maximum number of documents asked for at a time, and assumed weight while a log's is unknown. */
const ASK_MAX = 512;
const UNKNOWN_BYTES = { all: 1_048_576, vectors: 1_048_576, text: 65_536, head: 8_192 } as const;

/** Reads entries from MongoDB, no more at a time than a slice holds. */
export class EntryReader {
  readonly #weights = new Weights();
  readonly #reads = new Budget({
    max: ANSWERS_BYTES_MAX,
    waitingMax: READS_WAITING_MAX,
    waitMs: ANSWER_TIMEOUT_MS,
    what: "reads",
  });

  constructor(private readonly entries: Collection<EntryRecord>) {}

  /** Reads the entries from a number on, without holes. */
  read<W extends Projection>(range: Range<W>): Promise<Tail<W>> {
    return this.#weighed({ ...range, most: range.limit }, () => this.#read(range));
  }

  /** Reads the entries with these numbers, the last ones first; `rest` are those that did not fit. */
  find<W extends Projection>(request: Sequences & { what: W }) {
    return this.#weighed({ ...request, most: request.sequences.length }, () => this.#find(request));
  }

  async #read<W extends Projection>({ logId, from, limit, what }: Range<W>): Promise<Tail<W>> {
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
  async #dense<W extends Projection>(range: Range<W>): Promise<Sequenced<Entry<W>>[]> {
    const { logId, from, limit, what } = range;
    const _id = idsFrom(logId, numberId(logId, from));
    const found = await this.#some({ logId, _id }, { limit, what, sort: { _id: 1 } });
    const sequences = gapsIn(found, range);
    if (sequences.length === 0) return found;
    // A scan can pass a number just before it is taken, and then see a later one. The later writer had
    // seen the number taken, so an entry that a second look does not find either is lost.
    const late = new Map<number, Sequenced<Entry<W>>>();
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

  async #find<W extends Projection>({ logId, sequences, what }: Sequences & { what: W }) {
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

  async #some<W extends Projection>(
    { logId, _id }: { logId: string; _id: Filter<EntryRecord>["_id"] },
    { limit, what, sort }: { limit: number; what: W; sort: { _id: 1 | -1 } },
  ): Promise<Sequenced<Entry<W>>[]> {
    const options = { sort, limit, batchSize: limit, singleBatch: true, projection: projectionOf(what) };
    const records = await this.entries.find({ _id } as Filter<EntryRecord>, options).toArray();
    const found = records.map((record) => numbered(record, what));
    const bytes = found.reduce((sum, { entry }) => sum + weightOf(entry), 0);
    this.#weights.note(logId, { what, entries: found.length, bytes });
    return found;
  }

  /** Runs a read when its expected weight has room beside the others. */
  #weighed<T>(
    request: { logId: string; what: Projection; most: number },
    read: () => Promise<T>,
  ): Promise<T> {
    const { logId, what, most } = request;
    const entries = Math.min(most, this.#weights.askable(logId, { what, bytes: 0 }));
    return this.#reads.run(entries * this.#weights.of(logId, what), () => withTimeout(read()));
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

export function numbered<W extends Projection>(record: EntryRecord, what: W): Sequenced<Entry<W>> {
  return { sequence: sequenceOf(record._id), entry: fromRecord(record, what) };
}

/** Returns the first numbers, at most `limit`, that are missing before the last one found. */
function gapsIn(
  found: readonly Sequenced<Entry<"head">>[],
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
 * Remembers the weight of each log's entries that were read last, to ask for just as many as fill a
 * slice. MongoDB never sends more than 16 MB at once.
 */
class Weights {
  readonly #bytes = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** Returns the expected weight of one of the log's entries, in bytes. */
  of(logId: string, what: Projection): number {
    return this.#bytes.get(`${logId} ${what}`) ?? UNKNOWN_BYTES[what];
  }

  /** Returns how many entries to ask for, so that they fill what is left of a slice. */
  askable(logId: string, { what, bytes }: { what: Projection; bytes: number }): number {
    const left = Math.ceil((SLICE_BYTES_MAX - bytes) / this.of(logId, what));
    return Math.max(1, Math.min(ASK_MAX, left));
  }

  note(logId: string, { what, entries, bytes }: { what: Projection; entries: number; bytes: number }): void {
    if (entries === 0) return;
    this.#bytes.set(`${logId} ${what}`, bytes / entries);
  }
}
