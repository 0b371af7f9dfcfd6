import type {
  Gap,
  Hit,
  Index,
  IndexPart,
  IndexRow,
  Mark,
  RestoredIndex,
  VectorQuery,
} from "../memory/ports/index.js";
import type { LogFiles } from "./log-files.js";
import type { Segment } from "./segment.js";
import type { Range } from "./segment-file.js";
import type { TextIndex } from "./text-index.js";
import type { VectorPart } from "./vectors/usearch-index.js";

export interface LogIndexParts {
  readonly vectors: VectorPart;
  /** Words and fields. */
  readonly text: TextIndex;
  readonly files: LogFiles;
  /** Called once it is closed. */
  onClosed?(index: LogIndex): void;
}

/** The index of one log's memories. Its parts are sealed in files of their own, so each may cover more than the other. */
export class LogIndex implements Index {
  onLost: () => void = () => {};
  /** Range of the log that the restored files of vectors lack. */
  #vectorGap: Range | undefined;
  /** Memories that were removed while gaps were being filled. */
  readonly #removedMeanwhile = new Set<number>();
  /** True once its files are known, so that they are overwritten here. */
  isRestored = false;
  #closing: Promise<void> | undefined;

  constructor(private readonly parts: LogIndexParts) {
    // Words and fields are in memory as well.
    parts.files.onLost = ({ part }) => {
      if (part === "vectors") this.onLost();
    };
  }

  get size(): number {
    return this.parts.text.size;
  }

  get bytes(): number {
    return this.parts.vectors.bytes + this.parts.text.bytes;
  }

  get rowCounts(): Index["rowCounts"] {
    return { vectors: this.parts.vectors.rowCounts, words: this.parts.text.rowCounts };
  }

  get changes(): number {
    return this.parts.text.changes;
  }

  get waiting(): number {
    return this.parts.vectors.waiting;
  }

  get error(): number {
    return this.parts.vectors.error;
  }

  get isExact(): boolean {
    return this.parts.vectors.isExact;
  }

  /** The segments of words and fields that a search looks at. */
  segments(): Promise<readonly Segment[]> {
    return this.parts.text.segments();
  }

  async restore(): Promise<RestoredIndex | undefined> {
    const { files, vectors, text } = this.parts;
    const found = await files.find();
    const of = (part: IndexPart) => found.filter(({ manifest }) => manifest.part === part);
    const ofVectors = await vectors.restore(of("vectors"));
    const upto = await text.restore(of("words"), ofVectors);
    // Of what was not read because it was closed meanwhile, nothing is erased.
    if (this.#closing !== undefined) return undefined;
    const restored = await files.eraseOthers();
    if (ofVectors < upto) this.#vectorGap = { after: ofVectors, upto };
    this.isRestored = true;
    return upto === 0 ? undefined : { upto, ...restored };
  }

  get gap(): Gap | undefined {
    const ofWords = this.parts.text.gap;
    if (ofWords !== undefined) return { part: "words", ...ofWords };
    return this.#vectorGap && { part: "vectors", ...this.#vectorGap };
  }

  async fill(rows: readonly IndexRow[], upto: number): Promise<void> {
    const { gap } = this;
    if (gap === undefined || upto > gap.upto) throw new Error("there is no such gap");
    const living = rows.filter(({ sequence }) => !this.#removedMeanwhile.has(sequence));
    if (gap.part === "words") await this.parts.text.fill(living, upto);
    else {
      this.#vectorGap = upto < gap.upto ? { after: upto, upto: gap.upto } : undefined;
      await this.#addVectors(living);
    }
    if (this.gap === undefined) this.#removedMeanwhile.clear();
  }

  async reset(): Promise<void> {
    this.#vectorGap = undefined;
    await Promise.all([this.parts.vectors.reset(), this.parts.text.reset()]);
    await this.parts.files.reset();
  }

  noteEnd(end: Mark): void {
    const { files } = this.parts;
    if (end.sequence > files.end.sequence) files.end = end;
  }

  noteExpired(expiredMs: number): void {
    const { files } = this.parts;
    files.expiredMs = Math.max(files.expiredMs, expiredMs);
  }

  has(sequence: number): boolean {
    return this.parts.text.has(sequence);
  }

  fits(vectors: readonly Float32Array[]): boolean {
    return this.parts.vectors.fits(vectors);
  }

  async add(rows: readonly IndexRow[], applied: Mark): Promise<void> {
    this.isRestored = true;
    const { files, text } = this.parts;
    if (applied.sequence > files.applied.sequence) files.applied = applied;
    // Both begin at once: a search that follows sees them.
    await Promise.all([this.#addVectors(rows), text.add(rows)]);
  }

  async remove(sequences: readonly number[]): Promise<void> {
    if (this.gap !== undefined) for (const each of sequences) this.#removedMeanwhile.add(each);
    await Promise.all([this.parts.vectors.remove(sequences), this.parts.text.remove(sequences)]);
  }

  search(query: VectorQuery): Promise<Hit[]> {
    return this.parts.vectors.search(query);
  }

  close({ keeps }: { keeps: boolean }): Promise<void> {
    this.#closing ??= this.#close({ keeps });
    return this.#closing;
  }

  async #close({ keeps }: { keeps: boolean }): Promise<void> {
    const closing = [this.parts.vectors.close(), this.parts.text.close({ keeps })];
    // Neither is left open because the other fails.
    const all = await Promise.allSettled(closing);
    all.push(...(await Promise.allSettled([this.parts.files.close({ keeps })])));
    this.parts.onClosed?.(this);
    for (const closed of all) if (closed.status === "rejected") throw closed.reason;
  }

  async #addVectors(rows: readonly IndexRow[]): Promise<void> {
    const withVectors = rows.flatMap(({ sequence, vectors = [] }) => {
      return vectors.length === 0 ? [] : [{ sequence, vectors }];
    });
    if (withVectors.length > 0) await this.parts.vectors.add(withVectors);
  }
}
