import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { setImmediate as nextIteration } from "node:timers/promises";
import { type Batch, batchIn, lineOf, note, unwiped, type Wiped } from "./journal.js";
import { parseKey } from "./keys.js";
import { findSlots, type Slot } from "./keys-file.js";
import {
  graphPath,
  journalPath,
  keysPath,
  manifestPath,
  parseManifest,
  ROWS_FROM,
  rangeOfGroup,
  rowsPerGroup,
  type SegmentRef,
  type SnapshotManifest,
  sha256Of,
} from "./manifest.js";

/** Number of a journal's lines read before other work may run: about a millisecond. */
const SLICE_LINES = 256;

/** What a segment's files hold. */
export interface Measured extends Pick<SnapshotManifest, "after" | "mark" | "vectors"> {
  /** Number of its vectors that were overwritten. */
  readonly removed: number;
}

/**
 * A snapshot on the disk, in which the main thread overwrites single vectors. Everything here throws
 * when the files are damaged or cannot be read or written.
 */
export class StoredSnapshot {
  private constructor(
    private readonly ref: SegmentRef,
    private readonly manifest: SnapshotManifest,
    private readonly wiped: Wiped,
  ) {}

  /** Opens a log's snapshot, and finishes what a crash interrupted; returns undefined if there is none. */
  static async open(ref: SegmentRef): Promise<StoredSnapshot | undefined> {
    const text = await textIn(manifestPath(ref));
    if (text === undefined) return undefined;
    const manifest = parseManifest(text, ref);
    const wiped = unwiped(manifest);
    const snapshot = new StoredSnapshot(ref, manifest, wiped);
    const last = await readJournal(journalPath(ref, manifest.stem), wiped);
    if (last) await snapshot.#onGraph((graph) => snapshot.#zero(graph, last));
    return snapshot;
  }

  measure(): Measured {
    const { after, mark, vectors } = this.manifest;
    return { after, mark, vectors, removed: this.wiped.keyOfSlot.size };
  }

  /** Selects the memories whose vectors are in the file. */
  async holds(sequences: readonly number[]): Promise<number[]> {
    const slots = await this.#slotsOf(sequences);
    return [...new Set(slots.map(({ key }) => parseKey(BigInt(key)).sequence))];
  }

  /** Overwrites the vectors of some memories with zeros; those that are not in the file are skipped. */
  async wipe(sequences: readonly number[]): Promise<void> {
    const slots = await this.#slotsOf(sequences);
    if (slots.length === 0) return;
    await this.#onGraph(async (graph) => {
      const batch = await this.#plan(graph, slots);
      // The journal comes first, so that a crash in between leaves no wiped rows without an explanation.
      await this.#append(lineOf(batch));
      note(this.wiped, batch);
      await this.#zero(graph, batch);
    });
  }

  /** Finds the slots of vectors that are not wiped yet. Other segments hold the memories outside its range. */
  async #slotsOf(sequences: readonly number[]): Promise<Slot[]> {
    const { after, mark, keys, stem } = this.manifest;
    const inside = sequences.filter((each) => each > after.sequence && each <= mark.sequence);
    if (inside.length === 0) return [];
    const slots = await findSlots(keysPath(this.ref, stem), { blocks: keys, sequences: inside });
    return slots.filter(({ slot }) => !this.wiped.keyOfSlot.has(slot));
  }

  /** Plans a batch: the rows to overwrite, and the hashes of their groups afterwards. */
  async #plan(graph: FileHandle, slots: readonly Slot[]): Promise<Batch> {
    const groups: [number, string][] = [];
    for (const [group, inIt] of this.#byGroup(slots)) {
      const { from, bytes, firstRow } = rangeOfGroup(this.manifest, group);
      const buffer = Buffer.allocUnsafe(bytes);
      await graph.read(buffer, 0, bytes, from);
      if (sha256Of(buffer) !== this.wiped.groups[group]) throw new Error("the snapshot's rows are damaged");
      for (const slot of inIt) {
        const at = (slot - firstRow) * this.manifest.rowBytes;
        buffer.fill(0, at, at + this.manifest.rowBytes);
      }
      groups.push([group, sha256Of(buffer)]);
    }
    return { groups, rows: slots.map(({ slot, key }) => [slot, key]) };
  }

  #byGroup(slots: readonly Slot[]): Map<number, number[]> {
    const each = rowsPerGroup(this.manifest);
    const groups = new Map<number, number[]>();
    for (const { slot } of slots) {
      const group = Math.floor(slot / each);
      groups.set(group, [...(groups.get(group) ?? []), slot]);
    }
    return groups;
  }

  async #append(line: string): Promise<void> {
    const journal = await open(journalPath(this.ref, this.manifest.stem), "a", 0o600);
    try {
      await journal.write(line);
      await journal.datasync();
    } finally {
      await journal.close();
    }
  }

  async #zero(graph: FileHandle, { rows }: Batch): Promise<void> {
    const { rowBytes } = this.manifest;
    const zeros = Buffer.alloc(rowBytes);
    for (const [slot] of rows) await graph.write(zeros, 0, rowBytes, ROWS_FROM + slot * rowBytes);
    await graph.datasync();
  }

  async #onGraph(work: (graph: FileHandle) => Promise<void>): Promise<void> {
    const graph = await open(graphPath(this.ref, this.manifest.stem), "r+");
    try {
      await work(graph);
    } finally {
      await graph.close();
    }
  }
}

/**
 * Reads a journal into `wiped`, and cuts off a line that a crash left half written; returns the last
 * batch.
 */
async function readJournal(path: string, wiped: Wiped): Promise<Batch | undefined> {
  const text = (await textIn(path)) ?? "";
  let last: Batch | undefined;
  let from = 0;
  for (let lines = 1; from < text.length; lines++) {
    const to = text.indexOf("\n", from);
    const batch = to < 0 ? undefined : batchIn(text.slice(from, to));
    if (batch === undefined) break;
    note(wiped, batch);
    last = batch;
    from = to + 1;
    if (lines % SLICE_LINES === 0) await nextIteration();
  }
  // Every character of a journal is one byte.
  if (from < text.length) await truncate(path, from);
  return last;
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
