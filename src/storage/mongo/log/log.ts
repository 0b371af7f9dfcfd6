import { type Collection, type Db, MongoBulkWriteError } from "mongodb";
import { inSlices } from "../../../memory/pacing/bounds.js";
import { FIRST_GENERATION } from "../../../memory/ports/generation.js";
import {
  type Entry,
  type Expiring,
  type Fetched,
  type Head,
  isMemory,
  type Log,
  type Measured,
  type Named,
  type Numbered,
  type Range,
  type Scope,
  type Several,
  type Special,
  type Successor,
  type Tail,
  type What,
} from "../../../memory/ports/log.js";
import { DUPLICATE_KEY } from "../find-or-insert.js";
import { withTimeout } from "../with-timeout.js";
import { Counted } from "./counted.js";
import {
  allNames,
  findName,
  findOrCreateName,
  findScope,
  indexNames,
  listNames,
  type NameRecord,
  removeName,
  renameName,
} from "./names.js";
import { idsFrom, numberId, sequenceOf } from "./number.js";
import { EntryReader, numbered } from "./reader.js";
import { type EntryRecord, projectionOf, toRecord } from "./record.js";
import {
  eraseAll,
  findHolder,
  findSuccessors,
  indexRelations,
  lastNumbers,
  listExpired,
  listSpecial,
  listUnerased,
} from "./relations.js";

/** Index for counting: each entry's number, kind and bytes. */
const COUNTED = { _id: 1, op: 1, bytes: 1 } as const;
/** Time limit of one count within MongoDB. */
const COUNT_LIMIT_MS = 4_000;

/** Log in MongoDB: a document for each entry, and one for each name. */
export class MongoLog implements Log {
  readonly #names: Collection<NameRecord>;
  readonly #entries: Collection<EntryRecord>;
  readonly #reader: EntryReader;
  readonly #counted = new Counted({ count: (range) => withTimeout(this.#count(range)) });

  constructor(db: Db) {
    this.#names = db.collection("namespaces");
    this.#entries = db.collection("log");
    this.#reader = new EntryReader(this.#entries);
  }

  /** Creates the indexes; must be called before the first use. */
  async createIndexes(): Promise<void> {
    await this.#entries.createIndex({ id: 1, _id: -1 });
    await indexRelations(this.#entries);
    await indexNames(this.#names);
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

  scopeOf(logId: string): Promise<Scope | undefined> {
    return withTimeout(findScope(this.#names, logId));
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
    return this.#reader.read(range);
  }

  async last(logId: string): Promise<Numbered<Entry<"head">> | undefined> {
    const newest = { sort: { _id: -1 }, projection: projectionOf("head") } as const;
    const record = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId) }, newest));
    return record ? numbered(record, "head") : undefined;
  }

  async fetch<W extends What>(of: Several & { what: W }): Promise<Fetched<W>> {
    const { entries, rest } = await this.#reader.find(of);
    return { found: entries.filter(isMemory<W>), rest };
  }

  async locate({ logId, id }: { logId: string; id: string }): Promise<number | undefined> {
    const newest = { sort: { _id: -1 }, projection: { op: 1 } } as const;
    const last = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId), id }, newest));
    return last?.op === "store" ? sequenceOf(last._id) : undefined;
  }

  async written({ logId, opIds }: Parameters<Log["written"]>[0]): Promise<Map<string, number>> {
    // A new memory has the id of the operation that stored it.
    const stored = await withTimeout(lastNumbers(this.#entries, { logId, field: "id", values: opIds }));
    const values = opIds.filter((opId) => !stored.has(opId));
    const others = await withTimeout(lastNumbers(this.#entries, { logId, field: "operation", values }));
    return new Map([...stored, ...others]);
  }

  holder(of: { logId: string; externalId: string }): Promise<number | undefined> {
    return withTimeout(findHolder(this.#entries, of));
  }

  successors(of: Several): Promise<Successor[]> {
    return withTimeout(findSuccessors(this.#entries, of));
  }

  special(of: Parameters<Log["special"]>[0]): Promise<Special[]> {
    return withTimeout(listSpecial(this.#entries, of));
  }

  expired(of: Parameters<Log["expired"]>[0]): Promise<Expiring[]> {
    return withTimeout(listExpired(this.#entries, of));
  }

  unerased(limit: number): Promise<{ logId: string; sequence: number }[]> {
    return withTimeout(listUnerased(this.#entries, limit));
  }

  async erase({ logId, sequences }: Several): Promise<void> {
    this.#counted.forget(logId, sequences);
    await withTimeout(eraseAll(this.#entries, { logId, sequences })).finally(() =>
      this.#counted.forget(logId, sequences),
    );
  }

  async #count({ logId, from, to }: { logId: string; from: number; to: number }) {
    const _id = { $gte: numberId(logId, from), $lt: numberId(logId, to) };
    const $match = { _id, op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const options = { hint: COUNTED, maxTimeMS: COUNT_LIMIT_MS };
    const [found] = await this.#entries.aggregate<Measured>([{ $match }, { $group }], options).toArray();
    return { memories: found?.memories ?? 0, bytes: Number(found?.bytes ?? 0) };
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
