import { unavailable } from "../../errors.js";
import { eraseFiles, publish } from "./folder.js";
import { nameOf, type SegmentRef } from "./manifest.js";
import { type Measured, StoredSnapshot } from "./stored-snapshot.js";

/** Maximum number of segments whose manifest and journal stay in memory: about 30 kB each. */
const OPEN_MAX = 256;

/** A wipe that has not begun, and accepts more sequences until it does. */
interface Next {
  readonly sequences: Set<number>;
  readonly done: Promise<void>;
}

/** The files of segments. All work on one segment's files is done in turn, whether its index is open or not. */
export class SegmentFiles {
  /** Last work on each segment's files, by its name. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Next>();
  /** Open segments by name, the least recently used first. */
  readonly #open = new Map<string, StoredSnapshot>();

  /** `onLost` is called when files had to be erased because a vector could not be wiped in them. */
  constructor(private readonly onLost: (of: SegmentRef) => void) {}

  /** Runs work after all earlier work on the segment has ended, successfully or not. */
  runSerially<T>(of: SegmentRef, work: () => Promise<T>): Promise<T> {
    const name = nameOf(of);
    const running = (this.#running.get(name) ?? Promise.resolve()).then(work);
    this.#occupy(name, running);
    return running;
  }

  /**
   * Replaces a segment's files by those that are being written. Earlier work is done on the old ones, and
   * later work waits for the new ones.
   */
  async replace(of: SegmentRef, writing: Promise<{ readonly stem: string }>): Promise<void> {
    const name = nameOf(of);
    const written = Promise.all([writing, this.#running.get(name)]);
    // Wipes from here on must reach the new files.
    this.#next.delete(name);
    const replaced = written.then(async ([{ stem }]) => {
      await publish(of, stem);
      this.#open.delete(name);
    });
    this.#occupy(name, replaced);
    await replaced;
  }

  erase(of: SegmentRef): Promise<void> {
    return this.runSerially(of, () => this.#eraseNow(of));
  }

  /**
   * Overwrites the vectors of some memories in a segment's files, if they have them. Concurrent calls share
   * one write. If it fails, all files of the segment are erased.
   *
   * @throws MemoryError `unavailable` when they could not be erased either.
   */
  wipe(of: SegmentRef, sequences: readonly number[]): Promise<void> {
    const next = this.#next.get(nameOf(of)) ?? this.#startNext(of);
    for (const sequence of sequences) next.sequences.add(sequence);
    return next.done;
  }

  /** Selects the memories whose vectors the segment's files hold. */
  holds(of: SegmentRef, sequences: readonly number[]): Promise<number[]> {
    return this.runSerially(of, async () => (await this.#look(of))?.holds(sequences) ?? []);
  }

  /** Measures what a segment's files hold; undefined if they are missing or unreadable. */
  measure(of: SegmentRef): Promise<Measured | undefined> {
    return this.runSerially(of, async () => (await this.#look(of).catch(() => undefined))?.measure());
  }

  #startNext(of: SegmentRef): Next {
    const name = nameOf(of);
    const sequences = new Set<number>();
    const done = this.runSerially(of, async () => {
      if (this.#next.get(name) === next) this.#next.delete(name);
      await this.#wipeOrErase(of, [...sequences]);
    });
    const next = { sequences, done };
    this.#next.set(name, next);
    return next;
  }

  async #wipeOrErase(of: SegmentRef, sequences: readonly number[]): Promise<void> {
    try {
      await (await this.#look(of))?.wipe(sequences);
    } catch (error) {
      await this.#eraseNow(of, error);
      this.onLost(of);
    }
  }

  async #eraseNow(of: SegmentRef, cause?: unknown): Promise<void> {
    this.#open.delete(nameOf(of));
    try {
      await eraseFiles(of);
    } catch (error) {
      throw unavailable("an index file of this namespace could not be erased", cause ?? error);
    }
  }

  async #look(of: SegmentRef): Promise<StoredSnapshot | undefined> {
    const name = nameOf(of);
    const snapshot = this.#open.get(name) ?? (await StoredSnapshot.open(of));
    this.#open.delete(name);
    if (snapshot === undefined) return undefined;
    this.#open.set(name, snapshot);
    const [oldest] = this.#open.keys();
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest);
    return snapshot;
  }

  #occupy(name: string, work: Promise<unknown>): void {
    const release = () => {
      if (this.#running.get(name) === settled) this.#running.delete(name);
    };
    const settled: Promise<void> = work.then(release, release);
    this.#running.set(name, settled);
  }
}
