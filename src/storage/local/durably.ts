import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "lmdb";
import { MemoryError, messageOf, notWritable, unavailable } from "../../errors.js";
import { TookTooLongError, within } from "../within.js";
import { closeNoneAtExit, DISK_SPACE_BYTES, expectDiskSpace } from "./file.js";

/** Pause after a failed write before disk space is checked; it doubles after each failure. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 30_000;

const known = new WeakMap<object, Writes>();

/** Time after which a disk that has not flushed a few records counts as unavailable. */
export const WRITE_TIMEOUT_MS = 10_000;
/** Time after which a caller may try again where the file is gone: somebody must put it back. */
const FILE_RETRY_MS = 10_000;
/** Time to wait for the reason of a failed commit, which LMDB gives right after the failure. */
const CAUSE_TIMEOUT_MS = 1_000;
/** Interval at which a write that waits finds out whether LMDB will ever answer it. */
const PANIC_CHECK_MS = 1_000;

/**
 * Runs an action as one write transaction, and returns its result once the disk has it. Transactions run
 * one after the other, and those that wait together are flushed together.
 *
 * The action must check before it writes: what it wrote before it threw stays written.
 */
export async function durably<T>(db: Database, action: () => T): Promise<T> {
  expectDurable(db);
  return inTime(transacted(db, action, { flushes: true }));
}

/** Waits until earlier writes are settled, even if writes fail. @throws MemoryError at once if LMDB refuses everything. */
export async function settled(db: Database): Promise<void> {
  writesOf(db).expectIntact();
  await inTime(transacted(db, () => {}, { flushes: true }));
}

/**
 * Runs an action like `durably`, but returns once it is committed, however long that takes. The operating
 * system has it then, so the death of this process does not undo it; the disk has it soon after. If this
 * throws, it was not committed.
 */
export async function committed<T>(db: Database, action: () => T): Promise<T> {
  expectDurable(db);
  return transacted(db, action, { flushes: false });
}

/** Refuses a write at once that would fail, or that no later start would find. */
function expectDurable(db: Database): void {
  const writes = writesOf(db);
  writes.expectWritable();
  writes.expectFile();
}

/** Waits for a write. @throws MemoryError `unavailable` if the disk takes too long. */
export async function inTime<T>(writing: Promise<T>): Promise<T> {
  try {
    return await within(WRITE_TIMEOUT_MS, writing);
  } catch (error) {
    throw error instanceof TookTooLongError
      ? unavailable("the database's disk does not answer", error)
      : error;
  }
}

async function transacted<T>(db: Database, action: () => T, { flushes }: { flushes: boolean }): Promise<T> {
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
    const [result] = await writes.answered(db, Promise.all([db.transaction(watched), flushes && db.flushed]));
    writes.succeeded();
    return result;
  } catch (error) {
    // The action refused or has a mistake; the database is well.
    if (faults.has(error)) throw error instanceof SyntaxError ? unread(error) : error;
    const cause = await causeOf(error);
    throw panicOf(db) === undefined ? writes.failed(cause) : writes.broke(cause);
  }
}

/** Error by which LMDB refuses everything until its file is opened again; undefined while it does not. */
function panicOf(db: Database): unknown {
  try {
    // A transaction that began before reads on.
    db.resetReadTxn();
    db.get("");
    return undefined;
  } catch (error) {
    return isPanic(unread(error)) ? error : undefined;
  }
}

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

/** True if an error is LMDB's refusal of everything: a write of the file's header has failed. */
export function isPanic(error: unknown): boolean {
  return error instanceof MemoryError && messageOf(error.cause).includes("MDB_PANIC");
}

/** True if an error is LMDB's, by its number. */
function isOfLmdb(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === "number";
}

/** Returns the cause of a failed commit, which LMDB keeps in a promise on the error. */
async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: Promise<never> };
  if (commitError === undefined) return error;
  return within(CAUSE_TIMEOUT_MS, commitError).catch((cause) => cause);
}

/**
 * Tracks whether a database's writes fail, so that callers need not each find out: LMDB writes several
 * lines to stderr for each failure. After a failure all writes are refused until a file of a megabyte
 * fits beside the database.
 */
