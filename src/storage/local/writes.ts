import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Database } from "lmdb";
import { type MemoryError, notWritable } from "../../errors.js";

/** After a failed write, the pause until room is looked for; doubled each time it was found in vain. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 30_000;
/** What must fit on the disk before a write is tried again. */
const ROOM_BYTES = 1_048_576;
const ROOM = "room-for-writes";

/**
 * Whether a database's writes fail, so that callers need not find out one after the other: LMDB writes
 * several lines to stderr for each that does. After a failure all are refused until a file of a megabyte
 * finds room beside the database.
 */
export class Writes {
  #failed: { readonly cause: unknown; lookAtMs: number } | undefined;
  #pauseMs = PAUSE_MS;
  #looking: Promise<void> | undefined;

  constructor(private readonly folder: string) {}

  /** @throws MemoryError `unavailable` at once while writes fail. */
  expectWritable(): void {
    if (this.#failed === undefined) return;
    // Nobody waits for it: it is found out for the writes that come later.
    void this.#look();
    throw notWritable(this.#failed.cause);
  }

  /** As `expectWritable`, but looks for room first. */
  async check(): Promise<void> {
    await this.#look();
    this.expectWritable();
  }

  /** What to tell a caller whose write failed for this cause. */
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
      // One that cannot be removed is overwritten the next time.
      await rm(path, { force: true }).catch(() => {});
    }
  }
}

const known = new WeakMap<object, Writes>();

/** Shared by all databases in a file. */
export function writesOf(db: Database): Writes {
  // LMDB's types do not know what a file's databases have in common.
  const { env } = db as unknown as { env: { readonly path: string } };
  const writes = known.get(env) ?? new Writes(dirname(env.path));
  known.set(env, writes);
  return writes;
}
