import { readFile } from "node:fs/promises";
import { MemoryError } from "../errors.js";
import { parseNamespace } from "../memory/input/namespace.js";
import { importMemories, type Progress, type Report } from "./import-memories.js";
import { NotThatFormat } from "./imported.js";
import { READERS } from "./readers/readers.js";
import { sourceFile } from "./source-file.js";
import { storeOverHttp } from "./store-over-http.js";

export interface FileImport {
  readonly file: string;
  /** Name of a reader. */
  readonly from: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  /** Address of the server; not needed for a dry run. */
  readonly url?: string | undefined;
  /** File that holds the API key alone; not needed for a dry run. */
  readonly keyFile?: string | undefined;
  /** Shows how far it is. */
  show(line: string): void;
}

/**
 * Imports a file into a namespace of a server.
 *
 * @throws MemoryError `failed_precondition` if the file cannot be read or is of another kind; else as the
 * server answers.
 */
export async function importFile(request: FileImport): Promise<Report> {
  const namespace = parseNamespace(request.namespace);
  const reader = READERS[request.from];
  if (reader === undefined) {
    refuse(`--from must be one of ${Object.keys(READERS).join(", ")}`);
  }
  const store = request.dryRun ? neverStore : storeOverHttp({ ...(await targetOf(request)), namespace });
  try {
    return await importMemories({
      read: reader(sourceFile(request.file)),
      place: namespace,
      store,
      dryRun: request.dryRun,
      onProgress: (progress) => request.show(lineOf(progress)),
    });
  } catch (error) {
    if (error instanceof NotThatFormat || isOfTheFile(error)) refuse(error.message, error);
    throw error;
  }
}

/** Says in one line how far an import is. */
export function lineOf({ read, stored, already, skipped, refused }: Progress): string {
  const parts = [`${count(stored)} stored`, `${count(already)} were there already`];
  if (skipped > 0) parts.push(`${count(skipped)} without text`);
  if (refused > 0) parts.push(`${count(refused)} refused`);
  return `${count(read)} read: ${parts.join(", ")}`;
}

async function targetOf({ url, keyFile }: FileImport): Promise<{ url: string; key: string }> {
  if (url === undefined || keyFile === undefined) refuse("say --url and --key-file, or --dry-run");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) refuse("--url is no http(s) address");
  try {
    return { url, key: (await readFile(keyFile, "utf8")).trim() };
  } catch (error) {
    return refuse(`the key file cannot be read: ${(error as Error).message}`, error);
  }
}

async function neverStore(): Promise<never> {
  throw new MemoryError("internal", "a dry run stores nothing");
}

function isOfTheFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "path" in error;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function refuse(message: string, cause?: unknown): never {
  throw new MemoryError("failed_precondition", message, { cause });
}
