import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failedPrecondition, MemoryError } from "../../src/errors.js";
import { firstBroken, type LineBytes, linesIn } from "../../src/lines.js";
import { type Line, OtherFormatError, type Source } from "./imported.js";
import { parseForeignJson } from "./readers/json.js";

/** Maximum length of a line: a memory with all its vectors takes some megabytes. */
const LINE_BYTES_MAX = 67_108_864;
/** Maximum size of a file that is one JSON value: a longer one fits into no string of Node's. */
const JSON_BYTES_MAX = 500_000_000;
/** Maximum size of what comes through a pipe, which is written into a temporary file. */
const PIPED_BYTES_MAX = 8_589_934_592;

const CHUNK_BYTES = 262_144;
const [LF, CR] = [0x0a, 0x0d];

/**
 * Opens a file of memories; `-` is the standard input. What comes through a pipe is read into a temporary
 * file first, because some formats are read twice.
 *
 * @throws MemoryError `invalid_argument`
 */
export async function openSource(path: string): Promise<Source & { close(): Promise<void> }> {
  const name = path === "-" ? "the standard input" : path;
  const file = await opened(path, name);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(2), position: 0 });
    refuseUtf16(buffer.subarray(0, bytesRead), name);
  } catch (error) {
    await file.close();
    throw error;
  }
  let json: Promise<unknown> | undefined;
  return {
    lines: () => linesOf(file),
    json: () => {
      json ??= jsonOf(file, name);
      return json;
    },
    close: () => file.close(),
  };
}

async function opened(path: string, name: string): Promise<FileHandle> {
  if (path === "-") return await spooled(process.stdin, name);
  try {
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    return await spooled(chunksOf(file, null), name).finally(() => file.close());
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw unreadable(`${name} cannot be read: ${(error as Error).message}`, error);
  }
}

async function spooled(input: AsyncIterable<Buffer | string>, name: string): Promise<FileHandle> {
  const path = join(tmpdir(), `recalld-import-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    // It goes with the process, however that ends.
    await unlink(path);
    let bytes = 0;
    for await (const chunk of input) {
      bytes += chunk.length;
      if (bytes > PIPED_BYTES_MAX) throw unreadable(`${name} has more than ${PIPED_BYTES_MAX} bytes`);
      await file.writeFile(chunk);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads on from a position, or from where a pipe is. A stream of the file's could not be begun anew. */
async function* chunksOf(file: FileHandle, start: number | null): AsyncGenerator<Buffer> {
  for (let position = start; ; ) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES), position });
    if (bytesRead === 0) return;
    if (position !== null) position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* linesOf(file: FileHandle): AsyncGenerator<Line> {
  let number = 0;
  let offset = 0;
  for await (const line of linesIn(chunksOf(file, 0), LINE_BYTES_MAX)) {
    yield lineOf(++number, offset, line);
    offset += line.length + 1;
  }
}

function lineOf(number: number, offset: number, { bytes, length }: LineBytes): Line {
  if (length > LINE_BYTES_MAX) return { number, problem: `it is longer than ${LINE_BYTES_MAX} bytes` };
  const line = bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes;
  // Some programs put a mark at the beginning of a file.
  if (isUtf8(line)) return { number, text: new TextDecoder("utf-8", { ignoreBOM: number > 1 }).decode(line) };
  return { number, problem: `it is not UTF-8 (byte ${offset + firstBroken(bytes)} of the file)` };
}

async function jsonOf(file: FileHandle, name: string): Promise<unknown> {
  const { size } = await file.stat();
  if (size > JSON_BYTES_MAX) {
    throw failedPrecondition(`${name} is ${size} bytes; at most ${JSON_BYTES_MAX} are read, so split it`);
  }
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    ({ bytesRead: read } = await file.read(bytes, length, size - length, length));
  }
  const text = decoded(bytes.subarray(0, length), name);
  try {
    return parseForeignJson(text);
  } catch (error) {
    throw new OtherFormatError(`${name} is not JSON`, error);
  }
}

/**
 * Decodes a text, without the mark that some programs put at its beginning.
 *
 * @throws MemoryError `invalid_argument` if it is not UTF-8
 */
export function decoded(bytes: Buffer, name: string): string {
  refuseUtf16(bytes, name);
  if (!isUtf8(bytes)) {
    const at = firstBroken(bytes);
    const line = bytes.subarray(0, at).reduce((lines, byte) => lines + Number(byte === LF), 1);
    throw unreadable(`${name} is not UTF-8 at byte ${at} (line ${line}); save it as UTF-8`);
  }
  return new TextDecoder().decode(bytes);
}

/**
 * Refuses what begins as UTF-16 or UTF-32, as Windows PowerShell writes what `>` takes: with a mark, or with ASCII, which has
 * a zero in its first two bytes. Without the mark it would be UTF-8 with zeros between the letters.
 */
function refuseUtf16([a = 1, b = 1]: Uint8Array, name: string): void {
  const isMarked = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  if (isMarked || a === 0 || b === 0) throw unreadable(`${name} is UTF-16; save it as UTF-8`);
}

function unreadable(message: string, cause?: unknown): MemoryError {
  return new MemoryError("invalid_argument", message, { cause });
}
