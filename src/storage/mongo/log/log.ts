import { randomBytes } from "node:crypto";
import { type Collection, type Db, type Filter, MongoBulkWriteError } from "mongodb";
import { inSlices } from "../../../memory/ports/bounds.js";
import {
  type Entry,
  type Expiring,
  type Fetched,
  isMemory,
  type Listed,
  type Log,
  type Measured,
  type Named,
  type NamespaceHead,
  type Projection,
  type Range,
  type Replacement,
  type Scope,
  type Sequenced,
  type Sequences,
  type SupersedingOrExpiring,
  type Tail,
} from "../../../memory/ports/log.js";
import { FIRST_MODEL_VERSION, inModelVersion } from "../../../memory/ports/model-version.js";
import { DUPLICATE_KEY, findOrInsert } from "../find-or-insert.js";
import { withTimeout } from "../with-timeout.js";
import { Counted } from "./counted.js";
import { afterAll, idsFrom, nameId, numberId, parseNumberId, scopeIn, sequenceOf } from "./number.js";
import { EntryReader, numbered } from "./reader.js";
import { type EntryRecord, projectionOf, toRecord } from "./record.js";

interface NameRecord {
  /** Id as `nameId` makes it. */
  readonly _id: string;
  readonly logId: string;
}

/** Index for counting: each entry's number, kind and bytes. */
const COUNTED = { _id: 1, op: 1, bytes: 1 } as const;
/** Time limit of one count within MongoDB. */
const COUNT_LIMIT_MS = 4_000;
/** Fields that some entries have, each with an index of only those. */
const INDEXED = ["follows", "externalId", "operation", "special"] as const;
/** Versions of several memories that one answer may have. */
const VERSIONS_MAX = 4_096;
const NEWEST = { sort: { _id: -1 }, projection: { _id: 1 } } as const;

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
    const having = (field: string) => ({ partialFilterExpression: { [field]: { $exists: true } } });
    await this.#entries.createIndex({ id: 1, _id: -1 });
    for (const field of INDEXED) await this.#entries.createIndex({ [field]: 1, _id: -1 }, having(field));
    await this.#entries.createIndex({ expiresAt: 1, _id: 1 }, having("expiresAt"));
    await this.#entries.createIndex({ unerased: 1, _id: 1 }, having("unerased"));
    await this.#names.createIndex({ logId: 1 });
    // Counting reads only this index, because a document is up to 1.6 MB.
    await this.#entries.createIndex(COUNTED);
  }

  async find(scope: Scope): Promise<string | undefined> {
    return (await withTimeout(this.#names.findOne({ _id: nameId(scope) })))?.logId;
  }

  /** Finds a name's log or creates one; concurrent calls all get the same log. */
  async create(scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> {
    const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
    return (await withTimeout(findOrInsert(this.#names, { _id: nameId(scope), logId }))).logId;
  }

  async rename(scope: Scope, { from, to }: { from: string; to: string }): Promise<void> {
    await withTimeout(this.#names.updateOne({ _id: nameId(scope), logId: from }, { $set: { logId: to } }));
  }

  async scopeOf(logId: string): Promise<Scope | undefined> {
    const found = await withTimeout(this.#names.findOne({ logId }, { projection: { _id: 1 } }));
    return found === null ? undefined : scopeIn(found._id);
  }

  async names({ after, limit }: { after?: Scope | undefined; limit: number }): Promise<Named[]> {
    const behind = after ? { _id: { $gt: nameId(after) } } : {};
    const found = await withTimeout(this.#names.find(behind, { sort: { _id: 1 }, limit }).toArray());
    return found.map(({ _id, logId }) => ({ scope: scopeIn(_id), logId }));
  }

  async retire(scope: Scope, logId: string): Promise<void> {
    await withTimeout(this.#names.deleteOne({ _id: nameId(scope), logId }));
  }

  async list({ accountId, after = "", prefix = "", limit }: Listed): Promise<NamespaceHead[]> {
    const $gte = nameId({ accountId, namespace: prefix });
    const _id = { $gte, $gt: nameId({ accountId, namespace: after }), $lt: afterAll($gte) };
    const found = await withTimeout(this.#names.find({ _id }, { sort: { _id: 1 }, limit }).toArray());
    return found.map(({ _id, logId }) => ({ namespace: scopeIn(_id).namespace, logId }));
  }

  /**
   * Counts what a log holds. In a log of over 65,536 entries, the count may include what another process
   * erased within the last minute.
   */
  async measure({ logId }: { logId: string }): Promise<Measured> {
    return this.#counted.measure(logId, (await this.#lastNumber({ _id: idsFrom(logId) })) ?? 0);
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      // The first entry after those of the log before.
      const behind = last === "" ? {} : { _id: { $gte: idsFrom(last).$lt } };
      const first = { sort: { _id: 1 }, projection: { _id: 1 } } as const;
      const next = await withTimeout(this.#entries.findOne(behind, first));
      if (next === null) break;
      last = parseNumberId(next._id).logId;
      found.push(last);
    }
    return found;
  }

  async append({ logId, from, entries }: Parameters<Log["append"]>[0]): Promise<number> {
    let inserted = 0;
    // Each slice must be answered in time.
    for (const slice of inSlices(entries)) {
      const first = from + inserted;
      const records = slice.map((entry, i) => toRecord(numberId(logId, first + i), entry));
      const appended = await withTimeout(this.#insert(records));
      inserted += appended;
      if (appended < slice.length) break;
    }
    return inserted;
  }

  read<W extends Projection>(range: Range<W>): Promise<Tail<W>> {
    return this.#reader.read(range);
  }

  async last(logId: string): Promise<Sequenced<Entry<"head">> | undefined> {
    const newest = { sort: { _id: -1 }, projection: projectionOf("head") } as const;
    const record = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId) }, newest));
    return record ? numbered(record, "head") : undefined;
  }

  async fetch<W extends Projection>(request: Sequences & { what: W }): Promise<Fetched<W>> {
    const { entries, rest } = await this.#reader.find(request);
    return { found: entries.filter(isMemory<W>), rest };
  }

  async locate({ logId, id }: { logId: string; id: string }): Promise<number | undefined> {
    const newest = { sort: { _id: -1 }, projection: { op: 1 } } as const;
    const last = await withTimeout(this.#entries.findOne({ _id: idsFrom(logId), id }, newest));
    return last?.op === "store" ? sequenceOf(last._id) : undefined;
  }

  async findByOperation({
    logId,
    opIds,
  }: Parameters<Log["findByOperation"]>[0]): Promise<Map<string, number>> {
    // A new memory has the id of the operation that stored it.
    const stored = await this.#lastNumbers({ logId, field: "id", values: opIds });
    const values = opIds.filter((opId) => !stored.has(opId));
    return new Map([...stored, ...(await this.#lastNumbers({ logId, field: "operation", values }))]);
  }

  findByExternalId({
    logId,
    externalId,
  }: {
    logId: string;
    externalId: string;
  }): Promise<number | undefined> {
    return this.#lastNumber({ _id: idsFrom(logId), externalId });
  }

  async findReplacements({ logId, sequences }: Sequences): Promise<Replacement[]> {
    if (sequences.length === 0) return [];
    const filter = { _id: idsFrom(logId), follows: { $in: [...sequences] } } as Filter<EntryRecord>;
    const projection = { id: 1, replaces: 1, follows: 1, target: 1 } as const;
    const asked = new Set(sequences);
    const found = await withTimeout(this.#entries.find(filter, { projection }).toArray());
    return found.flatMap((record) => {
      const sequence = sequenceOf(record._id);
      const targets = (record.follows ?? []).filter((target) => asked.has(target));
      return targets.map((target) => ({
        target,
        sequence,
        how: howOf(record, target),
        id: record.id ?? "",
      }));
    });
  }

  async listSupersedingAndExpiring({
    logId,
    from,
    limit,
  }: Parameters<Log["listSupersedingAndExpiring"]>[0]): Promise<SupersedingOrExpiring[]> {
    const filter = { special: true, _id: idsFrom(logId, numberId(logId, from)) } as const;
    const options = { sort: { _id: 1 }, limit, projection: { supersedes: 1, expiresAt: 1 } } as const;
    const found = await withTimeout(this.#entries.find(filter, options).toArray());
    return found.map(({ _id, supersedes, expiresAt }) => ({
      sequence: sequenceOf(_id),
      ...(supersedes && { supersedes }),
      ...(expiresAt && { expiresAtMs: expiresAt.getTime() }),
    }));
  }

  async expired({ untilMs, after, limit }: Parameters<Log["expired"]>[0]): Promise<Expiring[]> {
    const due = { expiresAt: { $lte: new Date(untilMs) } };
    const filter = after === undefined ? due : { $and: [due, behind(after)] };
    const options = { sort: { expiresAt: 1, _id: 1 }, limit, projection: { expiresAt: 1 } } as const;
    const found = await withTimeout(this.#entries.find(filter, options).toArray());
    return found.map(({ _id, expiresAt }) => ({
      ...parseNumberId(_id),
      expiresAtMs: Number(expiresAt?.getTime()),
    }));
  }

  async unerased(limit: number): Promise<{ logId: string; sequence: number }[]> {
    const filter = { unerased: { $exists: true } } as const;
    const options = { limit, projection: { unerased: 1 } } as const;
    const found = await withTimeout(this.#entries.find(filter, options).toArray());
    return found.map(({ _id, unerased }) => ({
      logId: parseNumberId(_id).logId,
      sequence: Number(unerased),
    }));
  }

  async erase({ logId, sequences }: Sequences): Promise<void> {
    const _id = { $in: sequences.map((sequence) => numberId(logId, sequence)) };
    const sums = { "sums.text": "", "sums.vectors": "", "sums.label": "", "sums.event": "" } as const;
    const content = { text: "", metadata: "", vector: "", windows: "", bytes: "", ...sums } as const;
    const gone = { ...content, externalId: "", expiresAt: "", eventAt: "" } as const;
    const $set = { op: "erased" } as const;
    // What a memory superseded stays so.
    const superseding = { _id, op: "store", supersedes: { $exists: true } };
    const replacing = { unerased: { $in: [...sequences] }, _id: idsFrom(logId) };
    this.#counted.forget(logId, sequences);
    const erasing = this.#entries.bulkWrite([
      { updateMany: { filter: superseding, update: { $set, $unset: gone } } },
      { updateMany: { filter: { _id, op: "store" }, update: { $set, $unset: { ...gone, special: "" } } } },
      { updateMany: { filter: replacing, update: { $unset: { unerased: "" } } } },
    ]);
    await withTimeout(erasing).finally(() => this.#counted.forget(logId, sequences));
  }

  async #count({ logId, from, to }: { logId: string; from: number; to: number }) {
    const _id = { $gte: numberId(logId, from), $lt: numberId(logId, to) };
    const $match = { _id, op: "store" };
    const $group = { _id: null, memories: { $sum: 1 }, bytes: { $sum: "$bytes" } };
    const options = { hint: COUNTED, maxTimeMS: COUNT_LIMIT_MS };
    const [found] = await this.#entries.aggregate<Measured>([{ $match }, { $group }], options).toArray();
    return { memories: found?.memories ?? 0, bytes: Number(found?.bytes ?? 0) };
  }

  /** Finds the last number of a log for each of these values of a field. */
  async #lastNumbers({
    logId,
    field,
    values,
  }: {
    logId: string;
    field: "id" | "operation";
    values: readonly string[];
  }): Promise<Map<string, number>> {
    const _id = idsFrom(logId);
    const some = { _id, [field]: { $in: [...values] } } as Filter<EntryRecord>;
    const options = { projection: { [field]: 1 }, limit: VERSIONS_MAX } as const;
    const found = await withTimeout(this.#entries.find(some, options).toArray());
    const last = new Map<string, number>();
    // Memories that were updated very often have too many versions for one answer: each is asked for by itself.
    if (found.length === VERSIONS_MAX) {
      for (const value of values) {
        const number = await this.#lastNumber({ _id, [field]: value });
        if (number !== undefined) last.set(value, number);
      }
      return last;
    }
    for (const record of found) {
      const value = record[field] as string;
      last.set(value, Math.max(last.get(value) ?? 0, sequenceOf(record._id)));
    }
    return last;
  }

  async #lastNumber(filter: Filter<EntryRecord>): Promise<number | undefined> {
    const found = await withTimeout(this.#entries.findOne(filter, NEWEST));
    return found === null ? undefined : sequenceOf(found._id);
  }

  /** Inserts in order; of entries up to one whose number is taken, the earlier ones are kept. */
  async #insert(records: EntryRecord[]): Promise<number> {
    try {
      return (await this.#entries.insertMany(records, { ordered: true })).insertedCount;
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError)) throw error;
      const [first] = [error.writeErrors].flat();
      const isAcknowledged = error.result.getWriteConcernError() === undefined;
      if (isAcknowledged && first?.code === DUPLICATE_KEY) return first.index;
      throw error;
    }
  }
}

function howOf({ replaces, target }: EntryRecord, followed: number): Replacement["how"] {
  if (target === followed) return "deleted";
  return replaces === followed ? "replaced" : "superseded";
}

function behind({ logId, sequence, expiresAtMs }: Expiring): Filter<EntryRecord> {
  const expiresAt = new Date(expiresAtMs);
  return { $or: [{ expiresAt: { $gt: expiresAt } }, { expiresAt, _id: { $gt: numberId(logId, sequence) } }] };
}