export class Writes {
  #failed: { readonly cause: unknown; checkAtMs: number } | undefined;
  #pauseMs = PAUSE_MS;
  #checking: Promise<void> | undefined;
  /** Functions that refuse the writes that wait for LMDB, and the timer that looks whether it will ever answer them. */
  readonly #waiting = new Set<(panic: unknown) => void>();
  #panicCheck: NodeJS.Timeout | undefined;
  /** Number by which the file system knows the open file, whatever its name is by now. */
  readonly #inode: number | undefined;

  constructor(private readonly path: string) {
    this.#inode = inodeOf(path);
  }

  /**
   * Expects the open file under its name. One that was deleted, or that another has replaced, takes writes as before,
   * and they are lost when this process ends.
   *
   * @throws MemoryError `unavailable`
   */
  expectFile(): void {
    if (inodeOf(this.path) === this.#inode) return;
    throw unavailable("the database's file is gone", undefined, FILE_RETRY_MS);
  }

  /** Refuses a write while writes fail. @throws MemoryError `unavailable` at once. */
  expectWritable(): void {
    if (this.#failed === undefined) return;
    // No call waits for this; later writes benefit from it.
    void this.#checkDiskSpace();
    throw notWritable(this.#failed.cause);
  }

  /** Refuses a write like `expectWritable`, but checks first whether there is space again. */
  async check(): Promise<void> {
    await this.#checkDiskSpace();
    this.expectWritable();
  }

  /** Makes the error for a caller whose write failed for this cause. */
  failed(cause: unknown): MemoryError {
    if (this.#failed === undefined) {
      this.#failed = { cause, checkAtMs: performance.now() + this.#pauseMs };
      this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
    }
    return notWritable(cause);
  }

  /**
   * Refuses all writes until the process ends, as LMDB does. LMDB never answers those that reach it: the thread that
   * begins one ends with LMDB's lock, for which closing the file would wait forever, too.
   */
  broke(cause: unknown): MemoryError {
    this.#failed = { cause, checkAtMs: Number.POSITIVE_INFINITY };
    closeNoneAtExit();
    return notWritable(cause);
  }

  /** Waits for a write as long as LMDB may answer it. */
  answered<T>(db: Database, writing: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      this.#panicCheck ??= setInterval(() => this.#checkPanic(db), PANIC_CHECK_MS);
      this.#panicCheck.ref();
      const end = () => {
        this.#waiting.delete(reject);
        if (this.#waiting.size === 0) this.#panicCheck?.unref();
      };
      writing.then(resolve, reject).finally(end);
    });
  }

  #checkPanic(db: Database): void {
    const panic = panicOf(db);
    if (panic !== undefined) {
      for (const refuse of this.#waiting) refuse(panic);
      this.#waiting.clear();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#panicCheck);
    this.#panicCheck = undefined;
  }

  /** Refuses what would wait forever because LMDB refuses everything. @throws MemoryError `unavailable` */
  expectIntact(): void {
    if (this.#failed?.checkAtMs === Number.POSITIVE_INFINITY) throw notWritable(this.#failed.cause);
  }

  succeeded(): void {
    if (this.#failed === undefined) this.#pauseMs = PAUSE_MS;
  }

  async #checkDiskSpace(): Promise<void> {
    if (this.#failed === undefined || performance.now() < this.#failed.checkAtMs) return;
    this.#checking ??= expectDiskSpace(dirname(this.path), DISK_SPACE_BYTES)
      .then(
        () => undefined,
        (cause) => ({ cause, checkAtMs: performance.now() + PAUSE_MS }),
      )
      .then((failed) => {
        this.#failed = failed;
        this.#checking = undefined;
      });
    await this.#checking;
  }
}

/** Returns the tracker that all databases in a file share. */
export function writesOf(db: Database): Writes {
  // LMDB's types lack what a file's databases have in common.
  const { env } = db as unknown as { env: { readonly path: string } };
  const writes = known.get(env) ?? new Writes(env.path);
  known.set(env, writes);
  return writes;
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}
