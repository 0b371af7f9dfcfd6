import { unavailable } from "../../errors.js";
import { eraseFiles, publish, usesIn } from "./folder.js";
import { KeptSnapshot } from "./kept-snapshot.js";

/**
 * Maximum number of snapshots whose manifest and journal stay in memory: less than a megabyte for a
 * million rows.
 */
const OPEN_MAX = 16;

/** A wipe that has not begun, and accepts more sequences until it does. */
interface Next {
  readonly sequences: Set<number>;
  readonly done: Promise<void>;
}

/**
 * The folder of snapshots. All work on the files of one log is done in turn, whether its index is open
 * or not.
 */
export class Shelf {
  /**
   * Callbacks by log id, called when a snapshot had to be erased because a vector could not be wiped in
   * it.
   */
  readonly onLost = new Map<string, () => void>();
  /** Last piece of work on each log's files, by log id. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Next>();
  /** Open snapshots by log id, the least recently used first. */
  readonly #open = new Map<string, KeptSnapshot>();

  constructor(
    private readonly folder: string,
    /** Maximum size of all snapshots, without the one that is being written. */
    private readonly folderBytesMax: number,
  ) {}

  /** Runs work after all earlier work on the log has ended, successfully or not. */
  inTurn<T>(logId: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#turns.get(logId) ?? Promise.resolve()).then(work);
    this.#occupy(logId, running);
    return running;
  }

  /**
   * Replaces the kept snapshot by one that is being written. Earlier work is done on the old one, and
   * later work waits for the new one.
   */
  async keep(logId: string, writing: Promise<string>): Promise<void> {
    const written = Promise.all([writing, this.#turns.get(logId)]);
    // Wipes from here on must reach the new snapshot.
    this.#next.delete(logId);
    const kept = written.then(async ([stem]) => {
      await publish({ folder: this.folder, logId }, stem);
      this.#open.delete(logId);
    });
    this.#occupy(logId, kept);
    await kept;
    await this.#makeRoom(logId);
  }

  erase(logId: string): Promise<void> {
    return this.inTurn(logId, () => this.#eraseNow(logId));
  }

  /**
   * Overwrites the vectors of some memories in the snapshot, if it has them. Concurrent calls share one
   * write. If it fails, the whole snapshot is erased.
   *
   * @throws MemoryError `unavailable` when it could not be erased either.
   */
  wipe(logId: string, sequences: readonly number[]): Promise<void> {
    const next = this.#next.get(logId) ?? this.#startNext(logId);
    for (const sequence of sequences) next.sequences.add(sequence);
    return next.done;
  }

  /** Selects the memories whose vectors the snapshot holds. */
  holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    return this.inTurn(logId, async () => (await this.#look(logId))?.holds(sequences) ?? []);
  }

  #startNext(logId: string): Next {
    const sequences = new Set<number>();
    const done = this.inTurn(logId, async () => {
      if (this.#next.get(logId) === next) this.#next.delete(logId);
      await this.#wipeOrErase(logId, [...sequences]);
    });
    const next = { sequences, done };
    this.#next.set(logId, next);
    return next;
  }

  async #wipeOrErase(logId: string, sequences: readonly number[]): Promise<void> {
    try {
      await (await this.#look(logId))?.wipe(sequences);
    } catch (error) {
      await this.#eraseNow(logId, error);
      this.onLost.get(logId)?.();
    }
  }

  async #eraseNow(logId: string, cause?: unknown): Promise<void> {
    this.#open.delete(logId);
    try {
      await eraseFiles({ folder: this.folder, logId });
    } catch (error) {
      throw unavailable("a snapshot of this namespace could not be erased", cause ?? error);
    }
  }

  /** Erases the least recently written or used snapshots until the rest fits; all can be rebuilt. */
  async #makeRoom(latest: string): Promise<void> {
    const uses = await usesIn(this.folder);
    let bytes = 0;
    for (const use of uses.values()) bytes += use.bytes;
    for (const [oldest, use] of [...uses].sort(([, a], [, b]) => a.usedMs - b.usedMs)) {
      if (bytes <= this.folderBytesMax) return;
      if (oldest === latest) continue;
      await this.erase(oldest);
      bytes -= use.bytes;
    }
  }

  async #look(logId: string): Promise<KeptSnapshot | undefined> {
    const { folder } = this;
    const kept = this.#open.get(logId) ?? (await KeptSnapshot.open({ folder, logId }));
    this.#open.delete(logId);
    if (kept === undefined) return undefined;
    this.#open.set(logId, kept);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
    return kept;
  }

  #occupy(logId: string, work: Promise<unknown>): void {
    const leave = () => {
      if (this.#turns.get(logId) === turn) this.#turns.delete(logId);
    };
    const turn: Promise<void> = work.then(leave, leave);
    this.#turns.set(logId, turn);
  }
}
