import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Clock } from "../concurrency/clock.js";
import { mapConcurrently } from "../concurrency/map-concurrently.js";
import { serialQueue } from "../concurrency/serial-queue.js";
import type { IndexPart, Mark } from "../memory/ports/index.js";
import type { Flat, FlatArrays } from "./flat.js";
import { Bits } from "./rows/bits.js";

/** Number of the files' format. A change to what the words of a text are is another format, too. */
const FORMAT = 8;
/** Arrays begin at multiples of this, so that they can be used where they were read. */
const ALIGNMENT = 8;
/** Bytes that have a checksum of their own: they are overwritten together. */
const BLOCK_BYTES = 4_096;
const CHECKSUM_BYTES = Uint32Array.BYTES_PER_ELEMENT;
/** Runs of blocks that are written at a time: about as many as Node has threads for files. */
const WRITES_AT_ONCE = 8;
/** Bytes that are copied and checked before other work may run: about a millisecond. */
const SLICE_BYTES = 1_048_576;
const SLICE_BLOCKS = SLICE_BYTES / BLOCK_BYTES;

const TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array };
type TypeName = keyof typeof TYPES;

/** Range of the log that a segment covers: numbers above `after`, up to `upto`. */
export interface Range {
  readonly after: number;
  readonly upto: number;
}

/** A segment of either part of an index, as its file needs it. */
export interface AnySegment {
  readonly part: IndexPart;
  readonly range: Range;
  /** All that it holds; `live` are the bits of the rows that were not removed. */
  readonly arrays: FlatArrays;
  readonly rows: number;
  /** The graph beside it, which USearch maps into memory. */
  readonly graph?: GraphLayout | undefined;
  /** Removes a memory, and notes what is to be overwritten; false if it does not live here. */
  remove(sequence: number, overwriting: Overwriting): boolean;
  /** Lists its memories that were removed since it had these living rows. */
  removedSince(lived: Uint32Array): number[];
}

/** Parts of a segment's files to overwrite: ranges of its arrays, and rows of its graph. */
export interface Overwriting {
  readonly ranges: OverwrittenRange[];
  readonly rows: number[];
}

/** Offset of the rows in a graph's file: their number and the bytes of each stand before them. */
export const ROWS_OFFSET = 8;

/** Shape of a graph's file, which begins with a matrix of rows. */
export interface GraphLayout {
  readonly dimensions: number;
  readonly bytes: number;
  readonly rows: number;
  readonly rowBytes: number;
  /** Checksum of all of the file but its rows, which have one each in the segment. */
  readonly frame: number;
}

/** Description of a segment's file. A file without one is never read. */
export interface Manifest extends Range {
  readonly format: number;
  readonly logId: string;
  readonly part: IndexPart;
  /** Number of its rows, removed ones included. */
  readonly rows: number;
  readonly graph?: GraphLayout | undefined;
  /** Entry of the log up to which tombstones were applied to the file when this was written. */
  readonly applied: Mark;
  /** The log's last entry when its memories were read, if that is a later one: some may have been erased before. */
  readonly end?: Mark | undefined;
  /** The latest time at which a memory expired that was removed because of that; 0 if there is none. */
  readonly expiredMs: number;
  /** Bits of the rows that lived then, as `encodeBits` writes them: those that the file lacks were removed afterwards. */
  readonly lived: string;
  readonly arrays: readonly ArrayLayout[];
}

interface ArrayLayout {
  readonly name: string;
  readonly type: TypeName;
  readonly at: number;
  readonly length: number;
}

/** Elements of an array that were overwritten in memory. */
interface OverwrittenRange {
  readonly array: Flat;
  readonly from: number;
  readonly to: number;
}

/** Numbers of neighbouring blocks: from one to before another. */
interface Run {
  readonly from: number;
  to: number;
}

