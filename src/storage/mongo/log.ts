import { type Collection, type Db, MongoBulkWriteError } from "mongodb";
import { FIRST_EDITION } from "../../memory/edition.js";
import type { Head, Log, Measured, Named, Numbered, Scope, Stored } from "../../memory/log.js";
import { lost } from "../intact.js";
import { answer } from "./answer.js";
import { DUPLICATE_KEY } from "./find-or-insert.js";
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
import { type EntryRecord, fromRecord, toRecord } from "./record.js";

type Several = Parameters<Log["erase"]>[0];

/** The log in MongoDB: one document an entry, one a name. */
export class MongoLog implements Log {
  readonly #names: Collection<NameRecord>;
  readonly #entries: Collection<EntryRecord>;

  constructor(db: Db) {
    this.#names = db.collection("namespaces");
    this.#entries = db.collection("log");
  }

  /** To be called before the first use. */
  async createIndexes(): Promise<void> {
    await this.#entries.createIndex({ id: 1 });
  }

  find(scope: Scope): Promise<string | undefined> {
    return answer(findName(this.#names, scope));
  }

  create(scope: Scope, edition = FIRST_EDITION): Promise<string> {
    return answer(findOrCreateName(this.#names, scope, edition));
  }

  rename(scope: Scope, of: { from: string; to: string }): Promise<void> {
    return answer(renameName(this.#names, scope, of));
  }

  names(of: { after?: Scope | undefined; limit: number }): Promise<Named[]> {
    return answer(allNames(this.#names, of));
  }

  retire(scope: Scope, incarnation: string): Promise<void> {
    return answer(removeName(this.#names, scope, incarnation));
  }

  list(of: Parameters<Log["list"]>[0]): Promise<Head[]> {
    return answer(listNames(this.#names, of));
  }

  async measure({ incarnation }: { incarnation: string }): Promise<Measured> {
    const $match = { _id: idsFrom(incarnation), op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const summing = this.#entries.aggregate<Measured>([{ $match }, { $group }]).toArray();
    const { memories, bytes } = (await answer(summing))[0] ?? { memories: 0, bytes: 0 };
    return { memories, bytes: Number(bytes) };
  }

  async incarnations({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      const next = await answer(this.#next(last));
      if (next === undefined) break;
      last = next;
      found.push(next);
    }
    return found;
  }

  append({ incarnation, from, entries }: Parameters<Log["append"]>[0]): Promise<number> {
    const records = entries.map((entry, i) => toRecord(numberId(incarnation, from + i), entry));
    return answer(this.#insert(records));
  }

  read(range: Parameters<Log["read"]>[0]): Promise<Numbered[]> {
    return answer(this.#read(range));
  }

  async last(incarnation: string): Promise<Numbered | undefined> {
    const newest = { sort: { _id: -1 } } as const;
    const record = await answer(this.#entries.findOne({ _id: idsFrom(incarnation) }, newest));
    return record ? numbered(record) : undefined;
  }

  async fetch({ incarnation, sequences }: Several): Promise<Numbered<Stored>[]> {
    const found = await answer(this.#find(incarnation, sequences));
    return found.filter((each): each is Numbered<Stored> => each.entry.op === "store");
  }

  async locate({ incarnation, id }: { incarnation: string; id: string }): Promise<number | undefined> {
    const filter = { _id: idsFrom(incarnation), id, op: "store" };
    const record = await answer(this.#entries.findOne(filter, { projection: { _id: 1 } }));
    return record ? sequenceOf(record._id) : undefined;
  }

  async erase({ incarnation, sequences }: Several): Promise<void> {
    const $in = sequences.map((sequence) => numberId(incarnation, sequence));
    const gone = { text: "", metadata: "", vector: "", windows: "", bytes: "" } as const;
    await answer(
      this.#entries.updateMany({ _id: { $in }, op: "store" }, { $set: { op: "erased" }, $unset: gone }),
    );
  }

  /** Behind all entries of an incarnation stands the first of the next. */
  async #next(incarnation: string): Promise<string | undefined> {
    const behind = incarnation === "" ? {} : { _id: { $gte: idsFrom(incarnation).$lt } };
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

  async #read({ incarnation, from, limit }: Parameters<Log["read"]>[0]): Promise<Numbered[]> {
    const _id = idsFrom(incarnation, numberId(incarnation, from));
    const records = await this.#entries
      .find({ _id }, { sort: { _id: 1 }, limit, batchSize: limit })
      .toArray();
    const found = records.map(numbered);
    const missing = gapsIn(found, { from, limit });
    if (missing.length === 0) return found;
    // A scan can pass a number just before it is taken, and then see a later one. Whoever took the later
    // one had seen the number taken: what a second look does not find either is lost.
    const late = new Map((await this.#find(incarnation, missing)).map((each) => [each.sequence, each]));
    const filled = missing.map(
      (sequence) => late.get(sequence) ?? { sequence, entry: lost("it is missing") },
    );
    return [...found, ...filled].sort((a, b) => a.sequence - b.sequence).slice(0, limit);
  }

  async #find(incarnation: string, sequences: readonly number[]): Promise<Numbered[]> {
    const $in = sequences.map((sequence) => numberId(incarnation, sequence));
    return (await this.#entries.find({ _id: { $in } }, { batchSize: $in.length }).toArray()).map(numbered);
  }
}

function numbered(record: EntryRecord): Numbered {
  return { sequence: sequenceOf(record._id), entry: fromRecord(record) };
}

/** The first numbers, at most `limit`, that are missing before the last one found. */
function gapsIn(found: readonly Numbered[], { from, limit }: { from: number; limit: number }): number[] {
  const there = new Set(found.map(({ sequence }) => sequence));
  const last = found.at(-1)?.sequence ?? from;
  const missing: number[] = [];
  for (let sequence = from; sequence < last && missing.length < limit; sequence++) {
    if (!there.has(sequence)) missing.push(sequence);
  }
  return missing;
}

/** Where an ordered insert stopped because the number is taken; what came before is kept. */
function takenIn(error: unknown): number | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined;
  const [first] = [error.writeErrors].flat();
  const kept = error.result.getWriteConcernError() === undefined;
  return kept && first?.code === DUPLICATE_KEY ? first.index : undefined;
}
