import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { failedPrecondition } from "../../errors.js";

/** Reads a JSON file of a model; returns undefined if it is missing. */
export async function readJson(folder: string, file: string): Promise<unknown> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    throw failedPrecondition(`${path} is not JSON`, { cause: error });
  }
}

export function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}