/** The bytes that blocks had at one moment. */
interface CopiedBlocks {
  /** Number of the first. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

/** A segment that has files: their path without its ending, and the manifest there. */
export interface StoredSegment {
  readonly path: string;
  readonly manifest: Manifest;
}

/** Path of the file of a segment's graph. */
export const graphPath = (path: string) => `${path}.usearch`;
const dataPath = (path: string) => `${path}.segment`;
const manifestPath = (path: string) => `${path}.json`;

/**
 * The file of a segment: its arrays, a checksum of each block of them, and one of all these checksums, which is written
 * last. An overwriting changes several blocks that only together are right: if a crash comes in between, a checksum
 * does not match, and the segment is built from the log. Work on a file runs one after the other.
 */
export class SegmentFile {
  readonly #layout: readonly ArrayLayout[];
  readonly #offsets: ReadonlyMap<Flat, number>;
  /** The bytes of each array, and where they are in the file. */
  readonly #parts: readonly { readonly at: number; readonly array: Uint8Array }[];
  /** Checksum of each block, as in the file. */
  readonly #checksums: Uint32Array;
  /** Elements and rows to overwrite, and the queued overwriting that will write them. */
  #ranges: OverwrittenRange[] = [];
  #rows: number[] = [];
  #overwriting: Promise<void> | undefined;
  readonly #enqueue = serialQueue();
  /** True once it has all of its segment. */
  isWritten: boolean;
  /** Number of the entry up to which the log was applied to it, by its manifest; undefined if that lacks a removal. */
  applied: number | undefined;
  /** True if its manifest stands beside it, so that the next process reads it. */
  hasManifest: boolean;
  #isErased = false;

  private constructor(
    private readonly path: string,
    arrays: FlatArrays,
    private readonly graph: GraphLayout | undefined,
    checksums?: Uint32Array,
  ) {
    this.hasManifest = checksums !== undefined;
    this.isWritten = this.hasManifest;
    this.#layout = layoutOf(arrays);
    this.#offsets = new Map(this.#layout.map(({ name, at }) => [arrays[name] as Flat, at]));
    this.#parts = this.#layout.map(({ name, at }) => ({ at, array: bytesOf(arrays[name] as Flat) }));
    this.#checksums = checksums ?? new Uint32Array(blocksOf(this.#layout));
  }

  /** The file that a segment will have at a path. */
  static from({ arrays, graph }: AnySegment, path: string): SegmentFile {
    return new SegmentFile(path, arrays, graph);
  }

  /** Reads the arrays of a segment; undefined if the file is damaged or missing. */
  static async read<T extends FlatArrays>(
    { path, manifest }: StoredSegment,
    clock: Pick<Clock, "yield">,
  ): Promise<{ arrays: T; file: SegmentFile } | undefined> {
    const read = await readBlocks(dataPath(path), blocksOf(manifest.arrays), clock);
    if (read === undefined) return undefined;
    const arrays = arraysIn(read.bytes, manifest.arrays) as T;
    const file = new SegmentFile(path, arrays, manifest.graph, read.checksums);
    const [live, lived] = [arrays.live as Uint32Array, decodeBits(manifest.lived)];
    // If rows live that the manifest lacks, the file is an older copy of itself.
    if (live.some((bits, i) => (bits & ~(lived[i] as number)) !== 0)) return undefined;
    if (live.every((bits, i) => bits === lived[i])) file.applied = manifest.applied.sequence;
    return { arrays, file };
  }

  /** Erases the files at a path, the manifest first. */
  static async eraseAt(path: string): Promise<void> {
    await new SegmentFile(path, {}, undefined, new Uint32Array()).erase();
  }

