import { readFileSync } from "node:fs";
import { buffer as readAll } from "node:stream/consumers";
import type { Json, Metadata } from "../clients/typescript/src/index.js";
import { parseLossless } from "../src/server/json-text.js";
import { orUsageError, UsageError } from "./failure.js";
import { decoded } from "./import/source-file.js";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * Parses a value that is JSON.
 *
 * @throws UsageError if it is none, has a key twice, or if a number in it would come back as another.
 */
function jsonGiven(option: string, json: string): Json {
  return orUsageError(option, () => parseLossless(json, { what: "it" }) as Json);
}

export function filterGiven(json: string): Metadata {
  const filter = jsonGiven("--filter", json);
  if (typeof filter === "object" && filter !== null && !Array.isArray(filter)) return filter as Metadata;
  throw new UsageError('--filter must be a JSON object, such as \'{"source": "mail"}\'');
}

/** Parses a duration, such as `90s`, `1h30m` or `7d`, as the API takes it: in seconds. */
export function durationGiven(given: string): string {
  const parts = [...given.matchAll(/(\d+(?:\.\d{1,9})?)([smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== given) {
    throw new UsageError(`${JSON.stringify(given)} is no duration: give one such as 90s, 1h or 7d`);
  }
  const seconds = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit as string] ?? 0),
    0,
  );
  return `${Number(seconds.toFixed(9))}s`;
}

/** Makes a parser of an option that takes one of some words, in any letter case. */
export function choiceOf(option: string, choices: readonly string[]) {
  return (given: string): string => {
    const choice = choices.find((each) => each === given.toLowerCase());
    if (choice !== undefined) return choice.toUpperCase();
    throw new UsageError(
      `${option} ${given}: it must be ${choices.join(", ").replace(/, (\w+)$/, " or $1")}`,
    );
  };
}

export function numberOf(option: string) {
  return (given: string): number => {
    const value = Number(given);
    if (given.trim() === "" || !Number.isFinite(value))
      throw new UsageError(`${option} ${given}: it must be a number`);
    return value;
  };
}

/**
 * Returns the text that was given: as words of the line, from a file, or from the standard input, which `-`
 * names.
 *
 * @throws UsageError if none or several were given, MemoryError `invalid_argument` if it is not UTF-8.
 */
export async function textGiven(given: readonly string[], file: string | undefined): Promise<string> {
  if (given.length > 0 && file !== undefined) throw new UsageError("give a text or --file, not both");
  if (file !== undefined && file !== "-") {
    const bytes = orUsageError(`--file ${file} cannot be read`, () => readFileSync(file));
    return decoded(bytes, file);
  }
  const text = given.join(" ");
  // Node has put this in the place of bytes that are not UTF-8, such as those of another encoding's terminal.
  if (text.includes("\ufffd")) {
    throw new UsageError("the text is not UTF-8, or has U+FFFD: give such a one by --file");
  }
  if (given.length > 0 && text !== "-") return text;
  if (file === undefined && given.length === 0 && process.stdin.isTTY === true) {
    throw new UsageError("give a text, --file, or pipe one in");
  }
  return decoded(await readAll(process.stdin), "the standard input").replace(/\r?\n$/, "");
}

/**
 * Parses metadata: a JSON object, or `key=value` pairs, whose values are JSON where they can be, else texts.
 *
 * @throws UsageError if it is neither, or holds a number that would come back as another.
 */
export function metadataGiven(given: readonly string[]): Metadata | undefined {
  if (given.length === 0) return undefined;
  const [first = ""] = given;
  if (given.length === 1 && isJsonObject(first)) {
    return jsonGiven("--metadata", first) as Metadata;
  }
  const metadata: Record<string, Json> = Object.create(null);
  for (const pair of given) {
    const at = pair.indexOf("=");
    // Without this check, the object's text up to a "=" in one of its values would become a key.
    if (at < 1 || isJsonObject(pair))
      throw new UsageError(`--metadata ${pair}: give key=value, or one JSON object`);
    const [key, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (key in metadata) throw new UsageError(`--metadata has the key ${key} twice`);
    metadata[key] = isJson(value) ? jsonGiven(`--metadata ${key}`, value) : value;
  }
  return metadata;
}

/** True for what is to be a JSON object, valid or not. */
function isJsonObject(value: string): boolean {
  return value.trimStart().startsWith("{");
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
