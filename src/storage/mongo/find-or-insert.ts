import { type Collection, type Filter, MongoServerError, type UpdateFilter, type WithId } from "mongodb";

/** The code of a MongoDB error: a unique key is taken. */
export const DUPLICATE_KEY = 11_000;
/** Of several that insert at once all but one may be refused; the next time they find what that one wrote. */
const ATTEMPTS_MAX = 3;

/**
 * The document with this id, which is inserted if there is none. One write in either case, so that even
 * what was found is answered only when a majority holds it.
 */
export async function findOrInsert<T extends { readonly _id: string }>(
  collection: Collection<T>,
  { _id, ...fields }: T,
): Promise<WithId<T>> {
  const insert = { $setOnInsert: fields } as unknown as UpdateFilter<T>;
  for (let attempt = 1; ; attempt++) {
    try {
      const options = { upsert: true, returnDocument: "after" } as const;
      const found = await collection.findOneAndUpdate({ _id } as Filter<T>, insert, options);
      if (found !== null) return found;
      throw new Error("an upsert answered nothing");
    } catch (error) {
      const refused = error instanceof MongoServerError && error.code === DUPLICATE_KEY;
      if (!refused || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}
