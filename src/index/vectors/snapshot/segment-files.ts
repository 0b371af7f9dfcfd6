import { unavailable } from "../../../errors.js";
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
  constructor(private readonly onLost: (ref: SegmentRef) => void) {}

  /** Runs work after all earlier work on the segment has ended, successfully or not. */
  runSerially<T>(ref: SegmentRef, work: () => Promise<T>): Promise<T> {
    const name = nameOf(ref);
    const running = (this.#running.get(name) ?? Promise.resolve()).then(work);
    this.#occupy(name, running);
    return running;
  }

  /**
   * Replaces a segment's files by those that are being written. Earlier work is done on the old ones, and
   * later work waits for the new ones.
   */
  async replace(ref: SegmentRef, writing: Promise<{ readonly stem: string }>): Promise<void> {
    const name = nameOf(ref);
    const written = Promise.all([writing, this.#running.get(name)]);
    // Wipes from here on must reach the new files.
    this.#next.delete(name);
    const replaced = written.then(async ([{ stem }]) => {
      await publish(ref, stem);
      this.#open.delete(name);
    });
    this.#occupy(name, replaced);
    await replaced;
  }

  erase(ref: SegmentRef): Promise<void> {
    return this.runSerially(ref, () => this.#eraseNow(ref));
  }

  /**
   * Overwrites the vectors of some memories in a segment's files, if they have them. Concurrent calls share
   * one write. If it fails, all files of the segment are erased.
   *
   * @throws MemoryError `unavailable` when they could not be erased either.
   */
  wipe(ref: SegmentRef, sequences: readonly number[]): Promise<void> {
    const next = this.#next.get(nameOf(ref)) ?? this.#startNext(ref);
    for (const sequence of sequences) next.sequences.add(sequence);
    return next.done;
  }

  /** Selects the memories whose vectors the segment's files hold. */
  holds(ref: SegmentRef, sequences: readonly number[]): Promise<number[]> {
    return this.runSerially(ref, async () => (await this.#look(ref))?.holds(sequences) ?? []);
  }

  /** Measures what a segment's files hold; undefined if they are missing or unreadable. */
  measure(ref: SegmentRef): Promise<Measured | undefined> {
    return this.runSerially(ref, async () => (await this.#look(ref).catch(() => undefined))?.measure());
  }

  #startNext(ref: SegmentRef): Next {
    const name = nameOf(ref);
    const sequences = new Set<number>();
    const done = this.runSerially(ref, async () => {
      if (this.#next.get(name) === next) this.#next.delete(name);
      await this.#wipeOrErase(ref, [...sequences]);
    });
    const next = { sequences, done };
    this.#next.set(name, next);
    return next;
  }

  async #wipeOrErase(ref: SegmentRef, sequences: readonly number[]): Promise<void> {
    try {
      await (await this.#look(ref))?.wipe(sequences);
    } catch (error) {
      await this.#eraseNow(ref, error);
      this.onLost(ref);
    }
  }

  async #eraseNow(ref: SegmentRef, cause?: unknown): Promise<void> {
    this.#open.delete(nameOf(ref));
    try {
      await eraseFiles(ref);
    } catch (error) {
      throw unavailable("an index file of this namespace could not be erased", cause ?? error);
    }
  }

  async #look(ref: SegmentRef): Promise<StoredSnapshot | undefined> {
    const name = nameOf(ref);
    const snapshot = this.#open.get(name) ?? (await StoredSnapshot.open(ref));
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
