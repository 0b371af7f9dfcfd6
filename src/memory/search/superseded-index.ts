import { coalesce } from "../../concurrency/coalesce.js";
import type { Index } from "../ports/index.js";
import type { Sequenced, Stored } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";
import type { SupersedingOrExpiring } from "../ports/secondary-indexes.js";
import { rowFor } from "../ports/windows.js";
import { fetchVisible } from "../versions/fetch.js";

/** Memories fetched at a time; the largest of them weigh some megabytes. */
const FETCH_MANY = 32;
/** Approximate heap bytes of one number in a Set. */
const NUMBER_BYTES = 40;

/** The index of some superseded memories, in the order of the log. */
export interface SupersededLayer {
  readonly sequences: readonly number[];
  readonly index: Index;
}

interface Size {
  readonly memories: number;
  readonly bytes: number;
}

const NOTHING: Size = { memories: 0, bytes: 0 };

export interface SupersededIndexOptions
  extends Pick<DomainPorts, "log" | "secondaryIndexes" | "indexes" | "clock"> {
  readonly logId: string;
  /** Returns the number of the last entry that the log's own index has applied. */
  applied(): number;
  /** Throws if so many bytes do not fit beside the log's own index. */
  checkCapacity(bytes: number): void;
}

/**
 * Indexes of a log's superseded memories, which are built when they are asked for first. An index takes memories in
 * the order of the log, but they are superseded in any order: those that were superseded since make a layer of their
 * own, into which the layers that are no larger go as well.
 */
export class SupersededIndex {
  /** Number of changes so far. */
  changes = 0;
  #layers: readonly SupersededLayer[] = [];
  /** Superseded memories that no layer has yet; undefined until they are asked for. */
  #pending: Set<number> | undefined;
  #isListed = false;
  /** Memories that were removed since the layer that is being built was begun; undefined if none is. */
  #removedMeanwhile: number[] | undefined;
  /** Layers that had no room when they were built: to build as much again would be in vain. */
  #refused = NOTHING;
  readonly #buildOnce = coalesce(() => this.#build());

  constructor(private readonly options: SupersededIndexOptions) {}

