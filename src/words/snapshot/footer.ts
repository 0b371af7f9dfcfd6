import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Mark } from "../../memory/ports/vectors.js";

/** Number of the file's format. A change to what the words of a text are is another format too. */
const FORMAT = 2;
const HASH_BYTES = 32;
const LENGTH_BYTES = 4;
const END_BYTES = HASH_BYTES + LENGTH_BYTES;
/** Maximum length of what the footer says: 100,000 blocks take 6 MB. */
const JSON_BYTES_MAX = 16_777_216;

/** Describes a file, behind its blocks. A hash and the length of the description end the file. */
export interface Footer {
  readonly format: number;
  readonly logId: string;
  readonly mark: Mark;
  /** 16 random bytes in hex, which the file's blocks repeat. */
  readonly nonce: string;
  readonly blocks: readonly BlockEntry[];
}

export interface BlockEntry {
  readonly at: number;
  readonly bytes: number;
  /** Log numbers of the first and the last memory in it. */
  readonly first: number;
  readonly last: number;
}

export function footerBytes(footer: Omit<Footer, "format">): Buffer {
  const json = Buffer.from(JSON.stringify({ format: FORMAT, ...footer }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  return Buffer.concat([json, hashOf(json), length]);
}

/** Reads the footer of a log's file. Throws if it is damaged, of another format or of another log. */
export async function readFooter(file: FileHandle, logId: string): Promise<Footer> {
  const { size } = await file.stat();
  const end = await readAt(file, Math.max(0, size - END_BYTES), END_BYTES);
  const length = end.readUInt32LE(HASH_BYTES);
  if (length > Math.min(size - END_BYTES, JSON_BYTES_MAX)) throw new Error("the footer is cut short");
  const json = await readAt(file, size - END_BYTES - length, length);
  if (!hashOf(json).equals(end.subarray(0, HASH_BYTES))) throw new Error("the footer is damaged");
  const footer = JSON.parse(json.toString()) as Footer;
  if (footer.format !== FORMAT) throw new Error(`the file has format ${footer.format}`);
  if (footer.logId !== logId) throw new Error("the file is of another log");
  return footer;
}

/** Reads a part of a file. Throws if the file ends before it. */
export async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, at + done);
    if (bytesRead === 0) throw new Error("the file is cut short");
    done += bytesRead;
  }
  return buffer;
}

function hashOf(json: Buffer): Buffer {
  return createHash("sha256").update(json).digest();
}
