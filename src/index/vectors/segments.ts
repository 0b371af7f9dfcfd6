import { unavailable } from "../../errors.js";
import type { Mark } from "../../memory/ports/index.js";
import type { SharedStep, StepTimer } from "../../memory/ports/step-timer.js";
import type { IndexThread } from "./index-thread.js";
import type { RestoredVectors } from "./part.js";
import { GONE_SHARE_MAX, type Sealer } from "./sealer.js";
import { Segment } from "./segment.js";
import type { IndexFiles } from "./snapshot/index-files.js";
import type { SnapshotOf } from "./snapshot/snapshot.js";
import type { Tail } from "./tail.js";

/** Pause after a failure to write a segment, such as a full disk. */
const PAUSE_MS = 30_000;
/** Longest wait between two sealings in no hurry: after a long one, the tail would take long to search. */
const WAIT_MS_MAX = 15_000;
/** Multiple of the rows that make a sealing due above which it does not wait. */
const HURRY = 4;

export interface SegmentsOptions {
  readonly files: IndexFiles;
  readonly sealer: Sealer;
  /** Thread that checks files, and searches where that takes long. */
  readonly thread: IndexThread;
  /** Number of vectors up to which nothing is sealed. */
  readonly exactRowsMax: number;
  /** Number of newest vectors of a larger index above which they are sealed, unless that was done a moment ago. */
  readonly tailRowsMax: number;
  /** Number of vectors of a segment from which on the next one begins. */
  readonly segmentRowsMax: number;
  /** Share of a core that sealing few memories may take: what is in no hurry waits. */
  readonly sealingShare: number;
  readonly timer: StepTimer<SharedStep>;
  readonly onTrouble: (error: unknown) => void;
}

/** The sealed segments of one index. The last one grows by being replaced, until the next one begins. */
export class Segments {
  /** Error of the last sealing, if it failed. */
  failure: unknown;
  readonly #closing = new AbortController();
  #all: readonly Segment[] = [];
  #sealing: Promise<void> | undefined;
  /** Memories that were removed since the sealing under way began. */
  readonly #removed = new Set<number>();
  /** Time before which no sealing begins that is in no hurry. */
  #sealAtMs = 0;
  #readers = 0;
  /** Replaced segments that a search may still use. */
  #retired: Segment[] = [];

  constructor(
    private readonly ref: Omit<SnapshotOf, "segment">,
    private readonly tail: Tail,
    private readonly options: SegmentsOptions,
  ) {}

  get all(): readonly Segment[] {
    return this.#all;
  }

  /** Resolves when the sealing under way has ended; undefined if there is none. */
  get sealing(): Promise<void> | undefined {
    return this.#sealing;
  }

