import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

const compress = promisify(gzip);

/** Maximum size of the folder with the portal and the docs, which are some three megabytes. */
const BYTES_MAX = 16_777_216;
const FILES_MAX = 1000;
/** Size below which a file is not compressed: it and its headers fit one packet. */
const GZIP_BYTES_MIN = 1024;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".ts": "text/plain; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".ico": "image/x-icon",
  ".png": "image/png",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};
const COMPRESSED_ALREADY = new Set([".png", ".webp", ".woff2"]);

/** File of the portal or the docs, in memory as it is sent. */
export interface PortalFile {
  /** Path of the file, such as `/assets/index-4f2a.js`. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /**
   * Compresses the file when it is first asked for, so that a start does not wait for pages that nobody reads.
   * Absent for files that are small or compressed already.
   */
  readonly gzipped?: () => Promise<Buffer>;
}

/**
 * Reads the built portal once: afterwards a fixed set of paths is served, and no request reaches the disk.
 * Returns nothing when it is not built.
 */
export async function loadPortal(folder: string): Promise<readonly PortalFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = entries.flatMap((entry) => (entry.isFile() ? join(entry.parentPath, entry.name) : []));
  if (paths.length > FILES_MAX) throw tooLarge(folder);
  const files: PortalFile[] = [];
  let bytes = 0;
  for (const path of paths) {
    const file = fileOf(`/${relative(folder, path).split(sep).join("/")}`, await readFile(path));
    bytes += file.bytes.byteLength;
    if (bytes > BYTES_MAX) throw tooLarge(folder);
    files.push(file);
  }
  return files;
}

/** Builds the file that is served at a path, its type by the path's ending. */
export function fileOf(path: string, bytes: Buffer): PortalFile {
  const extension = extname(path);
  const small = bytes.byteLength < GZIP_BYTES_MIN;
  return {
    path,
    type: TYPES[extension] ?? "application/octet-stream",
    bytes,
    etag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22),
    ...(!small && !COMPRESSED_ALREADY.has(extension) && { gzipped: compressedOnce(bytes) }),
  };
}

function compressedOnce(bytes: Buffer): () => Promise<Buffer> {
  let compressed: Promise<Buffer> | undefined;
  return () => {
    compressed ??= compress(bytes, { level: constants.Z_BEST_COMPRESSION });
    return compressed;
  };
}

function tooLarge(folder: string): Error {
  return new Error(
    `${folder} holds more than ${BYTES_MAX} bytes or ${FILES_MAX} files: it is not the portal`,
  );
}
