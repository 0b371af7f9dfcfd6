import {
  type Collection,
  type Filter,
  MongoBulkWriteError,
  MongoServerError,
  type UpdateFilter,
  type WithId,
  type WriteError,
} from "mongodb";

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
