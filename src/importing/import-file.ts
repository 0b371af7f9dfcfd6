import { MemoryError } from "../errors.js";
import { parseNamespace } from "../memory/input/namespace.js";
import { readAsFound } from "./detect.js";
import { importMemories, type Progress, type Report } from "./import-memories.js";
import { NotThatFormat, type Source, Unreadable } from "./imported.js";
import { READERS } from "./readers/readers.js";
import { type OpenSource, openSource } from "./source-file.js";
import { storeOverHttp, type Target } from "./store-over-http.js";

/** Names of the formats. */
export const FORMATS = Object.keys(READERS);

export interface FileImport {
  /** Path of the file; `-` is the standard input. */
  readonly file: string;
  /** Name of a format; when left out, the file's content tells it. */
  readonly from?: string | undefined;
  readonly namespace: string;
  /** The server; left out for a dry run. */
  readonly server: Omit<Target, "namespace"> | undefined;
  /** Shows how far it is. */
  show(line: string): void;
}

/**
 * Imports a file into a namespace of a server.
 *
 * @throws MemoryError `invalid_argument` if the file cannot be read or its format is not known,
 * `failed_precondition` if it is not of its format; else as the server answers.
 */
export async function importFile(request: FileImport): Promise<Report & { from: string }> {
  const namespace = parseNamespace(request.namespace);
  if (request.from !== undefined && !FORMATS.includes(request.from)) {
    throw new MemoryError("invalid_argument", `--from must be one of ${FORMATS.join(", ")}`);
  }
  const store = request.server ? storeOverHttp({ ...request.server, namespace }) : neverStore;
  let source: OpenSource | undefined;
  try {
    source = await openSource(request.file);
    const { from, read } = await readAs(source, request.from);
    const report = await importMemories({
      read,
      store,
      dryRun: request.server === undefined,
      onProgress: (progress) => request.show(lineOf(progress)),
    });
    return { from, ...report };
  } catch (error) {
    if (!(error instanceof NotThatFormat)) throw error;
    const code = error instanceof Unreadable ? "invalid_argument" : "failed_precondition";
    throw new MemoryError(code, error.message, { cause: error });
  } finally {
    await source?.close();
  }
}

async function readAs(source: Source, from: string | undefined) {
  const read = from === undefined ? undefined : READERS[from]?.(source);
  return from === undefined || read === undefined ? await readAsFound(source) : { from, read };
}

/** Says in one line how far an import is. */
export function lineOf({ read, stored, already, skipped, refused }: Progress): string {
  const parts = [`${count(stored)} stored`, `${count(already)} were there already`];
  if (skipped > 0) parts.push(`${count(skipped)} skipped`);
  if (refused > 0) parts.push(`${count(refused)} refused`);
  return `${count(read)} read: ${parts.join(", ")}`;
}

async function neverStore(): Promise<never> {
  throw new MemoryError("internal", "a dry run stores nothing");
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}
