import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { digestOf } from "./digest.js";
import { type HubFile, HubRefusal, RangeRefused, requestFile } from "./hub.js";

const ATTEMPTS_MAX = 4;
const RETRY_PAUSE_MS = 500;
/** Without a byte for this long the connection is given up. */
const STALL_TIMEOUT_MS = 30_000;

export interface Download {
  readonly url: string;
  readonly path: string;
  readonly onProgress: (progress: { bytes: number; bytesTotal: number | undefined }) => void;
  readonly retryPauseMs?: number;
  readonly stallTimeoutMs?: number;
}

/**
 * Downloads one file. It stands under its name only when it is whole and matches the server's size
 * and hash; what came before a break is kept in `PATH.part` and continued, also by a later start.
 */
export async function downloadFile(download: Download): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptDownload(download);
    } catch (error) {
      if (error instanceof HubRefusal || attempt === ATTEMPTS_MAX) throw error;
      await sleep((download.retryPauseMs ?? RETRY_PAUSE_MS) * 2 ** (attempt - 1));
    }
  }
}

async function attemptDownload(download: Download): Promise<void> {
  const part = `${download.path}.part`;
  const stalled = new AbortController();
  const stallMs = download.stallTimeoutMs ?? STALL_TIMEOUT_MS;
  const watch = setTimeout(() => stalled.abort(new Error(`no data for ${stallMs} ms`)), stallMs);
  try {
    const offset = await sizeOf(part);
    const file = await requestFile(download.url, { offset, signal: stalled.signal });
    await mkdir(dirname(part), { recursive: true });
    const meter = metered({ file, onProgress: download.onProgress, onPiece: () => watch.refresh() });
    await pipeline(meter, openPart(part, file.offset));
    await verify(part, file);
    await rename(part, download.path);
  } catch (error) {
    if (error instanceof RangeRefused) await rm(part, { force: true });
    throw error;
  } finally {
    clearTimeout(watch);
  }
}

/**
 * Writes at positions rather than at the end: should two processes download the same file, both
 * write the same bytes to the same places.
 */
function openPart(part: string, offset: number) {
  return createWriteStream(part, { flags: offset > 0 ? "r+" : "w", start: offset, flush: true });
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

/** Throws away a file that is not what the server named, so that the next attempt begins anew. */
async function verify(part: string, { bytesTotal, digest }: HubFile): Promise<void> {
  const bytes = await sizeOf(part);
  const isWhole = bytesTotal === undefined || bytes === bytesTotal;
  const isTrue = digest === undefined || (await digestOf(part, digest.kind)).hex === digest.hex;
  if (isWhole && isTrue) return;
  await rm(part, { force: true });
  throw new Error(isWhole ? "the file does not match its hash" : `${bytes} of ${bytesTotal} bytes came`);
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
