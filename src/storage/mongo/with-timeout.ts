import { MongoBulkWriteError, MongoServerError } from "mongodb";
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
    throw isFull(error) ? notWritable(cause) : unavailable("the database does not answer", cause);
  }
}

function isFull(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === OUT_OF_DISK_SPACE;
}

/** Removes documents from a failed bulk write's error: they are private texts, which must not be logged. */
function withoutDocuments(error: unknown): unknown {
  return error instanceof MongoBulkWriteError ? new Error(`${error.code}: ${error.message}`) : error;
}
