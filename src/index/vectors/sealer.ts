import { availableParallelism } from "node:os";
import { graphPath } from "../segment-file.js";
import type { Chunk } from "./chunk.js";
import type { DescribedGraph } from "./graph-file.js";
import type { GraphSegment } from "./graph-segment.js";
import type { IndexThread } from "./index-thread.js";

/** Number of vectors sent to the thread at a time: an abandoned build ends within a fraction of a second. */
const SLICE_ROWS = 1024;
/** Number of new vectors from which on all cores build. Fewer are in no hurry, and leave them to calls. */
const HURRY_ROWS = 16_384;

export interface Sealing {
  /** Path of the new segment's files without their endings. */
  readonly path: string;
  readonly dimensions: number;
  /** Segment that the new one replaces. */
  readonly base?: GraphSegment | undefined;
  readonly chunks: readonly Chunk[];
  /** Memories that were removed since the sealing began. */
  readonly gone: ReadonlySet<number>;
  readonly signal: AbortSignal;
  /** Called before the graph's file is written. */
  onWriting(): void;
}

/** Builds graphs of sealed memories in a thread that all indexes share, one after the other. */
export class Sealer {
  #last: Promise<unknown> = Promise.resolve();

  /** @param thread does only what no call waits for */
  constructor(private readonly thread: IndexThread) {}

  /** Writes a graph with the memories of its base and of some chunks; throws if it is aborted. */
  seal(sealing: Sealing): Promise<DescribedGraph> {
    const sealed = this.#last.then(() => this.#seal(sealing));
    // The caller gets the failure. What was built until then goes with the next graph, or with the idle thread.
    this.#last = sealed.catch(() => {});
    return sealed;
  }

  async #seal({ path, dimensions, base, chunks, gone, signal, onWriting }: Sealing): Promise<DescribedGraph> {
    signal.throwIfAborted();
    const known = base === undefined ? [] : [...base.gone];
    await this.thread.call("begin", { dimensions, path: base?.path, gone: known, anew: base?.isGappy });
    const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
    const threads = rows >= HURRY_ROWS ? availableParallelism() : 1;
    for (const chunk of chunks) {
      for (const { keys, vectors } of slicesOf(chunk)) {
        signal.throwIfAborted();
        await this.thread.call("add", { keys, vectors, threads }, { transfer: [vectors.buffer] });
      }
    }
    signal.throwIfAborted();
    onWriting();
    return this.thread.call("write", { path: graphPath(path), gone: [...gone] });
  }
}

/**
 * Copies a chunk's vectors, all at once, because rows move when others are removed. What is removed from it meanwhile
 * is removed from the graph later.
 */
function slicesOf({ dimensions, keys, vectors, rows }: Chunk) {
  return Array.from({ length: Math.ceil(rows / SLICE_ROWS) }, (_, i) => {
    const [from, to] = [i * SLICE_ROWS, Math.min(rows, (i + 1) * SLICE_ROWS)];
    return {
      keys: BigUint64Array.from(keys.subarray(from, to), BigInt),
      vectors: vectors.slice(from * dimensions, to * dimensions),
    };
  });
}
