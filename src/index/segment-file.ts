import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Mark } from "../memory/ports/vectors.js";
import type { Flat, FlatArrays } from "./flat.js";
import { Bits } from "./rows/bits.js";
import { type Range, Segment } from "./segment.js";

/** Number of the files' format. A change to what the words of a text are is another format, too. */
const FORMAT = 2;
/** Arrays begin at multiples of this, so that they can be used where they were read. */
const ALIGNMENT = 8;
/** Bytes whose checksum is computed before other work may get its turn: about a millisecond. */
const SLICE_BYTES = 2_097_152;

const TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array };
type TypeName = keyof typeof TYPES;

/** Lets all other work of this thread that is ready run first. */
export type Yield = () => Promise<void>;

/**
 * What a segment's file is. It stands beside the file only while the file is exactly that: the first overwriting
 * removes it, and a file without one is never read.
 */
export interface Manifest extends Range {
  readonly format: number;
  readonly logId: string;
  /** Entry of the log up to which tombstones were applied to the file. */
  readonly applied: Mark;
  readonly arrays: readonly ArrayLayout[];
  /** Checksum of all arrays, one after the other. */
  readonly crc: number;
}

interface ArrayLayout {
  readonly name: string;
  readonly type: TypeName;
  readonly at: number;
  readonly length: number;
}

/** Elements of an array that were overwritten in memory. */
export interface OverwrittenRange {
  readonly array: Flat;
  readonly from: number;
  readonly to: number;
}

/** The range and the rows of a segment that has a file. */
export interface Filed extends Range {
  readonly rows: number;
  /** Those that were removed. */
  readonly removed: number;
}

/** Path of a segment's files without their endings, and the manifest there. */
export interface Found {
  readonly path: string;
  readonly manifest: Manifest;
}

const dataPath = (path: string) => `${path}.segment`;
const manifestPath = (path: string) => `${path}.json`;

/** The file of a segment. The caller does all work on it in turn. */
export class SegmentFile {
  readonly #layout: readonly ArrayLayout[];
  readonly #offsets: ReadonlyMap<Flat, number>;
  /** Number of overwritings that were asked for and are not done. */
  pending = 0;
  /** True once it has all of its segment. */
  isWritten: boolean;
  #isErased = false;

  /** @param isPublished true if its manifest stands beside it */
  private constructor(
    private readonly path: string,
    private readonly arrays: FlatArrays,
    public isPublished: boolean,
  ) {
    this.isWritten = isPublished;
    this.#layout = layoutOf(arrays);
    this.#offsets = new Map(this.#layout.map(({ name, at }) => [arrays[name] as Flat, at]));
  }

  /** The file that a segment will have in a folder. */
  static of(segment: Segment, folder: string): SegmentFile {
    return new SegmentFile(join(folder, randomBytes(8).toString("hex")), segment.arrays, false);
  }

  /** Reads a segment; undefined if its file is not exactly what its manifest says. */
  static async read(
    { path, manifest }: Found,
    yieldNow: Yield,
  ): Promise<{ segment: Segment; file: SegmentFile } | undefined> {
    const arrays = await readArrays(dataPath(path), manifest.arrays);
    if (arrays === undefined || (await checksumOf(arrays, yieldNow)) !== manifest.crc) return undefined;
    const { after, upto } = manifest;
    const segment = Segment.from({ after, upto }, arrays);
    return { segment, file: new SegmentFile(path, segment.arrays, true) };
  }

  /** Erases the files at a path, the manifest first. */
  static async eraseAt(path: string): Promise<void> {
    await new SegmentFile(path, {}, true).erase();
  }

