import type { Database } from "lmdb";
import { type MemoryError, unavailable } from "../../errors.js";
import { TooLate, within } from "../within.js";
import { writesOf } from "./writes.js";

/** A disk that takes longer than this to keep a few records is as good as away. */
export const WRITE_TIMEOUT_MS = 10_000;
/** LMDB tells why a commit failed right after it has failed. */
const CAUSE_TIMEOUT_MS = 1_000;

/**
 * Runs an action as one write transaction; answers its result once the disk has it. Transactions run
 * one after the other, and those that wait together are flushed together.
 *
 * The action must check before it writes: what it wrote before it threw stays written.
 */
export function durably<T>(db: Database, action: () => T): Promise<T> {
  return inTransaction(db, action, () => db.flushed);
}

/**
 * As `durably`, but answers once it is committed: the operating system has it then, and the death of
 * this process does not undo it. The disk has it soon after.
 */
export function committed<T>(db: Database, action: () => T): Promise<T> {
  return inTransaction(db, action, () => undefined);
}

/** Waits for what was written before, also while writes fail. */
export async function settled(db: Database): Promise<void> {
  await inTransaction(
    db,
    () => {},
    () => db.flushed,
    { always: true },
  );
}

async function inTransaction<T>(
  db: Database,
  action: () => T,
  kept: () => Promise<unknown> | undefined,
  { always = false } = {},
): Promise<T> {
  const writes = writesOf(db);
  if (!always) writes.expectWritable();
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
    const [result] = await within(WRITE_TIMEOUT_MS, Promise.all([db.transaction(watched), kept()]));
    writes.succeeded();
    return result;
  } catch (error) {
    // What the action refused, or a mistake in it: the database is well.
    if (faults.has(error)) throw error instanceof SyntaxError ? unread(error) : error;
    if (error instanceof TooLate) throw unavailable("the database's disk does not answer", error);
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

/** A record that is no JSON is damaged. The parser's words would quote it: nobody sees them. */
function unread(error: unknown): MemoryError {
  const cause = error instanceof SyntaxError ? new Error("a record is damaged") : error;
  return unavailable("the database could not be read", cause);
}

/** LMDB's own errors carry its numbers. */
function isOfLmdb(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "number";
}

/** LMDB keeps why a commit failed in a promise beside the error, which nobody else handles. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return within(CAUSE_TIMEOUT_MS, commitError).catch((cause) => cause);
}