  /** Writes all arrays as they are now. What is removed from them meanwhile must be overwritten afterwards. */
  write(): Promise<void> {
    return this.#enqueue(async () => {
      await mkdir(join(this.path, ".."), { recursive: true, mode: 0o700 });
      await withSyncedFile(dataPath(this.path), "w", async (file) => {
        for (let from = 0; from < this.#checksums.length; from += SLICE_BLOCKS) {
          const to = Math.min(from + SLICE_BLOCKS, this.#checksums.length);
          await this.#writeBlocks(file, this.#copy({ from, to }));
        }
        await this.#writeChecksums(file);
      });
      this.isWritten = true;
    });
  }

  /**
   * Writes some elements as they are in memory now, unless the file is gone. What is asked for before the writing
   * begins is written together.
   */
  overwrite({ ranges, rows }: Overwriting): Promise<void> {
    this.applied = undefined;
    for (const range of ranges) this.#ranges.push(range);
    for (const row of rows) this.#rows.push(row);
    this.#overwriting ??= this.#enqueue(async () => {
      this.#overwriting = undefined;
      const [taken, rows] = [this.#ranges, this.#rows];
      [this.#ranges, this.#rows] = [[], []];
      if (this.#isErased) return;
      // Copied all at once: otherwise the file could get a part of a later removal, with checksums that are right.
      const copies = runsOf(this.#blocksIn(taken)).map((run) => this.#copy(run));
      await withSyncedFile(dataPath(this.path), "r+", async (file) => {
        await mapConcurrently(copies, WRITES_AT_ONCE, (copy) => this.#writeBlocks(file, copy));
        await this.#writeChecksums(file);
      });
      if (rows.length === 0) return;
      // After a crash, the rows that do not live any more are overwritten again.
      const { rowBytes } = this.graph as GraphLayout;
      const zeros = new Uint8Array(rowBytes);
      await withSyncedFile(graphPath(this.path), "r+", async (file) => {
        for (const row of rows) await writeAt(file, zeros, ROWS_OFFSET + row * rowBytes);
      });
    });
    return this.#overwriting;
  }

  /** Writes its manifest, which may be of an earlier moment. */
  publish(manifest: Omit<Manifest, "format" | "arrays">): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#isErased) return;
      const json = JSON.stringify({ format: FORMAT, ...manifest, arrays: this.#layout } satisfies Manifest);
      const draft = `${manifestPath(this.path)}.draft`;
      await withSyncedFile(draft, "w", (file) => file.writeFile(`${crc32(json)}\n${json}`));
      await rename(draft, manifestPath(this.path));
      this.hasManifest = true;
      await this.#syncFolder();
    });
  }

  erase(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.hasManifest) {
        await rm(manifestPath(this.path)).catch(ifMissing(undefined));
        await this.#syncFolder();
        this.hasManifest = false;
      }
      for (const path of [dataPath, graphPath]) await rm(path(this.path)).catch(ifMissing(undefined));
      this.#isErased = true;
    });
  }

  /** Numbers of the blocks that hold some elements, in order. */
  #blocksIn(ranges: readonly OverwrittenRange[]): number[] {
    const blocks = new Set<number>();
    for (const { array, from, to } of ranges) {
      const at = this.#offsets.get(array) as number;
      const [first, last] = [at + from * array.BYTES_PER_ELEMENT, at + to * array.BYTES_PER_ELEMENT - 1];
      for (let block = Math.floor(first / BLOCK_BYTES); block * BLOCK_BYTES <= last; block++)
        blocks.add(block);
    }
    return [...blocks].sort((a, b) => a - b);
  }

  /** Writes a copy of blocks, and computes their checksums. */
  async #writeBlocks(file: FileHandle, { from, bytes }: CopiedBlocks): Promise<void> {
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      this.#checksums[from + at / BLOCK_BYTES] = crc32(bytes.subarray(at, at + BLOCK_BYTES));
    }
    await writeAt(file, bytes, from * BLOCK_BYTES);
  }

  /** Writes the checksums of all blocks and, at last, that of all of them: what was written before is right now. */
  async #writeChecksums(file: FileHandle): Promise<void> {
    const checksums = bytesOf(this.#checksums);
    const all = Buffer.concat([checksums, bytesOf(sealOf(this.#checksums))]);
    await writeAt(file, all, this.#checksums.length * BLOCK_BYTES);
  }

  /** Copies blocks as the arrays are now. */
  #copy(run: Run): CopiedBlocks {
    const [from, to] = [run.from * BLOCK_BYTES, run.to * BLOCK_BYTES];
    const bytes = new Uint8Array(to - from);
    for (const { at, array } of this.#parts) {
      const [first, last] = [Math.max(from, at), Math.min(to, at + array.length)];
      if (first < last) bytes.set(array.subarray(first - at, last - at), first - from);
    }
    return { from: run.from, bytes };
  }

  async #syncFolder(): Promise<void> {
    const folder = await open(join(this.path, ".."), "r").catch(ifMissing(undefined));
    await folder?.sync().finally(() => folder.close());
  }
}

/** Lists the segments of a folder that have a readable manifest of this log, in the order of the log. */
export async function findSegments(folder: string, logId: string): Promise<StoredSegment[]> {
  const found: StoredSegment[] = [];
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(".json")) continue;
    const path = join(folder, name.slice(0, -".json".length));
    const manifest = parseManifest(await readFile(join(folder, name), "utf8").catch(unlessTooMany("")));
    if (manifest?.logId === logId) found.push({ path, manifest });
  }
  // Of two that begin at the same place, the longer one was merged from the other.
  found.sort(({ manifest: a }, { manifest: b }) => a.after - b.after || b.upto - a.upto);
  const ends: Record<IndexPart, number> = { vectors: 0, words: 0 };
  // Those of two replicas that somebody copied into one folder may hold some memories in common.
  return found.filter(({ manifest: { part, after, upto } }) => {
    if (after < ends[part]) return false;
    ends[part] = upto;
    return true;
  });
}

