import { readFileSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { UsageError } from "./failure.js";

/**
 * Returns the text that was given: as an argument, from a file, or from the standard input, which `-` names.
 *
 * @throws UsageError if none or several were given.
 */
export async function textGiven(given: string | undefined, file: string | undefined): Promise<string> {
  if (given !== undefined && file !== undefined) throw new UsageError("give a text or --file, not both");
  if (file !== undefined && file !== "-") return readFileSync(file, "utf8");
  if (given !== undefined && given !== "-") return given;
  if (given === undefined && file === undefined && process.stdin.isTTY === true) {
    throw new UsageError("give a text, --file, or pipe one in");
  }
  return (await readAll(process.stdin)).replace(/\n$/, "");
}

/** Tells whether a text was given on the line or as a file. */
export function hasText(given: string | undefined, file: string | undefined): boolean {
  return given !== undefined || file !== undefined;
}

/**
 * Parses metadata: a JSON object, or `key=value` pairs.
 *
 * @throws UsageError if it is neither.
 */
export function metadataGiven(given: readonly string[]): Record<string, unknown> | undefined {
  if (given.length === 0) return undefined;
  const [first = ""] = given;
  if (given.length === 1 && first.trimStart().startsWith("{")) return parseObject(first);
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new UsageError(`--metadata ${pair}: give key=value, or one JSON object`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function parseObject(json: string): Record<string, unknown> {
  try {
    return JSON.parse(json) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`--metadata is not JSON: ${(error as Error).message}`);
  }
}
