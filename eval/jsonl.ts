import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/**
 * Reads the rows of `<base>.jsonl` or `<base>.jsonl.gz`; none when neither exists.
 *
 * @throws Error that names file and line when a line is not an object with an `id`.
 */
export function readJsonl<T extends { readonly id: string }>(base: string): T[] | undefined {
  const path = [`${base}.jsonl`, `${base}.jsonl.gz`].find((each) => existsSync(each));
  if (path === undefined) return undefined;
  const bytes = readFileSync(path);
  const text = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return text.split("\n").flatMap((line, i) => (line === "" ? [] : parse<T>(line, `${path}:${i + 1}`)));
}

function parse<T extends { readonly id: string }>(line: string, where: string): T {
  try {
    const row = JSON.parse(line) as T;
    if (typeof row.id !== "string") throw new Error("no id");
    return row;
  } catch (error) {
    throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
  }
}
