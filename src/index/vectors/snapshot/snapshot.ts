import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { FREE_KEY, read, readGraphFile, readInto, wipeFree } from "./graph-file.js";
import { batchIn, note, unwiped, type Wiped } from "./journal.js";
import { parseKey } from "./keys.js";
import { writeKeys } from "./keys-file.js";
import {
  draftPath,
  graphPath,
  journalPath,
  keysPath,
  manifestPath,
  nameOf,
  ROWS_FROM,
  readManifest,
  rowsPerGroup,
  type SegmentRef,
  type SnapshotManifest,
  sha256Of,
  sync,
  writeDraft,
} from "./manifest.js";

// All of this is synchronous, because it runs in an index's own thread.

const HASH_CHUNK_BYTES = 1 << 22;

/** A segment, and the shape of its vectors. */
export interface SnapshotOf extends SegmentRef {
  readonly dimensions: number;
}

/**
 * Writes a segment's files: `save` writes the graph, the others follow. Rows that nothing holds are zero.
 * Returns the manifest. Only `publish` lets them take the place of the segment's files before.
 */
export function writeSnapshot(
  ref: SnapshotOf,
  { after, mark }: Pick<SnapshotManifest, "after" | "mark">,
  save: (path: string) => void,
): Written {
  mkdirSync(ref.folder, { recursive: true, mode: 0o700 });
  const stem = `${nameOf(ref)}-${mark.sequence}-${randomBytes(4).toString("hex")}`;
  try {
    save(graphPath(ref, stem));
    const { logId, segment, dimensions } = ref;
    const files = describe(ref, stem);
    writeDraft(ref, { logId, segment, dimensions, after, mark, stem, ...files });
    const { size, vectors } = files;
    return { stem, after, mark, size, vectors };
  } catch (error) {
    // After a failure, such as a full disk, the files are useless and take room.
    for (const path of [graphPath, keysPath, draftPath]) rmSync(path(ref, stem), { force: true });
    throw error;
  }
}

/** Result of `writeSnapshot`. */
export type Written = Pick<SnapshotManifest, "stem" | "after" | "mark" | "size" | "vectors">;

/** Writes the files that belong to a graph's file, and returns what the manifest says of both. */
function describe(
  ref: SnapshotOf,
  stem: string,
): Omit<SnapshotManifest, "format" | "logId" | "segment" | "dimensions" | "after" | "mark" | "stem"> {
  const path = graphPath(ref, stem);
  const file = readGraphFile(path);
  wipeFree(path, file);
  sync(path);
  const keys = writeKeys(keysPath(ref, stem), file.keys);
  sync(keysPath(ref, stem));
  const { bytes, rows, rowBytes } = file;
  const held = file.keys.filter((key) => key !== FREE_KEY);
  const size = held.filter((key) => parseKey(key).window === 0).length;
  return { bytes, rows, rowBytes, size, vectors: held.length, keys, ...digestOf(path, file) };
}

/** Result of `findSnapshot`: the files are whole, and the wiped rows are zero. */
export interface Found {
  readonly manifest: SnapshotManifest;
  readonly path: string;
  readonly wiped: Wiped;
}

/**
 * Finds a segment's files, if they are whole, ours and of this kind: native code must not see any other, because
 * a cut file ends the process and a changed one gives wrong answers.
 */
export function findSnapshot(ref: SnapshotOf): Found | undefined {
  try {
    const manifest = readManifest(ref);
    if (manifest.dimensions !== ref.dimensions) return undefined;
    const path = graphPath(ref, manifest.stem);
    if (statSync(path).size !== manifest.bytes) return undefined;
    const wiped = redo(ref, manifest);
    const { frame, groups } = digestOf(path, manifest);
    const isWhole = frame === manifest.frame && groups.every((sha256, i) => sha256 === wiped.groups[i]);
    return isWhole ? { manifest, path, wiped } : undefined;
  } catch {
    // Files that are missing or unreadable are built again from the log.
    return undefined;
  }
}

/** Reads the journal, and overwrites the rows of its last batch, which may be unwiped after a crash. */
function redo(ref: SnapshotOf, manifest: SnapshotManifest): Wiped {
  const wiped = unwiped(manifest);
  const path = journalPath(ref, manifest.stem);
  if (!existsSync(path)) return wiped;
  let last: ReturnType<typeof batchIn>;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const batch = batchIn(line);
    if (batch === undefined) break;
    note(wiped, batch);
    last = batch;
  }
  const fd = openSync(graphPath(ref, manifest.stem), "r+");
  const zeros = Buffer.alloc(manifest.rowBytes);
  for (const [slot] of last?.rows ?? []) {
    writeSync(fd, zeros, 0, zeros.length, ROWS_FROM + slot * manifest.rowBytes);
  }
  fdatasyncSync(fd);
  closeSync(fd);
  return wiped;
}

/** Marks a segment as used, so that others are erased before it. */
export function noteUse(ref: SegmentRef): void {
  const now = new Date();
  utimesSync(manifestPath(ref), now, now);
}

/** Hashes each group of rows, and everything else in a graph's file. */
function digestOf(
  path: string,
  layout: Pick<SnapshotManifest, "bytes" | "rows" | "rowBytes">,
): Pick<SnapshotManifest, "frame" | "groups"> {
  const fd = openSync(path, "r");
  try {
    const frame = createHash("sha256").update(read(fd, 0, ROWS_FROM));
    const groups: string[] = [];
    const rowsTo = ROWS_FROM + layout.rows * layout.rowBytes;
    const groupBytes = rowsPerGroup(layout) * layout.rowBytes;
    // A million rows are a gigabyte: it is read in large chunks, into the same memory.
    const chunkBytes = Math.max(1, Math.floor(HASH_CHUNK_BYTES / groupBytes)) * groupBytes;
    for (const bytes of chunks(fd, { from: ROWS_FROM, to: rowsTo, chunkBytes })) {
      for (let at = 0; at < bytes.length; at += groupBytes) {
        groups.push(sha256Of(bytes.subarray(at, at + groupBytes)));
      }
    }
    for (const bytes of chunks(fd, { from: rowsTo, to: layout.bytes, chunkBytes: HASH_CHUNK_BYTES })) {
      frame.update(bytes);
    }
    return { frame: frame.digest("base64"), groups };
  } finally {
    closeSync(fd);
  }
}

function* chunks(
  fd: number,
  { from, to, chunkBytes }: { from: number; to: number; chunkBytes: number },
): Generator<Buffer> {
  const memory = Buffer.allocUnsafe(chunkBytes);
  for (let at = from; at < to; at += chunkBytes) {
    yield readInto(memory.subarray(0, Math.min(chunkBytes, to - at)), fd, at);
  }
}
