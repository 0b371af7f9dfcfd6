import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mark } from "../../../memory/ports/index.js";

/** Format of the manifest and of the files it describes. Files of another format are erased at the start. */
const FORMAT = 5;
/** Rows are hashed in groups of about this size: wiping one row means hashing its group again. */
const GROUP_BYTES = 1 << 17;

/** Identifies a segment's files by their folder, the log whose vectors it holds, and its place in the index. */
export interface SegmentRef {
  readonly folder: string;
  readonly logId: string;
  /** 0 for the oldest memories, 1 for those after them, and so on. */
  readonly segment: number;
}

/** Describes what a segment holds, and how to check that its files are whole. */
export interface SnapshotManifest {
  readonly format: number;
  readonly logId: string;
  readonly dimensions: number;
  readonly segment: number;
  /** Position in the log where the segment before this one ends; number 0 for the first segment. */
  readonly after: Mark;
  readonly mark: Mark;
  /** Number of memories in it. */
  readonly size: number;
  /** Number of vectors in it. */
  readonly vectors: number;
  /** Name of its files, without their endings. No two snapshots share one. */
  readonly stem: string;
  /** Length of the graph's file. */
  readonly bytes: number;
  /** Shape of the matrix with which the graph's file begins: 8 bytes, then this many rows of this length. */
  readonly rows: number;
  readonly rowBytes: number;
  /** SHA-256 of the graph's file without its rows. */
  readonly frame: string;
  /** SHA-256 of each group of rows, as they were when the file was written. */
  readonly groups: readonly string[];
  /** Blocks of the file of keys, each with its first key and SHA-256. */
  readonly keys: readonly { readonly first: number; readonly sha256: string }[];
}

/** Number of bytes before the first row. */
export const ROWS_FROM = 8;

export function rowsPerGroup({ rowBytes }: Pick<SnapshotManifest, "rowBytes">): number {
  return Math.max(1, Math.floor(GROUP_BYTES / rowBytes));
}

/** Returns the byte range of a group of rows in the graph's file. */
export function rangeOfGroup(
  { rows, rowBytes }: Pick<SnapshotManifest, "rows" | "rowBytes">,
  group: number,
): { from: number; bytes: number; firstRow: number } {
  const each = rowsPerGroup({ rowBytes });
  const firstRow = group * each;
  const count = Math.min(each, rows - firstRow);
  return { from: ROWS_FROM + firstRow * rowBytes, bytes: count * rowBytes, firstRow };
}

export const graphPath = ({ folder }: SegmentRef, stem: string) => join(folder, `${stem}.usearch`);
export const keysPath = ({ folder }: SegmentRef, stem: string) => join(folder, `${stem}.keys`);
export const journalPath = ({ folder }: SegmentRef, stem: string) => join(folder, `${stem}.wiped`);
/** Path of the manifest of files that do not replace the kept ones yet. */
export const draftPath = ({ folder }: SegmentRef, stem: string) => join(folder, `${stem}.draft`);
export const manifestPath = (ref: SegmentRef) => join(ref.folder, `${nameOf(ref)}.json`);

/** Returns what the names of all of a segment's files begin with. */
export function nameOf({ logId, segment }: Omit<SegmentRef, "folder">): string {
  return `${logId}_${segment}`;
}

/** Returns the log and the segment to which a file belongs; undefined if it has no name of ours. */
export function ownerOf(name: string): Omit<SegmentRef, "folder"> | undefined {
  const [, logId, segment] = /^([^-._]+)_(\d+)[-.]/.exec(name) ?? [];
  return logId === undefined ? undefined : { logId, segment: Number(segment) };
}

export function sha256Of(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** Reads a manifest's text. Throws when it is damaged or of another format. */
export function parseManifest(
  text: string,
  { logId, segment }: Omit<SegmentRef, "folder">,
): SnapshotManifest {
  // The first line is the hash of the rest.
  const [sha256, json = ""] = text.split("\n");
  if (sha256 !== sha256Of(json)) throw new Error("the manifest is damaged");
  const manifest = JSON.parse(json) as SnapshotManifest;
  if (manifest.format !== FORMAT) throw new Error(`the manifest has format ${manifest.format}`);
  if (manifest.logId !== logId || manifest.segment !== segment) {
    throw new Error("the manifest is of another segment");
  }
  return manifest;
}

export function readManifest(ref: SegmentRef): SnapshotManifest {
  return parseManifest(readFileSync(manifestPath(ref), "utf8"), ref);
}

export function writeDraft(ref: SegmentRef, manifest: Omit<SnapshotManifest, "format">): void {
  const json = JSON.stringify({ format: FORMAT, ...manifest });
  writeFileSync(draftPath(ref, manifest.stem), `${sha256Of(json)}\n${json}`, { mode: 0o600 });
  sync(draftPath(ref, manifest.stem));
}

export function sync(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}