  /** Number of the tail's vectors beyond those that make sealing due at once. */
  get behind(): number {
    return Math.max(0, this.tail.rows - this.#tailRowsMax({ waits: true }));
  }

  sum(what: "size" | "vectors" | "removed" | "bytes"): number {
    let sum = 0;
    for (const segment of this.#all) sum += segment[what];
    return sum;
  }

  /** Runs work on the present segments, whose memory is not given back before it ends. */
  async reading<T>(work: (segments: readonly Segment[]) => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await work(this.#all);
    } finally {
      if (--this.#readers === 0) for (const each of this.#retired.splice(0)) each.close();
    }
  }

  /** Opens the segments whose files are whole, up to the first that is not. */
  async restore(): Promise<RestoredVectors | undefined> {
    const { files, thread } = this.options;
    const wiped: number[] = [];
    for (const segment of await files.segmentsOf(this.ref.logId)) {
      const ref = { ...this.ref, segment };
      const found = await files.runSerially(ref, () => thread.call("find", ref));
      if (this.#closing.signal.aborted) return undefined;
      const follows = segment === this.#all.length && found?.after.sequence === this.#end.sequence;
      if (found === undefined || !follows) break;
      this.#all = [...this.#all, new Segment(ref, found, found.wiped)];
      wiped.push(...found.wiped);
    }
    // Files that do not follow are of no use, and a vector in one of an unknown form could not be wiped.
    await files.erase(this.ref.logId, this.#all.length);
    return this.#all.length === 0 ? undefined : { ...this.#end, wiped };
  }

  async reset(): Promise<void> {
    // A segment that was published afterwards would hold what is about to be read again.
    while (this.#sealing !== undefined) await this.#sealing;
    this.#retire(this.#all);
    this.#all = [];
    await this.options.files.erase(this.ref.logId);
  }

  remove(sequences: readonly number[]): void {
    for (const sequence of sequences) {
      if (this.#sealing !== undefined) this.#removed.add(sequence);
      for (const segment of this.#all) if (segment.remove(sequence)) break;
    }
  }

  /** Begins to seal the tail if it has grown, or to build a segment anew that has many gaps. */
  sealIfDue(): void {
    if (this.#sealing !== undefined || this.#closing.signal.aborted) return;
    const waits = performance.now() < this.#sealAtMs;
    const gappy = this.#all.find(({ goneShare, vectors }) => goneShare > GONE_SHARE_MAX && vectors > 0);
    const isLong = this.tail.rows > this.#tailRowsMax({ waits });
    if (isLong && !(waits && this.failure !== undefined)) this.#begin(this.#lastWithSpace);
    else if (gappy !== undefined && !waits) this.#begin(gappy, { rows: 0 });
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the index is closed"));
    await this.#sealing;
    this.#retire(this.#all);
    this.#all = [];
  }

  /** Number of vectors of the tail above which they are sealed; a larger one after a sealing a moment ago. */
  #tailRowsMax({ waits }: { waits: boolean }): number {
    const { exactRowsMax, tailRowsMax } = this.options;
    return this.#all.length === 0 ? exactRowsMax : tailRowsMax * (waits ? HURRY : 1);
  }

  get #end(): Mark {
    return this.#all.at(-1)?.mark ?? { sequence: 0, opId: "" };
  }

  /** The last segment, if it has room. */
  get #lastWithSpace(): Segment | undefined {
    const last = this.#all.at(-1);
    const free = this.options.segmentRowsMax - (last?.vectors ?? 0);
    return free >= this.options.tailRowsMax ? last : undefined;
  }

  #begin(
    base: Segment | undefined,
    { rows = this.options.segmentRowsMax - (base?.vectors ?? 0) } = {},
  ): void {
    this.#removed.clear();
    const startMs = performance.now();
    this.#sealing = this.#seal(base, rows)
      .then(
        () => {
          this.failure = undefined;
          const waitMs = (performance.now() - startMs) / this.options.sealingShare;
          this.#sealAtMs = performance.now() + Math.min(waitMs, WAIT_MS_MAX);
        },
        (error) => this.#pause(error),
      )
      .finally(() => {
        this.#sealing = undefined;
        this.sealIfDue();
      });
  }

  async #seal(base: Segment | undefined, rows: number): Promise<void> {
    const chunks = rows > 0 ? this.tail.freeze(rows) : [];
    let drop = false;
    try {
      const ref = { ...this.ref, segment: base?.ref.segment ?? this.#all.length };
      const after = base?.files.after ?? this.#end;
      const { signal } = this.#closing;
      const sealing = { ref, base, after, chunks, gone: this.#removed, signal };
      const written = await this.options.timer.time("seal", () => this.options.sealer.seal(sealing));
      const sealed = new Segment(ref, written, this.#removed);
      this.#all = [...this.#all.slice(0, ref.segment), sealed, ...this.#all.slice(ref.segment + 1)];
      drop = true;
    } finally {
      this.tail.thaw({ drop });
    }
    if (base !== undefined) this.#retire([base]);
  }

  #pause(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#sealAtMs = performance.now() + PAUSE_MS;
    this.failure = unavailable("an index file of this namespace could not be written", error);
    this.options.onTrouble(error);
  }

  #retire(segments: readonly Segment[]): void {
    if (this.#readers > 0) this.#retired.push(...segments);
    else for (const segment of segments) segment.close();
  }
}