/** Counts the rows of a segment's file that were removed; undefined if it cannot be read, or a file has lost a part. */
export async function removedIn({ path, manifest }: StoredSegment): Promise<number | undefined> {
  const { rows, graph, arrays } = manifest;
  const live = arrays.find(({ name }) => name === "live");
  if (live === undefined) return undefined;
  const bits = new Uint32Array(live.length);
  const bytes = blocksOf(arrays) * (BLOCK_BYTES + CHECKSUM_BYTES) + CHECKSUM_BYTES;
  const isRead = await withReadableFile(dataPath(path), async (file) => {
    return (await file.stat()).size === bytes && readAt(file, bytesOf(bits), live.at);
  });
  const graphBytes = graph && (await stat(graphPath(path)).catch(() => undefined))?.size;
  if (!isRead || graphBytes !== graph?.bytes) return undefined;
  return rows - new Bits(rows, bits).count();
}

/** Makes a path for a new segment's files. */
export function newPath(folder: string): string {
  return join(folder, randomBytes(8).toString("hex"));
}

/** Erases all files of a folder but those of these segments. */
export async function eraseOthers(folder: string, found: readonly StoredSegment[]): Promise<void> {
  const names = new Set(
    found.flatMap(({ path, manifest: { graph } }) => {
      return [dataPath(path), manifestPath(path), ...(graph === undefined ? [] : [graphPath(path)])];
    }),
  );
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!names.has(path)) await rm(path, { recursive: true, force: true });
  }
}

/** Names of what is in a folder; none if there is no such folder, or a file in its place. */
export function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(ifMissing<string[]>([]));
}

/** Returns a handler of errors that gives this value if a file or folder is missing, and throws any other. */
export function ifMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return value;
    throw error;
  };
}

/**
 * Returns a handler of errors that gives this value, but throws if too many files are open: that says nothing about this
 * file, which would be erased.
 */
export function unlessTooMany<T>(value: T): (error: unknown) => T {
  return (error) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EMFILE" || code === "ENFILE") throw error;
    return value;
  };
}

