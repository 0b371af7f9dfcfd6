import type { Database } from "lmdb";
import { type MemoryError, unavailable } from "../../errors.js";
import { TooLate, within } from "../within.js";
import { writesOf } from "./writes.js";

/** Time after which a disk that has not kept a few records counts as unavailable. */
export const WRITE_TIMEOUT_MS = 10_000;
/** Time to wait for the reason of a failed commit, which LMDB gives right after the failure. */
const CAUSE_TIMEOUT_MS = 1_000;

/**
 * Runs an action as one write transaction, and returns its result once the disk has it. Transactions run
 * one after the other, and those that wait together are flushed together.
 *
 * The action must check before it writes: what it wrote before it threw stays written.
 */
export function durably<T>(db: Database, action: () => T): Promise<T> {
  return inTransaction(db, action, () => db.flushed);
}

/** Waits until earlier writes are settled, even if writes fail. */
export async function settled(db: Database): Promise<void> {
  await inTransaction(
    db,
    () => {},
    () => db.flushed,
    { always: true },
  );
}

/**
 * Runs an action like `durably`, but returns once it is committed, however long that takes. The operating
 * system has it then, so the death of this process does not undo it; the disk has it soon after. If this
 * throws, it was not committed.
 */
export async function committed<T>(db: Database, action: () => T): Promise<T> {
  writesOf(db).expectWritable();
  return transacted(db, action, () => undefined);
}

async function inTransaction<T>(
  db: Database,
  action: () => T,
  kept: () => Promise<unknown> | undefined,
  { always = false } = {},
): Promise<T> {
  if (!always) writesOf(db).expectWritable();
  try {
    return await within(WRITE_TIMEOUT_MS, transacted(db, action, kept));
  } catch (error) {
    throw error instanceof TooLate ? unavailable("the database's disk does not answer", error) : error;
  }
}

async function transacted<T>(
  db: Database,
  action: () => T,
  kept: () => Promise<unknown> | undefined,
): Promise<T> {
  const writes = writesOf(db);
  const faults = new Set<unknown>();
  const watched = () => {
    try {
      return action();
    } catch (error) {
      if (!isOfLmdb(error)) faults.add(error);
      throw error;
    }
  };
  try {
    const [result] = await Promise.all([db.transaction(watched), kept()]);
    writes.succeeded();
    return result;
  } catch (error) {
    // The action refused or has a mistake; the database is well.
    if (faults.has(error)) throw error instanceof SyntaxError ? unread(error) : error;
    throw writes.failed(await causeOf(error));
  }
}

/** Runs an action that only reads. */
export function reading<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unread(error);
  }
}

/**
 * Makes the error for a damaged record, which is not JSON. It omits the parser's words, because they
 * quote the record.
 */
function unread(error: unknown): MemoryError {
  const cause = error instanceof SyntaxError ? new Error("a record is damaged") : error;
  return unavailable("the database could not be read", cause);
}

/** Tells whether an error is LMDB's, by its number. */
function isOfLmdb(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "number";
}

/** Returns the cause of a failed commit, which LMDB keeps in a promise on the error. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return within(CAUSE_TIMEOUT_MS, commitError).catch((cause) => cause);
}
