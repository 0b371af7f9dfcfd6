import { availableParallelism } from "node:os";
import type { IndexThread } from "./index-thread.js";
import type { Segment } from "./segment.js";
import type { IndexFiles } from "./snapshot/index-files.js";
import { keyOf } from "./snapshot/keys.js";
import type { SnapshotOf, Written } from "./snapshot/snapshot.js";
import type { Chunk } from "./tail.js";

/** Number of vectors sent to the thread at a time: an abandoned build ends within a fraction of a second. */
const SLICE_ROWS = 1024;
/** Number of new vectors from which on all cores build. Fewer are in no hurry, and leave them to calls. */
const HURRY_ROWS = 16_384;
/** Share of removed vectors above which a graph is built anew, because its gaps would stay. */
export const GONE_SHARE_MAX = 0.3;

export interface Sealing {
  readonly of: SnapshotOf;
  /** Segment that the new one replaces. */
  readonly base?: Segment | undefined;
  readonly after: Segment["mark"];
  readonly chunks: readonly Chunk[];
  /** Memories that were removed since the sealing began. */
  readonly gone: ReadonlySet<number>;
  readonly signal: AbortSignal;
}

/** Builds graphs of sealed memories in a thread that all indexes share, one after the other. */
export class Sealer {
  #last: Promise<unknown> = Promise.resolve();

  /** @param thread does only what no call waits for */
  constructor(
    private readonly files: IndexFiles,
    private readonly thread: IndexThread,
  ) {}

  /** Writes a segment with the memories of its base and of some chunks; throws if it is aborted. */
  seal(sealing: Sealing): Promise<Written> {
    const sealed = this.#last.then(() => this.#seal(sealing));
    this.#last = sealed.catch(() => this.thread.call("giveUp", undefined)).catch(() => {});
    return sealed;
  }

  async #seal({ of, base, after, chunks, gone, signal }: Sealing): Promise<Written> {
    signal.throwIfAborted();
    const known = base === undefined ? [] : [...base.gone];
    const anew = base !== undefined && base.goneShare > GONE_SHARE_MAX;
    await this.thread.call("begin", { of, stem: base?.files.stem, gone: known, anew });
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
    const threads = rows >= HURRY_ROWS ? availableParallelism() : 1;
    for (const chunk of chunks) {
      for (let from = 0; from < chunk.rows; from += SLICE_ROWS) {
        signal.throwIfAborted();
        const { keys, vectors } = pack(chunk, from);
        await this.thread.call("add", { keys, vectors, threads }, { transfer: [vectors.buffer] });
      }
    }
    signal.throwIfAborted();
    const mark = chunks.at(-1)?.mark ?? base?.mark ?? after;
    return this.files.keep(of, () => this.thread.call("write", { after, mark, gone: [...gone] }));
  }
}

/** Copies some vectors of a chunk. What is removed from it meanwhile is removed from the graph later. */
function pack({ dimensions, sequences, windows, vectors, rows }: Chunk, from: number) {
  const to = Math.min(rows, from + SLICE_ROWS);
  const keys = BigUint64Array.from({ length: to - from }, (_, i) => {
    return keyOf(sequences[from + i] as number, windows[from + i] as number);
  });
  return { keys, vectors: vectors.slice(from * dimensions, to * dimensions) };
}
