import { MongoBulkWriteError, MongoServerError } from "mongodb";
import { MemoryError, notWritable, unavailable } from "../../errors.js";
import { within } from "../within.js";

/**
 * What the driver's own limits add up to for one call is more than a caller should wait: after this
 * it is told, and the call goes on until those end it.
 */
export const ANSWER_TIMEOUT_MS = 5_000;

/** MongoDB's code: its disk has no room left. */
const OUT_OF_DISK_SPACE = 14_031;

/** Waits for the database. @throws MemoryError `unavailable`, whatever the driver met. */
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

/** A failed bulk write holds what was to be written: private texts, which no log should see. */
function withoutDocuments(error: unknown): unknown {
  return error instanceof MongoBulkWriteError ? new Error(`${error.code}: ${error.message}`) : error;
}
