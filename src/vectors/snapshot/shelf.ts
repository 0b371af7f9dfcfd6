import { unavailable } from "../../errors.js";
import { eraseFiles, publish, usesIn } from "./folder.js";
import { KeptSnapshot } from "./kept-snapshot.js";

/** Snapshots whose manifest and journal stay in memory: less than a megabyte for a million rows. */
const OPEN_MAX = 16;

/** A wipe that has not begun, and takes more sequences until it does. */
interface Next {
  readonly sequences: Set<number>;
  readonly done: Promise<void>;
}

/**
 * The folder of snapshots. Whatever touches the files of one incarnation takes turns here, whether its
 * index is open or not.
 */
export class Shelf {
  /** By incarnation: told of a snapshot that had to be erased, because a vector could not be wiped in it. */
  readonly onLost = new Map<string, () => void>();
  /** By incarnation: what is done last with its files. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Next>();
  /** By incarnation, the least recently used first. */
  readonly #open = new Map<string, KeptSnapshot>();

  constructor(
    private readonly folder: string,
    /** What all snapshots may take, beside the one that is being written. */
    private readonly folderBytesMax: number,
  ) {}

  /** Runs work when all that was asked for earlier has ended, well or not. */
  inTurn<T>(incarnation: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#turns.get(incarnation) ?? Promise.resolve()).then(work);
    this.#occupy(incarnation, running);
    return running;
  }

  /**
   * Keeps a snapshot that is being written, in place of the one before. What was asked for earlier is done
   * with that one, and later work waits for the new one.
   */
  async keep(incarnation: string, writing: Promise<string>): Promise<void> {
    const written = Promise.all([writing, this.#turns.get(incarnation)]);
    // What is asked for from here on must reach the new one.
    this.#next.delete(incarnation);
    const kept = written.then(async ([stem]) => {
      await publish({ folder: this.folder, incarnation }, stem);
      this.#open.delete(incarnation);
    });
    this.#occupy(incarnation, kept);
    await kept;
    await this.#makeRoom(incarnation);
  }

  erase(incarnation: string): Promise<void> {
    return this.inTurn(incarnation, () => this.#eraseNow(incarnation));
  }

  /**
   * Overwrites the vectors of some memories in the snapshot, if it has them. Calls at the same moment
   * share one write. If that fails, the whole snapshot is erased.
   *
   * @throws MemoryError `unavailable` when it could not be erased either.
   */
  wipe(incarnation: string, sequences: readonly number[]): Promise<void> {
    const next = this.#next.get(incarnation) ?? this.#startNext(incarnation);
    for (const sequence of sequences) next.sequences.add(sequence);
    return next.done;
  }

  /** Of some memories, those whose vectors the snapshot holds. */
  holds(incarnation: string, sequences: readonly number[]): Promise<number[]> {
    return this.inTurn(incarnation, async () => (await this.#look(incarnation))?.holds(sequences) ?? []);
  }

  #startNext(incarnation: string): Next {
    const sequences = new Set<number>();
    const done = this.inTurn(incarnation, async () => {
      if (this.#next.get(incarnation) === next) this.#next.delete(incarnation);
      await this.#wipeOrErase(incarnation, [...sequences]);
    });
    const next = { sequences, done };
    this.#next.set(incarnation, next);
    return next;
  }

  async #wipeOrErase(incarnation: string, sequences: readonly number[]): Promise<void> {
    try {
      await (await this.#look(incarnation))?.wipe(sequences);
    } catch (error) {
      await this.#eraseNow(incarnation, error);
      this.onLost.get(incarnation)?.();
    }
  }

  async #eraseNow(incarnation: string, cause?: unknown): Promise<void> {
    this.#open.delete(incarnation);
    try {
      await eraseFiles({ folder: this.folder, incarnation });
    } catch (error) {
      throw unavailable("a snapshot of this namespace could not be erased", cause ?? error);
    }
  }

  /** Erases what was written or of use least recently, until the rest fits; all of it can be built anew. */
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

  async #look(incarnation: string): Promise<KeptSnapshot | undefined> {
    const { folder } = this;
    const kept = this.#open.get(incarnation) ?? (await KeptSnapshot.open({ folder, incarnation }));
    this.#open.delete(incarnation);
    if (kept === undefined) return undefined;
    this.#open.set(incarnation, kept);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
    return kept;
  }

  #occupy(incarnation: string, work: Promise<unknown>): void {
    const leave = () => {
      if (this.#turns.get(incarnation) === turn) this.#turns.delete(incarnation);
    };
    const turn: Promise<void> = work.then(leave, leave);
    this.#turns.set(incarnation, turn);
  }
}
