import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { NotThatFormat, type Source } from "./imported.js";

/** Maximum length of a line, in characters: a memory with all its vectors takes some megabytes. */
const LINE_CHARS_MAX = 67_108_864;
/** Maximum size of a file that is one JSON value: a longer one fits into no string of Node's. */
const JSON_BYTES_MAX = 500_000_000;

/** Opens a file of memories. */
export function sourceFile(path: string): Source {
  return { lines: () => linesOf(path), json: () => jsonOf(path) };
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_CHARS_MAX) throw new NotThatFormat(`${path} has a line that is too long`);
    yield* lines;
  }
  if (rest !== "") yield rest;
}

async function jsonOf(path: string): Promise<unknown> {
  const { size } = await stat(path);
  if (size > JSON_BYTES_MAX) {
    throw new NotThatFormat(`${path} is ${size} bytes; at most ${JSON_BYTES_MAX} are read, so split it`);
  }
  const text = await readFile(path, "utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NotThatFormat(`${path} is not JSON`, { cause: error });
  }
}
