import type { JsonObject } from "@bufbuild/protobuf";

/** Maximum of a text in bytes, by the contract. */
const TEXT_BYTES_MAX = 65_536;

/** A memory to store. */
export interface Item {
  readonly text: string;
  readonly metadata?: JsonObject;
  readonly externalId?: string;
}

/**
 * Reads a line of a JSON Lines file: a memory; undefined for an empty line, and for the first and last lines
 * of an export; or a sentence that says why it is none.
 */
export function itemOf(line: string): Item | undefined | string {
  if (line.trim() === "") return undefined;
  const value = parsed(line);
  if (value === undefined) return "this is not a JSON object";
  const { text, metadata, id, external_id: externalId = id, format, sha256 } = value;
  if (text === undefined && (format !== undefined || sha256 !== undefined)) return undefined;
  if (typeof text !== "string" || text.trim() === "") return "it has no text";
  const size = new TextEncoder().encode(text).length;
  if (size > TEXT_BYTES_MAX) return `its text is ${size} bytes; the limit is ${TEXT_BYTES_MAX}`;
  return {
    text,
    ...(isObject(metadata) && { metadata }),
    ...(typeof externalId === "string" && externalId !== "" && { externalId }),
  };
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
