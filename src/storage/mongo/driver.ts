import {
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
  type UpdateFilter,
  type WithId,
  type WriteError,
} from "mongodb";
import { MemoryError, notWritable, unavailable } from "../../errors.js";
import { within } from "../within.js";

/**
 * Longest time that a caller waits. The driver's own limits add up to more for one call; after this time
 * the caller is told, and the call goes on until those limits end it.
 */
export const ANSWER_TIMEOUT_MS = 5_000;

/** Code of MongoDB's error for a full disk. */
const OUT_OF_DISK_SPACE = 14_031;

/** Waits for the database. @throws MemoryError `unavailable`, whatever the driver's error is. */
export async function withTimeout<T>(asking: Promise<T>): Promise<T> {
  try {
    return await within(ANSWER_TIMEOUT_MS, asking);
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    const cause = withoutDocuments(error);
    const isFull = error instanceof MongoServerError && error.code === OUT_OF_DISK_SPACE;
    throw isFull ? notWritable(cause) : unavailable("the database does not answer", cause);
  }
}

/** Removes documents from a failed bulk write's error: they are private texts, which must not be logged. */
function withoutDocuments(error: unknown): unknown {
  return error instanceof MongoBulkWriteError ? new Error(`${error.code}: ${error.message}`) : error;
}

/** Code of MongoDB's error for a unique key that is taken. */
const DUPLICATE_KEY = 11_000;

export function isTaken(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Documents that were there already, if an insert of several failed for nothing else; otherwise none. */
export function takenIn(error: unknown): readonly WriteError[] {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined) return [];
  const errors = [error.writeErrors].flat();
  return errors.every(({ code }) => code === DUPLICATE_KEY) ? errors : [];
}

/**
 * Number of attempts: of several concurrent inserts all but one may be refused, and find the document
 * next time.
 */
const ATTEMPTS_MAX = 3;

/**
 * Finds the document with this id, or inserts it. Both take one write, so that even a found document is
 * returned only when a majority holds it.
 */
export async function findOrInsert<T extends { readonly _id: string }>(
  collection: Collection<T>,
  { _id, ...fields }: T,
): Promise<WithId<T>> {
  const insert = { $setOnInsert: fields } as unknown as UpdateFilter<T>;
  for (let attempt = 1; ; attempt++) {
    try {
      const options = { upsert: true, returnDocument: "after" } as const;
      return (await collection.findOneAndUpdate({ _id } as Filter<T>, insert, options)) as WithId<T>;
    } catch (error) {
      if (!isTaken(error) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}
