import { randomUUID } from "node:crypto";
import { beginsNumber, endOfToken, isHeld } from "../../../src/json-tokens.js";
import { METADATA_DEPTH_MAX } from "../../../src/memory/requests/metadata.js";
import { parseJson } from "../../../src/parse-json.js";

/** Member of the object that stands for a number; no file can have it by chance. */
const MARK = `number ${randomUUID()}`;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Words that Python's `json.dump` writes for numbers that JSON does not have. */
const NO_NUMBERS = ["NaN", "Infinity", "-Infinity"];

/**
 * Parses JSON, and the numbers that Python writes beside it. A number that no double holds becomes an object
 * whose digits `literalOf` answers, so that it is neither rounded nor keeps the rest of the file from being read.
 *
 * @throws SyntaxError
 */
export function parseForeignJson(text: string): unknown {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = endOfToken(text, at);
    const literal = literalAt(text, at, end);
    if (literal === "" || !isLost(literal)) continue;
    end = at + literal.length;
    parts.push(text.slice(copied, at), JSON.stringify({ [MARK]: literal }));
    copied = end;
  }
  return parseJson(parts.length === 0 ? text : parts.join("") + text.slice(copied));
}

/** Returns the digits of a number that no double holds, undefined for any other value. */
export function literalOf(value: unknown): string | undefined {
  const literal = typeof value === "object" && value !== null && (value as Record<string, unknown>)[MARK];
  return typeof literal === "string" ? literal : undefined;
}

/** A number that no double holds, and its path. */
interface Lost {
  readonly literal: string;
  readonly path: readonly (string | number)[];
}

/** Finds such a number in metadata. What is deeper than metadata may be is refused for that. */
export function lostIn(value: unknown, path: Lost["path"] = []): Lost | undefined {
  const literal = literalOf(value);
  if (literal !== undefined) return { literal, path };
  if (typeof value !== "object" || value === null || path.length > METADATA_DEPTH_MAX) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const lost = lostIn(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** Writes a value as JSON, with the digits of each number as they were; undefined if it is too deep for the stack. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, inner) => literalOf(inner) ?? inner);
  } catch {
    return undefined;
  }
}

function literalAt(text: string, at: number, end: number): string {
  if (beginsNumber(text.charCodeAt(at)) && text[end - 1] !== "-") return text.slice(at, end);
  return NO_NUMBERS.find((each) => text.startsWith(each, at)) ?? "";
}

function isLost(literal: string): boolean {
  if (NO_NUMBERS.includes(literal)) return true;
  if (!NUMBER.test(literal)) return false; // no JSON, as its parser will say
  const value = Number(literal);
  if (!Number.isFinite(value) || Object.is(value, -0)) return true;
  return literal.length > 15 && /^-?\d+$/.test(literal) && !isHeld(literal);
}
