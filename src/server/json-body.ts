import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { invalid, MemoryError } from "../errors.js";
import { toConnectError } from "./errors.js";

const gunzipBytes = promisify(gunzip);

/** Structs may nest deeper than the room allows, but not so deep that walking them overflows the stack. */
const NESTING_MAX = 64;

const TOO_LARGE = "BODY_TOO_LARGE";

/**
 * A JSON body that is checked, before it is decoded, for what Protobuf's own JSON rules let pass or
 * report without naming the field: numbers in quotes, unknown fields, broken JSON. Yields the bytes
 * as they came.
 *
 * @throws ConnectError when read: `invalid_argument`, or `resource_exhausted` beyond `bytesMax`.
 */
export async function* checkedJsonBody(
  body: AsyncIterable<Uint8Array>,
  { message, encoding, bytesMax, onTooLarge }: JsonBodyOptions,
): AsyncGenerator<Uint8Array> {
  try {
    const bytes = await readAll(body, bytesMax);
    checkMessage(message, parse(await decode(bytes, { encoding, bytesMax })));
    yield bytes;
  } catch (error) {
    if (error instanceof MemoryError && error.reason === TOO_LARGE) onTooLarge();
    throw error instanceof MemoryError ? toConnectError(error) : error;
  }
}

export interface JsonBodyOptions {
  /** What the body is to become. */
  readonly message: DescMessage;
  readonly encoding: string | null;
  /** The limit, which holds before and after decompressing. */
  readonly bytesMax: number;
  /** Called before `resource_exhausted` is thrown. */
  onTooLarge(): void;
}

/** The error for a body over the limit. */
export function tooLarge(bytesMax: number): MemoryError {
  return new MemoryError(
    "resource_exhausted",
    `the body is larger than ${bytesMax.toLocaleString("en-US")} bytes`,
    {
      reason: TOO_LARGE,
    },
  );
}

async function readAll(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function decode(
  bytes: Uint8Array,
  { encoding, bytesMax }: { encoding: string | null; bytesMax: number },
): Promise<string> {
  // Other encodings are refused by Connect, which knows how to say so.
  if (encoding !== "gzip") return new TextDecoder().decode(bytes);
  const plain = await gunzipBytes(bytes, { maxOutputLength: bytesMax }).catch((error) => {
    if (error.code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new MemoryError("invalid_argument", "the body is not gzip, as its Content-Encoding says");
  });
  return new TextDecoder().decode(plain);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Not the parser's own message: it quotes the text.
    throw invalid("body", json.trim() === "" ? "is empty; send a JSON object" : "is not valid JSON");
  }
}

function checkMessage(message: DescMessage, value: unknown): void {
  if (!isObject(value)) throw invalid("body", `is ${kindOf(value)}; send a JSON object`);
  for (const [key, inner] of Object.entries(value)) {
    const field = message.fields.find(({ name, jsonName }) => key === name || key === jsonName);
    if (field === undefined) throw invalid(shown(key), `is not a field of ${message.name}`);
    // null is Protobuf's way to leave a field out.
    if (inner !== null) checkField(field, inner);
  }
}

function checkField(field: DescField, value: unknown): void {
  if (field.fieldKind === "message") {
    if (!isObject(value)) throw invalid(field.name, `is ${kindOf(value)}; send a JSON object`);
    checkNesting(field.name, value, 1);
  } else if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) {
    if (typeof value !== "string") throw invalid(field.name, `is ${kindOf(value)}; send a string`);
    // Decoding would refuse it as well, but not name the field.
    if (!value.isWellFormed()) throw invalid(field.name, "is not well-formed Unicode (a lone surrogate)");
  } else if (field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL) {
    if (typeof value !== "boolean") throw invalid(field.name, `is ${kindOf(value)}; send true or false`);
  } else if (field.fieldKind === "enum") {
    if (typeof value !== "string") throw invalid(field.name, `is ${kindOf(value)}; send its name`);
  } else if (!(typeof value === "number" && isInt32(value))) {
    const what = typeof value === "number" ? String(value) : kindOf(value);
    throw invalid(field.name, `is ${what}; send a whole number`);
  }
}

function checkNesting(field: string, value: object, depth: number): void {
  if (depth > NESTING_MAX) throw invalid(field, `is more than ${NESTING_MAX} levels deep`);
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) checkNesting(field, inner, depth + 1);
  }
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A key as an error may repeat it: short, and printable. */
function shown(key: string): string {
  return (
    key
      .replace(/rcl_\w*/g, "rcl_…")
      .replace(/[^\p{L}\p{N}_.…-]/gu, "?")
      .slice(0, 64) || "?"
  );
}