  /** Writes all arrays as they are now. What is removed from them meanwhile must be overwritten afterwards. */
  async write(): Promise<void> {
    await mkdir(join(this.path, ".."), { recursive: true, mode: 0o700 });
    await this.#opened("w", async (file) => {
      for (const { name, at } of this.#layout) await writeAt(file, bytesOf(this.arrays[name] as Flat), at);
    });
    this.isWritten = true;
  }

  /** Writes some elements as they are in memory now, unless the file is gone; the manifest goes first. */
  async overwrite(ranges: readonly OverwrittenRange[]): Promise<void> {
    if (this.#isErased) return;
    await this.#unpublish();
    await this.#opened("r+", async (file) => {
      for (const { array, from, to } of ranges) {
        const at = (this.#offsets.get(array) as number) + from * array.BYTES_PER_ELEMENT;
        await writeAt(file, bytesOf(array.subarray(from, to)), at);
      }
    });
  }

  /**
   * Writes the manifest, unless the segment changes while its checksum is computed. The file must be as the segment is
   * in memory.
   */
  async publish(
    segment: Segment,
    { logId, applied, yieldNow }: { logId: string; applied: Mark; yieldNow: Yield },
  ): Promise<void> {
    const { changes, range } = segment;
    const crc = await checksumOf(this.arrays, yieldNow);
    if (segment.changes !== changes) return;
    const manifest: Manifest = { format: FORMAT, logId, ...range, applied, arrays: this.#layout, crc };
    const json = JSON.stringify(manifest);
    const draft = `${manifestPath(this.path)}.draft`;
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(`${crc32(json)}\n${json}`);
      await file.sync();
    } finally {
      await file.close();
    }
    if (segment.changes !== changes) return void (await rm(draft));
    await rename(draft, manifestPath(this.path));
    await this.#syncFolder();
    this.isPublished = true;
  }

  async erase(): Promise<void> {
    await this.#unpublish();
    await rm(dataPath(this.path), { force: true });
    this.#isErased = true;
  }

  async #unpublish(): Promise<void> {
    if (!this.isPublished) return;
    await rm(manifestPath(this.path), { force: true });
    await this.#syncFolder();
    this.isPublished = false;
  }

  async #opened(flags: "w" | "r+", work: (file: FileHandle) => Promise<void>): Promise<void> {
    const file = await open(dataPath(this.path), flags, 0o600);
    try {
      await work(file);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  async #syncFolder(): Promise<void> {
    const folder = await open(join(this.path, ".."), "r");
    await folder.sync().finally(() => folder.close());
  }
}

/** Lists the segments of a folder that have a readable manifest of this log, in the order of the log. */
export async function findSegments(folder: string, logId: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await namesIn(folder)) {
    if (!name.endsWith(".json")) continue;
    const path = join(folder, name.slice(0, -".json".length));
    const manifest = parseManifest(await readFile(join(folder, name), "utf8").catch(() => ""));
    if (manifest?.logId === logId) found.push({ path, manifest });
  }
  // Of two that begin at the same place, the longer one was merged from the other.
  found.sort(({ manifest: a }, { manifest: b }) => a.after - b.after || b.upto - a.upto);
  const longest = (i: number) => found.slice(0, i).every(({ manifest }) => manifest.upto < upto(i));
  const upto = (i: number) => (found[i] as Found).manifest.upto;
  return found.filter((_, i) => longest(i));
}

/** Counts the rows of a segment's file, and those of them that were removed; undefined if it cannot be read. */
export async function rowsIn({
  path,
  manifest,
}: Found): Promise<Pick<Filed, "rows" | "removed"> | undefined> {
  const { arrays } = manifest;
  const rows = arrays.find(({ name }) => name === "sequences")?.length ?? 0;
  const live = arrays.filter(({ name }) => name === "live");
  const read = await readArrays(dataPath(path), live);
  if (read === undefined) return undefined;
  return { rows, removed: rows - new Bits(rows, read.live as Uint32Array).count() };
}

/** Erases all files of a folder but those of these segments. */
export async function eraseOthers(folder: string, found: readonly Found[]): Promise<void> {
  const names = new Set(found.flatMap(({ path }) => [dataPath(path), manifestPath(path)]));
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    if (!names.has(path)) await rm(path, { recursive: true, force: true });
  }
}

/** Names of what is in a folder; none if there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
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

/** Reads the arrays of a file, each into memory of its own; undefined if the file is missing or too short. */
async function readArrays(path: string, layout: readonly ArrayLayout[]): Promise<FlatArrays | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const arrays: Record<string, Flat> = {};
    for (const { name, type, at, length } of layout) {
      const array = new TYPES[type](length);
      if (!(await readAt(file, bytesOf(array), at))) return undefined;
      arrays[name] = array;
    }
    return arrays;
  } finally {
    await file.close();
  }
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

async function checksumOf(arrays: FlatArrays, yieldNow: Yield): Promise<number> {
  let crc = 0;
  let unyielded = 0;
  for (const array of Object.values(arrays)) {
    const bytes = bytesOf(array);
    for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
      const slice = bytes.subarray(from, from + SLICE_BYTES);
      crc = crc32(slice, crc);
      unyielded += slice.length;
      if (unyielded < SLICE_BYTES) continue;
      unyielded = 0;
      await yieldNow();
    }
  }
  return crc;
}

function bytesOf({ buffer, byteOffset, byteLength }: Flat): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
