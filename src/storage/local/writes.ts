import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Database } from "lmdb";
import { type MemoryError, notWritable } from "../../errors.js";

/** Pause after a failed write before room is looked for; it doubles after each failure. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 30_000;
/** Room that the disk must have before a write is tried again. */
const ROOM_BYTES = 1_048_576;
const ROOM = "room-for-writes";

/**
 * Tracks whether a database's writes fail, so that callers need not each find out: LMDB writes several
 * lines to stderr for each failure. After a failure all writes are refused until a file of a megabyte
 * fits beside the database.
 */
export class Writes {
  #failed: { readonly cause: unknown; lookAtMs: number } | undefined;
  #pauseMs = PAUSE_MS;
  #looking: Promise<void> | undefined;

  constructor(private readonly folder: string) {}

  /**
   * Refuses a write while writes fail.
   *
   * @throws MemoryError `unavailable` at once.
   */
  expectWritable(): void {
    if (this.#failed === undefined) return;
    // No call waits for this; later writes benefit from it.
    void this.#look();
    throw notWritable(this.#failed.cause);
  }

  /** Refuses a write like `expectWritable`, but looks for room first. */
  async check(): Promise<void> {
    await this.#look();
    this.expectWritable();
  }

  /** Makes the error for a caller whose write failed for this cause. */
  failed(cause: unknown): MemoryError {
    if (this.#failed === undefined) {
      this.#failed = { cause, lookAtMs: performance.now() + this.#pauseMs };
      this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX);
    }
    return notWritable(cause);
  }

  succeeded(): void {
    if (this.#failed === undefined) this.#pauseMs = PAUSE_MS;
  }

  async #look(): Promise<void> {
    if (this.#failed === undefined || performance.now() < this.#failed.lookAtMs) return;
    this.#looking ??= this.#lookForRoom().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #lookForRoom(): Promise<void> {
    const path = join(this.folder, ROOM);
    try {
      await writeFile(path, Buffer.alloc(ROOM_BYTES), { flush: true });
      this.#failed = undefined;
    } catch (cause) {
      this.#failed = { cause, lookAtMs: performance.now() + PAUSE_MS };
    } finally {
      // A file that cannot be removed is overwritten the next time.
      await rm(path, { force: true }).catch(() => {});
    }
  }
}

const known = new WeakMap<object, Writes>();

/** Returns the tracker that all databases in a file share. */
export function writesOf(db: Database): Writes {
  // LMDB's types lack what a file's databases have in common.
  const { env } = db as unknown as { env: { readonly path: string } };
  const writes = known.get(env) ?? new Writes(dirname(env.path));
  known.set(env, writes);
  return writes;
}
