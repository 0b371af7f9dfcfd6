import type { Collection, Filter } from "mongodb";
import type { Expiring, Log, Several, Special, Successor } from "../../../memory/ports/log.js";
import { idsFrom, numberId, sequenceOf } from "./number.js";
import type { EntryRecord } from "./record.js";

/** Fields that some entries have, each with an index of only those. */
const INDEXED = ["follows", "externalId", "operation", "special"] as const;

type Entries = Collection<EntryRecord>;

/** Creates the indexes of what entries do to others and of what they say about themselves. */
export async function indexRelations(entries: Entries): Promise<void> {
  const having = (field: string) => ({ partialFilterExpression: { [field]: { $exists: true } } });
  for (const field of INDEXED) await entries.createIndex({ [field]: 1, _id: -1 }, having(field));
  await entries.createIndex({ expiresAt: 1, _id: 1 }, having("expiresAt"));
  await entries.createIndex({ unerased: 1, _id: 1 }, having("unerased"));
}

/** Finds the number of the last memory with an external id, if that is not erased. */
export async function findHolder(
  entries: Entries,
  { logId, externalId }: { logId: string; externalId: string },
): Promise<number | undefined> {
  return lastNumber(entries, { _id: idsFrom(logId), externalId });
}

/** Finds the last number of a log for each of these values of a field. */
export async function lastNumbers(
  entries: Entries,
  { logId, field, values }: { logId: string; field: "id" | "operation"; values: readonly string[] },
): Promise<Map<string, number>> {
  const _id = idsFrom(logId);
  // One question each: a memory may have any number of earlier versions, and the index has the last one first.
  const found = await Promise.all(
    values.map(async (value) => [value, await lastNumber(entries, { _id, [field]: value })] as const),
  );
  return new Map(found.filter((each): each is [string, number] => each[1] !== undefined));
}

/** Finds the last number of a log that fits a filter. */
async function lastNumber(entries: Entries, filter: Filter<EntryRecord>): Promise<number | undefined> {
  const found = await entries.findOne(filter, { sort: { _id: -1 }, projection: { _id: 1 } });
  return found === null ? undefined : sequenceOf(found._id);
}

/** Finds the entries that replaced, superseded or deleted these memories. */
export async function findSuccessors(entries: Entries, { logId, sequences }: Several): Promise<Successor[]> {
  if (sequences.length === 0) return [];
  const filter = { _id: idsFrom(logId), follows: { $in: [...sequences] } } as Filter<EntryRecord>;
  const projection = { id: 1, replaces: 1, follows: 1, target: 1 } as const;
  const asked = new Set(sequences);
  const found = await entries.find(filter, { projection }).toArray();
  return found.flatMap((record) =>
    (record.follows ?? [])
      .filter((target) => asked.has(target))
      .map((target) => ({
        target,
        sequence: sequenceOf(record._id),
        how: howOf(record, target),
        id: record.id ?? "",
      })),
  );
}

function howOf({ replaces, target }: EntryRecord, followed: number): Successor["how"] {
  if (target === followed) return "deleted";
  return replaces === followed ? "replaced" : "superseded";
}

/** Lists the numbers of a log that supersede memories, or expire. */
export async function listSpecial(
  entries: Entries,
  { logId, from, limit }: Parameters<Log["special"]>[0],
): Promise<Special[]> {
  const filter = { special: true, _id: idsFrom(logId, numberId(logId, from)) } as const;
  const projection = { supersedes: 1, expiresAt: 1 } as const;
  const found = await entries.find(filter, { sort: { _id: 1 }, limit, projection }).toArray();
  return found.map(({ _id, supersedes, expiresAt }) => ({
    sequence: sequenceOf(_id),
    ...(supersedes && { supersedes }),
    ...(expiresAt && { expiresAtMs: expiresAt.getTime() }),
  }));
}

/** Lists the memories that expire up to a time. */
export async function listExpired(
  entries: Entries,
  { untilMs, after, limit }: Parameters<Log["expired"]>[0],
): Promise<Expiring[]> {
  const due = { expiresAt: { $lte: new Date(untilMs) } };
  const filter = after === undefined ? due : { $and: [due, behind(after)] };
  const projection = { expiresAt: 1 } as const;
  const found = await entries.find(filter, { sort: { expiresAt: 1, _id: 1 }, limit, projection }).toArray();
  return found.map(({ _id, expiresAt }) => ({ ...placeOf(_id), expiresAtMs: Number(expiresAt?.getTime()) }));
}

function behind({ logId, sequence, expiresAtMs }: Expiring): Filter<EntryRecord> {
  const expiresAt = new Date(expiresAtMs);
  return { $or: [{ expiresAt: { $gt: expiresAt } }, { expiresAt, _id: { $gt: numberId(logId, sequence) } }] };
}

/** Lists memories that were replaced and are not erased yet. */
export async function listUnerased(
  entries: Entries,
  limit: number,
): Promise<{ logId: string; sequence: number }[]> {
  const filter = { unerased: { $exists: true } } as const;
  const found = await entries.find(filter, { limit, projection: { unerased: 1 } }).toArray();
  return found.map(({ _id, unerased }) => ({ logId: placeOf(_id).logId, sequence: Number(unerased) }));
}

/** Erases memories, and notes that those which replaced them have nothing left to erase. */
export async function eraseAll(entries: Entries, { logId, sequences }: Several): Promise<void> {
  const _id = { $in: sequences.map((sequence) => numberId(logId, sequence)) };
  const sums = { "sums.text": "", "sums.vectors": "", "sums.label": "" } as const;
  const content = { text: "", metadata: "", vector: "", windows: "", bytes: "", ...sums } as const;
  const gone = { ...content, externalId: "", expiresAt: "" } as const;
  const $set = { op: "erased" } as const;
  const unerased = { $in: [...sequences] };
  await entries.bulkWrite([
    // What it superseded stays so.
    {
      updateMany: {
        filter: { _id, op: "store", supersedes: { $exists: true } },
        update: { $set, $unset: gone },
      },
    },
    { updateMany: { filter: { _id, op: "store" }, update: { $set, $unset: { ...gone, special: "" } } } },
    { updateMany: { filter: { unerased, _id: idsFrom(logId) }, update: { $unset: { unerased: "" } } } },
  ]);
}

function placeOf(id: string): { logId: string; sequence: number } {
  return { logId: id.split(":", 1)[0] as string, sequence: sequenceOf(id) };
}
