import { MemoryError } from "../errors.js";
import { parseNamespace } from "../memory/input/namespace.js";
import { importMemories, type Progress, type Report } from "./import-memories.js";
import { NotThatFormat } from "./imported.js";
import { READERS } from "./readers/readers.js";
import { sourceFile } from "./source-file.js";
import { storeOverHttp, type Target } from "./store-over-http.js";

/** Names of the formats. */
export const FORMATS = Object.keys(READERS);

export interface FileImport {
  readonly file: string;
  /** Name of a reader. */
  readonly from: string;
  readonly namespace: string;
  /** The server; left out for a dry run. */
  readonly server: Omit<Target, "namespace"> | undefined;
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
    refuse(`--from must be one of ${FORMATS.join(", ")}`);
  }
  const store = request.server ? storeOverHttp({ ...request.server, namespace }) : neverStore;
  try {
    return await importMemories({
      read: reader(sourceFile(request.file)),
      store,
      dryRun: request.server === undefined,
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
