import { segmentsIn, sizesOf, usesIn } from "./folder.js";
import type { SegmentRef } from "./manifest.js";
import { SegmentFiles } from "./segment-files.js";

export interface IndexFilesOptions {
  readonly folder: string;
  /** Maximum size of all files of logs whose index is not open. */
  readonly bytesMax: number;
}

/** The files of all indexes: for each log, those of its segments. */
export class IndexFiles {
  /** Callbacks of open indexes, by log: files of the segment had to be erased. */
  readonly onLost = new Map<string, (segment: number) => void>();
  readonly #segmentFiles = new SegmentFiles(({ logId, segment }) => this.onLost.get(logId)?.(segment));
  /** Segments that may have files, by log. */
  #segments: Promise<Map<string, Set<number>>> | undefined;

  constructor(private readonly options: IndexFilesOptions) {}

  get folder(): string {
    return this.options.folder;
  }

  /** Lists the logs that have files, whole or not. */
  async logIds(): Promise<string[]> {
    return [...(await segmentsIn(this.folder)).keys()];
  }

  /** Lists the segments of a log that may have files. */
  async segmentsOf(logId: string): Promise<number[]> {
    return [...((await this.#known()).get(logId) ?? [])].sort((a, b) => a - b);
  }

  /** Runs work on a segment's files after all earlier work on them. */
  runSerially<T>(ref: SegmentRef, work: () => Promise<T>): Promise<T> {
    return this.#segmentFiles.runSerially(ref, work);
  }

  /** Replaces a segment's files by those that `write` writes, and makes room for them. */
  async replace<W extends { readonly stem: string }>(ref: SegmentRef, write: () => Promise<W>): Promise<W> {
    const segments = await this.#known();
    segments.set(ref.logId, (segments.get(ref.logId) ?? new Set()).add(ref.segment));
    const writing = write();
    await this.#segmentFiles.replace(ref, writing);
    await this.#evict();
    return writing;
  }

  /** Overwrites the vectors of some memories in all files of a log. */
  async wipe(logId: string, sequences: readonly number[]): Promise<void> {
    await this.#each(logId, (ref) => this.#segmentFiles.wipe(ref, sequences));
  }

  /** Selects the memories whose vectors the files of a log hold. */
  async holds(logId: string, sequences: readonly number[]): Promise<number[]> {
    return (await this.#each(logId, (ref) => this.#segmentFiles.holds(ref, sequences))).flat();
  }

  /** Measures the files of a log by their manifests and journals. */
  async measure(logId: string) {
    const { folder } = this;
    let [upto, rows, removed] = [0, 0, 0];
    for (const segment of await this.segmentsOf(logId)) {
      const held = await this.#segmentFiles.measure({ folder, logId, segment });
      if (held?.after.sequence === upto) upto = held.mark.sequence;
      rows += held?.vectors ?? 0;
      removed += held?.removed ?? 0;
    }
    const sizes = await sizesOf({ folder, logId });
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return { upto, files: sizes.length, bytes, rows, removed };
  }

  /** Erases the files of a log from a segment on. */
  async erase(logId: string, from = 0): Promise<void> {
    await this.#each(logId, async (ref) => {
      if (ref.segment < from) return;
      await this.#segmentFiles.erase(ref);
      (await this.#known()).get(logId)?.delete(ref.segment);
    });
  }

  async #each<T>(logId: string, work: (ref: SegmentRef) => Promise<T>): Promise<T[]> {
    const { folder } = this;
    const segments = await this.segmentsOf(logId);
    return Promise.all(segments.map((segment) => work({ folder, logId, segment })));
  }

  #known(): Promise<Map<string, Set<number>>> {
    this.#segments ??= segmentsIn(this.folder).catch((error) => {
      this.#segments = undefined;
      throw error;
    });
    return this.#segments;
  }

  /**
   * Erases the files of the logs used least recently until the rest fits; all can be built again. Those of
   * open indexes stay, because they are searched.
   */
  async #evict(): Promise<void> {
    const uses = await usesIn(this.folder);
    let bytes = 0;
    for (const use of uses.values()) bytes += use.bytes;
    for (const [oldest, use] of [...uses].sort(([, a], [, b]) => a.usedMs - b.usedMs)) {
      if (bytes <= this.options.bytesMax) return;
      if (this.onLost.has(oldest)) continue;
      await this.erase(oldest);
      bytes -= use.bytes;
    }
  }
}
