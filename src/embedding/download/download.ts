import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Digest, digestOf } from "./digest.js";
import { type HubFile, HubRefusal, RangeRefused, requestFile } from "./hub.js";
import { adoptRemainder, partOf, removeRemainders } from "./remainder.js";

const ATTEMPTS_MAX = 4;
const RETRY_PAUSE_MS = 500;
/** Time without a byte after which the connection is given up. */
const STALL_TIMEOUT_MS = 30_000;
/** Errors that another attempt cannot fix: no room, or no right to write. */
const FINAL_CODES = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EACCES", "EPERM", "EROFS", "ENOTDIR", "EISDIR"]);

export interface Download {
  readonly url: string;
  readonly path: string;
  readonly onProgress: (progress: { bytes: number; bytesTotal: number | undefined }) => void;
  readonly retryPauseMs?: number;
  readonly stallTimeoutMs?: number;
}

export interface Downloaded {
  readonly bytes: number;
  /** Hash of the content; `vouched` tells whether the server named it before the download. */
  readonly digest: Digest;
  readonly vouched: boolean;
  readonly commit: string | undefined;
}

/**
 * Downloads one file. It gets its name only when it is whole and matches the server's size and hash. A
 * remainder of a broken download stays beside it, and the next attempt or start continues it.
 *
 * @returns undefined when another process has completed the file first.
 */
export async function downloadFile(download: Download): Promise<Downloaded | undefined> {
  const { path, retryPauseMs = RETRY_PAUSE_MS } = download;
  const part = partOf(path);
  await adoptRemainder(path, part);
  for (let attempt = 1; ; attempt++) {
    try {
      const downloaded = await attemptDownload(download, part);
      await removeRemainders(path);
      return downloaded;
    } catch (error) {
      if ((await sizeOf(path)) !== undefined) return undefined;
      if (isFinal(error) || attempt === ATTEMPTS_MAX) throw error;
      await sleep(retryPauseMs * 2 ** (attempt - 1));
    }
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof HubRefusal || FINAL_CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

async function attemptDownload(download: Download, part: string): Promise<Downloaded> {
  const stalled = new AbortController();
  const stallMs = download.stallTimeoutMs ?? STALL_TIMEOUT_MS;
  const watch = setTimeout(() => stalled.abort(new Error(`no data for ${stallMs} ms`)), stallMs);
  try {
    const file = await request(download.url, { offset: (await sizeOf(part)) ?? 0, signal: stalled.signal });
    await mkdir(dirname(part), { recursive: true });
    await checkRoom(dirname(part), file);
    const stream = metered({ file, onProgress: download.onProgress, onPiece: () => watch.refresh() });
    await pipeline(stream, createWriteStream(part, openAt(file.offset)));
    const downloaded = await verify(part, file);
    await rename(part, download.path);
    return downloaded;
  } catch (error) {
    if (error instanceof RangeRefused) await rm(part, { force: true });
    throw error;
  } finally {
    clearTimeout(watch);
  }
}

/** Requests the rest of a file, or all of it if no hash shows that both parts belong to the same file. */
async function request(url: string, asked: { offset: number; signal: AbortSignal }): Promise<HubFile> {
  const file = await requestFile(url, asked);
  if (file.offset === 0 || file.digest !== undefined) return file;
  await file.cancel();
  return requestFile(url, { ...asked, offset: 0 });
}

function openAt(offset: number) {
  return { flags: offset > 0 ? "r+" : "w", start: offset, flush: true };
}

/** Fails before the download if the disk has no room for it. */
async function checkRoom(folder: string, { offset, bytesTotal = 0 }: HubFile): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  const [free, needed] = [bavail * bsize, bytesTotal - offset];
  // Some file systems do not report their free space.
  if (blocks === 0 || free >= needed) return;
  const mb = (bytes: number) => `${Math.floor(bytes / 1e6).toLocaleString("en-US")} MB`;
  const message = `the disk has ${mb(free)} free, and the file needs ${mb(needed)} more`;
  throw Object.assign(new Error(message), { code: "ENOSPC" });
}

async function* metered({
  file: { body, offset, bytesTotal },
  onProgress,
  onPiece,
}: Pick<Download, "onProgress"> & { file: HubFile; onPiece: () => void }) {
  let bytes = offset;
  for await (const piece of body) {
    onPiece();
    bytes += piece.length;
    onProgress({ bytes, bytesTotal });
    yield piece;
  }
}

/** Deletes a file that does not match the server's size or hash, so that the next attempt starts anew. */
async function verify(part: string, { bytesTotal, digest: named, commit }: HubFile): Promise<Downloaded> {
  const bytes = (await sizeOf(part)) ?? 0;
  const isWhole = bytesTotal === undefined || bytes === bytesTotal;
  const digest = await digestOf(part, named?.kind ?? "sha256");
  if (isWhole && (named === undefined || digest.hex === named.hex)) {
    return { bytes, digest, vouched: named !== undefined, commit };
  }
  await rm(part, { force: true });
  throw new Error(isWhole ? "the file does not match its hash" : `${bytes} of ${bytesTotal} bytes came`);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
