import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Mark } from "../memory/vectors.js";

// Synchronous throughout: this runs in an index's own thread.

/** Of the manifest and of what it describes; another one is ignored. */
const FORMAT = 2;
const HASH_CHUNK_BYTES = 1 << 22;

/** What a snapshot is of, and how to tell that it is whole. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly incarnation: string;
  readonly dimensions: number;
  readonly mark: Mark;
  /** Memories in it, and places of vectors that were taken out. */
  readonly size: number;
  readonly blanks: number;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface SnapshotOf {
  readonly folder: string;
  /** What all snapshots there may take, beside the one that is being written. */
  readonly folderBytesMax: number;
  readonly incarnation: string;
  readonly dimensions: number;
}

/**
 * Keeps a snapshot: `save` writes the file, the manifest follows by a rename, so that whatever moment
 * a crash picks, the manifest names a whole file.
 */
export function keepSnapshot(
  of: SnapshotOf,
  { mark, size, blanks }: Pick<Manifest, "mark" | "size" | "blanks">,
  save: (path: string) => void,
): void {
  mkdirSync(of.folder, { recursive: true, mode: 0o700 });
  const file = `${of.incarnation}-${mark.sequence}.usearch`;
  const path = join(of.folder, file);
  save(path);
  sync(path);
  const { bytes, sha256 } = digestOf(path);
  const { incarnation, dimensions } = of;
  const manifest: Manifest = {
    format: FORMAT,
    incarnation,
    dimensions,
    mark,
    size,
    blanks,
    file,
    bytes,
    sha256,
  };
  const draft = `${manifestPath(of)}.draft`;
  const json = JSON.stringify(manifest);
  // A line of its own tells whether the manifest itself is whole.
  writeFileSync(draft, `${sha256Of(json)}\n${json}`, { mode: 0o600 });
  sync(draft);
  renameSync(draft, manifestPath(of));
  removeFiles(of, (name) => name.endsWith(".usearch") && name !== file);
  makeRoom(of);
}

/**
 * The snapshot, if it is whole, ours and of this kind: native code must not see any other, for a cut
 * file ends the process and a changed one answers wrongly.
 */
export function findSnapshot(of: SnapshotOf): { manifest: Manifest; path: string } | undefined {
  try {
    const manifest = readManifest(manifestPath(of));
    const { format, incarnation, dimensions } = manifest;
    if (format !== FORMAT || incarnation !== of.incarnation || dimensions !== of.dimensions) return undefined;
    const path = join(of.folder, manifest.file);
    if (statSync(path).size !== manifest.bytes || digestOf(path).sha256 !== manifest.sha256) return undefined;
    return { manifest, path };
  } catch {
    // Missing or unreadable: either way it is built anew from the log.
    return undefined;
  }
}

/** Says that a snapshot was of use: others are erased before it. */
export function noteUse(of: SnapshotOf): void {
  const now = new Date();
  utimesSync(manifestPath(of), now, now);
}

/** Erases what was written or of use least recently, until the rest fits; all of it can be built anew. */
function makeRoom({ folder, folderBytesMax, incarnation }: SnapshotOf): void {
  const snapshots = usesIn(folder);
  let bytes = 0;
  for (const snapshot of snapshots.values()) bytes += snapshot.bytes;
  for (const [oldest, snapshot] of [...snapshots].sort(([, a], [, b]) => a.usedMs - b.usedMs)) {
    if (bytes <= folderBytesMax) return;
    if (oldest === incarnation) continue;
    eraseSnapshot({ folder, incarnation: oldest });
    bytes -= snapshot.bytes;
  }
}

/** What each snapshot takes, and when one of its files was written or of use last. */
function usesIn(folder: string): Map<string, { bytes: number; usedMs: number }> {
  const snapshots = new Map<string, { bytes: number; usedMs: number }>();
  for (const name of namesIn(folder)) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    // Another index's thread may have erased it meanwhile.
    if (stats === undefined) continue;
    const { bytes, usedMs } = snapshots.get(incarnationIn(name)) ?? { bytes: 0, usedMs: 0 };
    const sum = { bytes: bytes + stats.size, usedMs: Math.max(usedMs, stats.mtimeMs) };
    snapshots.set(incarnationIn(name), sum);
  }
  return snapshots;
}

/** Whether there is something that claims to be a snapshot. */
export function hasSnapshot(of: SnapshotOf): boolean {
  return existsSync(manifestPath(of));
}

/** The incarnations that files in the folder are of, whole or not. */
export function snapshotsIn(folder: string): string[] {
  return [...new Set(namesIn(folder).map(incarnationIn))];
}

function incarnationIn(name: string): string {
  return name.replace(/[-.].*$/, "");
}

/** Erases a snapshot, the manifest first. */
export function eraseSnapshot(of: Pick<SnapshotOf, "folder" | "incarnation">): void {
  rmSync(manifestPath(of), { force: true });
  removeFiles(of, () => true);
}

function readManifest(path: string): Manifest {
  const [sha256, json = ""] = readFileSync(path, "utf8").split("\n");
  if (sha256 !== sha256Of(json)) throw new Error("the manifest is damaged");
  return JSON.parse(json) as Manifest;
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function manifestPath({ folder, incarnation }: Pick<SnapshotOf, "folder" | "incarnation">): string {
  return join(folder, `${incarnation}.json`);
}

function removeFiles(
  { folder, incarnation }: Pick<SnapshotOf, "folder" | "incarnation">,
  which: (name: string) => boolean,
): void {
  for (const name of namesIn(folder)) {
    if (incarnationIn(name) === incarnation && which(name)) rmSync(join(folder, name), { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function digestOf(path: string): { bytes: number; sha256: string } {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(HASH_CHUNK_BYTES);
  const fd = openSync(path, "r");
  let bytes = 0;
  try {
    for (;;) {
      const read = readSync(fd, chunk);
      if (read === 0) break;
      hash.update(chunk.subarray(0, read));
      bytes += read;
    }
  } finally {
    closeSync(fd);
  }
  return { bytes, sha256: hash.digest("hex") };
}

function sync(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}