  /** Size in memory, in bytes. */
  get bytes(): number {
    return sizeOf(this.#layers).bytes + (this.#pending?.size ?? 0) * NUMBER_BYTES;
  }

  /** Notes memories that were superseded. */
  supersede(sequences: readonly number[]): void {
    if (this.#pending === undefined) return;
    for (const sequence of sequences) {
      if (!this.#layers.some(({ index }) => index.has(sequence))) this.#pending.add(sequence);
    }
  }

  /** Removes memories that were deleted, or have expired. */
  remove(sequences: readonly number[]): void {
    if (this.#pending === undefined) return;
    this.changes++;
    for (const sequence of sequences) {
      // The memories that are left may fit now, and those that are superseded later may be small.
      if (this.#pending.delete(sequence)) this.#refused = NOTHING;
      this.#removedMeanwhile?.push(sequence);
    }
    // Without files, nothing is left to wait for.
    for (const { index } of this.#layers) void index.remove(sequences);
  }

  /** Returns the indexes of all memories that were superseded before the call; throws if they have no room. */
  async layers(): Promise<readonly SupersededLayer[]> {
    this.#checkCapacity(sizeOf(this.#layers));
    if ((this.#pending?.size ?? 0) >= this.#refused.memories) this.#checkCapacity(this.#refused);
    // Those that were built, even if they have been released since.
    return this.#isListed && this.#pending?.size === 0 ? this.#layers : this.#buildOnce();
  }

  /** Gives the memory of the layers back; they are built again when they are asked for. */
  release(): void {
    // One that is being built is checked meanwhile.
    if (this.#removedMeanwhile !== undefined) return;
    for (const { sequences, index } of this.#layers) {
      for (const sequence of sequences) if (index.has(sequence)) this.#pending?.add(sequence);
    }
    this.#layers = [];
    this.changes++;
  }

  #checkCapacity(size: Size): void {
    try {
      this.options.checkCapacity(size.bytes);
    } catch (error) {
      this.#refused = size;
      this.release();
      throw error;
    }
  }

  async #build(): Promise<readonly SupersededLayer[]> {
    // From now on, what is superseded is noted.
    this.#pending ??= new Set();
    const { logId, applied } = this.options;
    // By the entries that have been applied.
    for await (const some of this.#isListed ? [] : supersedingAndExpiring(this.options, logId, applied())) {
      for (const target of some.flatMap(({ supersedes = [] }) => supersedes)) this.#pending.add(target);
    }
    this.#isListed = true;
    const layers = [...this.#layers];
    let sequences = [...this.#pending];
    for (let last = layers.at(-1); last && last.index.size <= sequences.length; last = layers.at(-1)) {
      sequences = sequences.concat(last.sequences);
      layers.pop();
    }
    const removedMeanwhile: number[] = [];
    this.#removedMeanwhile = removedMeanwhile;
    const building = this.#layerOf(
      sequences.sort((a, b) => a - b),
      sizeOf(layers),
    );
    const layer = await building.catch((error: unknown) => {
      this.#removedMeanwhile = undefined;
      this.release();
      throw error;
    });
    // At once: what is removed from now on is removed from this layer as well.
    const removed = layer.index.remove(removedMeanwhile);
    this.#removedMeanwhile = undefined;
    const built = layer.index.size > 0 ? [...layers, layer] : layers;
    this.#layers = built;
    for (const sequence of sequences) this.#pending.delete(sequence);
    this.changes++;
    await removed;
    return built;
  }

  /** Builds a layer beside others. */
  async #layerOf(sequences: readonly number[], others: Size): Promise<SupersededLayer> {
    const { logId, indexes, clock } = this.options;
    const index = indexes.openUnsaved(logId);
    for (let from = 0; from < sequences.length; from += FETCH_MANY) {
      const wanted = {
        logId,
        sequences: sequences.slice(from, from + FETCH_MANY),
        projection: "all",
      } as const;
      const rows: Sequenced<Stored>[] = [];
      const fetched = fetchVisible(this.options, { ...wanted, includeSuperseded: true });
      for await (const some of fetched) rows.push(...some);
      rows.sort((a, b) => a.sequence - b.sequence);
      const last = rows.at(-1);
      if (last === undefined) continue;
      const mark = { sequence: last.sequence, opId: last.entry.opId };
      const indexRows = rows.map((each) => rowFor(index, each));
      await index.add(indexRows, mark);
      this.#checkCapacity({ memories: others.memories + index.size, bytes: others.bytes + index.bytes });
      await clock.yield();
    }
    return { sequences, index };
  }
}

function sizeOf(layers: readonly SupersededLayer[]): Size {
  return layers.reduce(
    (sum, { index }) => ({ memories: sum.memories + index.size, bytes: sum.bytes + index.bytes }),
    NOTHING,
  );
}

/** Numbers listed at a time. */
const LIST_MANY = 1_000;

/** Lists the numbers up to one that supersede memories, or that expire and are not erased, in order, some at a time. */
export async function* supersedingAndExpiring(
  { secondaryIndexes, clock }: Pick<DomainPorts, "secondaryIndexes" | "clock">,
  logId: string,
  upto = Number.POSITIVE_INFINITY,
): AsyncGenerator<SupersedingOrExpiring[]> {
  for (let from = 1; from <= upto; ) {
    const some = await secondaryIndexes.listSupersedingAndExpiring({ logId, from, limit: LIST_MANY });
    yield some.filter(({ sequence }) => sequence <= upto);
    const last = some.at(-1);
    if (last === undefined || some.length < LIST_MANY) return;
    from = last.sequence + 1;
    await clock.yield();
  }
}
