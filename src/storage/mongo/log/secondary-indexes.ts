import type { Collection, Filter } from "mongodb";
import type { Sequences } from "../../../memory/ports/log.js";
import type {
  Expiring,
  Replacement,
  SecondaryIndexes,
  SupersedingOrExpiring,
  VersionAt,
} from "../../../memory/ports/secondary-indexes.js";
import { withTimeout } from "../driver.js";
import { idsFrom, numberId, parseNumberId, sequenceOf } from "../ids.js";
import { lastNumber } from "./log.js";
import type { EntryRecord } from "./record.js";

type Request<M extends keyof SecondaryIndexes> = Parameters<SecondaryIndexes[M]>[0];

/** Versions of several memories that one answer may have. */
const VERSIONS_MAX = 4_096;

/** The indexes of the collection of entries. */
export class MongoSecondaryIndexes implements SecondaryIndexes {
  constructor(private readonly entries: Collection<EntryRecord>) {}

  async locate({ logId, id }: Request<"locate">): Promise<number | undefined> {
    const newest = { sort: { _id: -1 }, projection: { op: 1 } } as const;
    const last = await withTimeout(this.entries.findOne({ _id: idsFrom(logId), id }, newest));
    return last?.op === "store" ? sequenceOf(last._id) : undefined;
  }

  async findByOperation({ logId, opIds }: Request<"findByOperation">): Promise<Map<string, number>> {
    // A new memory has the id of the operation that stored it.
    const stored = await this.#lastNumbers(logId, "id", opIds);
    const rest = opIds.filter((opId) => !stored.has(opId));
    return new Map([...stored, ...(await this.#lastNumbers(logId, "operation", rest))]);
  }

  findByExternalId({ logId, externalId }: Request<"findByExternalId">): Promise<number | undefined> {
    return lastNumber(this.entries, { _id: idsFrom(logId), externalId });
  }

  async findReplacements({ logId, sequences }: Sequences): Promise<Replacement[]> {
    if (sequences.length === 0) return [];
    const filter = { _id: idsFrom(logId), follows: { $in: [...sequences] } } as Filter<EntryRecord>;
    const projection = { id: 1, replaces: 1, follows: 1, target: 1 } as const;
    const asked = new Set(sequences);
    const found = await withTimeout(this.entries.find(filter, { projection }).toArray());
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
  }: Request<"listSupersedingAndExpiring">): Promise<SupersedingOrExpiring[]> {
    const filter = { supersedesOrExpires: true, _id: idsFrom(logId, numberId(logId, from)) } as const;
    const options = { sort: { _id: 1 }, limit, projection: { supersedes: 1, expiresAtMs: 1 } } as const;
    const found = await withTimeout(this.entries.find(filter, options).toArray());
    return found.map(({ _id, ...what }) => ({ sequence: sequenceOf(_id), ...what }));
  }

  async expired({ untilMs, after, limit }: Request<"expired">): Promise<Expiring[]> {
    const due = { expiresAtMs: { $lte: untilMs } };
    const filter = after === undefined ? due : { $and: [due, afterExpiring(after)] };
    const options = { sort: { expiresAtMs: 1, _id: 1 }, limit, projection: { expiresAtMs: 1 } } as const;
    const found = await withTimeout(this.entries.find(filter, options).toArray());
    return found.map(({ _id, expiresAtMs }) => ({ ...parseNumberId(_id), expiresAtMs: Number(expiresAtMs) }));
  }

  async unerased({ logId, after, limit }: Request<"unerased">): Promise<VersionAt[]> {
    const ofLog = logId === undefined ? {} : { _id: idsFrom(logId) };
    const filter = { unerased: { $exists: true }, ...ofLog, ...(after && unerasedAfter(after)) } as const;
    const options = { sort: { unerased: 1, _id: 1 }, limit, projection: { unerased: 1 } } as const;
    for (;;) {
      const found = await withTimeout(this.entries.find(filter, options).toArray());
      const forgotten = found.map(({ _id, unerased }) => {
        const version = { logId: parseNumberId(_id).logId, sequence: Number(unerased) };
        return { by: _id, id: numberId(version.logId, version.sequence), version };
      });
      const isLiving = { _id: { $in: forgotten.map(({ id }) => id) }, op: "store" };
      const left = await withTimeout(this.entries.find(isLiving, { projection: { _id: 1 } }).toArray());
      const living = new Set(left.map(({ _id }) => _id));
      // The copy of a log has entries that replace or delete what was erased before they were copied.
      const others = forgotten.filter(({ id }) => !living.has(id)).map(({ by }) => by);
      if (others.length === 0) return forgotten.map(({ version }) => version);
      await withTimeout(this.entries.updateMany({ _id: { $in: others } }, { $unset: { unerased: "" } }));
    }
  }

  /** Finds the last number of a log for each of these values of a field. */
  async #lastNumbers(
    logId: string,
    field: "id" | "operation",
    values: readonly string[],
  ): Promise<Map<string, number>> {
    const _id = idsFrom(logId);
    const some = { _id, [field]: { $in: [...values] } } as Filter<EntryRecord>;
    const options = { projection: { [field]: 1 }, limit: VERSIONS_MAX } as const;
    const found = await withTimeout(this.entries.find(some, options).toArray());
    const last = new Map<string, number>();
    // Memories that were updated very often have too many versions for one answer: each is asked for by itself.
    if (found.length === VERSIONS_MAX) {
      for (const value of values) {
        const number = await lastNumber(this.entries, { _id, [field]: value });
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
}

function howOf({ replaces, target }: EntryRecord, followed: number): Replacement["how"] {
  if (target === followed) return "deleted";
  return replaces === followed ? "replaced" : "superseded";
}

function afterExpiring({ logId, sequence, expiresAtMs }: Expiring): Filter<EntryRecord> {
  return {
    $or: [{ expiresAtMs: { $gt: expiresAtMs } }, { expiresAtMs, _id: { $gt: numberId(logId, sequence) } }],
  };
}

function unerasedAfter({ logId, sequence }: VersionAt): Filter<EntryRecord> {
  return {
    $or: [{ unerased: { $gt: sequence } }, { unerased: sequence, _id: { $gte: idsFrom(logId).$lt } }],
  };
}
