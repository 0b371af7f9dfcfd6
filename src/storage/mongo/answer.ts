import { MongoBulkWriteError } from "mongodb";
import { MemoryError, unavailable } from "../../errors.js";
import { within } from "../within.js";

/**
 * What the driver's own limits add up to for one call is more than a caller should wait: after this
 * it is told, and the call goes on until those end it.
 */
export const ANSWER_TIMEOUT_MS = 5_000;

/** Waits for the database. @throws MemoryError `unavailable`, whatever the driver met. */
export async function answer<T>(asking: Promise<T>): Promise<T> {
  try {
    return await within(ANSWER_TIMEOUT_MS, asking);
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw unavailable("the database does not answer", withoutDocuments(error));
  }
}

/** A failed bulk write holds what was to be written: private texts, which no log should see. */
function withoutDocuments(error: unknown): unknown {
  return error instanceof MongoBulkWriteError ? new Error(`${error.code}: ${error.message}`) : error;
}