function parseManifest(text: string): Manifest | undefined {
  const [crc, json = ""] = text.split("\n");
  if (crc !== String(crc32(json))) return undefined;
  const manifest = JSON.parse(json) as Manifest;
  return manifest.format === FORMAT ? manifest : undefined;
}

function layoutOf(arrays: FlatArrays): ArrayLayout[] {
  let at = 0;
  return Object.entries(arrays).map(([name, array]) => {
    const layout = { name, type: array.constructor.name as TypeName, at, length: array.length };
    at += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT;
    return layout;
  });
}

/** Number of blocks that hold arrays. */
function blocksOf(layout: readonly ArrayLayout[]): number {
  const { type, at, length } = layout.at(-1) ?? { type: "Uint8Array" as const, at: 0, length: 0 };
  return Math.ceil((at + length * TYPES[type].BYTES_PER_ELEMENT) / BLOCK_BYTES);
}

/** Checksum of the checksums of all blocks. */
function sealOf(checksums: Uint32Array): Uint32Array {
  return Uint32Array.of(crc32(bytesOf(checksums)));
}

/** Reads all blocks of a file; undefined if one lacks its checksum, or the file is missing, too short or unreadable. */
async function readBlocks(
  path: string,
  blocks: number,
  clock: Pick<Clock, "yield">,
): Promise<{ bytes: ArrayBuffer; checksums: Uint32Array } | undefined> {
  const bytes = new ArrayBuffer(blocks * BLOCK_BYTES);
  const checksums = new Uint32Array(blocks);
  const isWhole = await withReadableFile(path, async (file) => {
    const seal = new Uint32Array(1);
    if (!(await readAt(file, bytesOf(checksums), bytes.byteLength))) return false;
    if (!(await readAt(file, bytesOf(seal), bytes.byteLength + checksums.byteLength))) return false;
    if (seal[0] !== sealOf(checksums)[0]) return false;
    for (let from = 0; from < bytes.byteLength; from += SLICE_BYTES) {
      const slice = new Uint8Array(bytes, from, Math.min(SLICE_BYTES, bytes.byteLength - from));
      if (!(await readAt(file, slice, from))) return false;
      for (let at = 0; at < slice.length; at += BLOCK_BYTES) {
        const checksum = crc32(slice.subarray(at, at + BLOCK_BYTES));
        if (checksum !== checksums[(from + at) / BLOCK_BYTES]) return false;
      }
      await clock.yield();
    }
    return true;
  });
  return isWhole ? { bytes, checksums } : undefined;
}

/** Opens a file for some writing, and syncs and closes it afterwards. */
async function withSyncedFile(
  path: string,
  flags: "w" | "r+",
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await work(file);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Opens a file for some reading, and closes it afterwards; false if there is none, or the disk cannot read it. */
async function withReadableFile(
  path: string,
  work: (file: FileHandle) => Promise<boolean>,
): Promise<boolean> {
  const file = await open(path, "r").catch(unlessTooMany(undefined));
  if (file === undefined) return false;
  const isDone = work(file).catch(() => false);
  return isDone.finally(() => file.close());
}

function arraysIn(bytes: ArrayBuffer, layout: readonly ArrayLayout[]): FlatArrays {
  return Object.fromEntries(
    layout.map(({ name, type, at, length }) => [name, new TYPES[type](bytes, at, length)]),
  );
}

/** Joins neighbours of ascending numbers, as many as make a slice. */
function runsOf(numbers: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.to === number && number - last.from < SLICE_BLOCKS) last.to++;
    else runs.push({ from: number, to: number + 1 });
  }
  return runs;
}

/** Writes the words of `Bits` as base64. */
export function encodeBits(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("base64");
}

export function decodeBits(base64: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(base64, "base64")).buffer);
}

async function readAt(file: FileHandle, bytes: Uint8Array, at: number): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, at + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}

async function writeAt(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Flat): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
