import type { Recalld } from "../../clients/typescript/src/index.js";
import { MemoryError } from "../../src/errors.js";
import { parseNamespace } from "../../src/memory/input/namespace.js";
import { grouped } from "../output.js";
import { importMemories, type Progress, type Report, type Storing } from "./import-memories.js";
import { NotThatFormat, OtherFormat, type Read, type Reader, type Source, Unreadable } from "./imported.js";
import { readChatGpt } from "./readers/chatgpt.js";
import { readClaude } from "./readers/claude.js";
import { readMem0 } from "./readers/mem0.js";
import { readChroma, readQdrant, readSupermemory } from "./readers/qdrant.js";
import { readRecalld } from "./readers/recalld.js";
import { readServerMemory } from "./readers/server-memory.js";
import { type OpenSource, openSource } from "./source-file.js";

/** Readers by the name that `--from` gives; docs/admin.md says where each file comes from. */
export const READERS: Readonly<Record<string, Reader>> = {
  recalld: readRecalld,
  mem0: readMem0,
  chroma: readChroma,
  qdrant: readQdrant,
  supermemory: readSupermemory,
  "server-memory": readServerMemory,
  chatgpt: readChatGpt,
  claude: readClaude,
};

/** Formats of lines come first: the others would take a file of lines for one that is broken. */
const ORDER = ["recalld", "server-memory"];

export const FORMATS = Object.keys(READERS);

interface FileImport {
  /** Path of the file; `-` is the standard input. */
  readonly file: string;
  /** Name of a format; when left out, the file's content tells it. */
  readonly from?: string | undefined;
  readonly namespace: string;
  readonly server: Recalld | undefined;
  show(line: string): void;
}

/**
 * Imports a file into a namespace of a server.
 *
 * @throws MemoryError `invalid_argument` if the file cannot be read or its format is not known,
 * `failed_precondition` if it is not of its format; RecalldError as the server answers.
 */
export async function importFile(request: FileImport): Promise<Report & { from: string }> {
  const namespace = parseNamespace(request.namespace);
  if (request.from !== undefined && !FORMATS.includes(request.from)) {
    throw new MemoryError("invalid_argument", `--from must be one of ${FORMATS.join(", ")}`);
  }
  let source: OpenSource | undefined;
  try {
    source = await openSource(request.file);
    const { from, read } = await readAs(source, request.from);
    const report = await importMemories({
      read,
      store: request.server && storingIn(namespace, request.server),
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

function storingIn(namespace: string, server: Recalld): (storing: Storing) => Promise<{ already: boolean }> {
  return async ({ text, metadata, externalId, expireTime }) => {
    const memory = { namespace, text, metadata, externalId, expireTime };
    const { outcome } = await server.store({ ...memory, onConflict: "KEEP" });
    return { already: outcome === "KEPT" };
  };
}

export function lineOf({ read, stored, already, skipped, refused }: Progress): string {
  const parts = [`${grouped(stored)} stored`, `${grouped(already)} were there already`];
  if (skipped > 0) parts.push(`${grouped(skipped)} skipped`);
  if (refused > 0) parts.push(`${grouped(refused)} refused`);
  return `${grouped(read)} read: ${parts.join(", ")}`;
}

/**
 * Finds the format of a file by its content: the first whose reader takes its beginning.
 *
 * @throws Unreadable if it is none of them
 */
export async function readAsFound(source: Source): Promise<{ from: string; read: AsyncIterable<Read> }> {
  const names = [...ORDER, ...Object.keys(READERS).filter((name) => !ORDER.includes(name))];
  for (const from of names) {
    const parts = READERS[from]?.(source)[Symbol.asyncIterator]();
    if (parts === undefined) continue;
    try {
      const first = await parts.next();
      if (first.done !== true || (await saysWhatItIs(source, from)))
        return { from, read: rest(first, parts) };
    } catch (error) {
      if (!(error instanceof OtherFormat)) throw error;
    }
  }
  throw new Unreadable(`the file is of no known format: ${Object.keys(READERS).join(", ")}`);
}

/** True if a file without records can be of only one format. An empty list can be of several. */
async function saysWhatItIs(source: Source, from: string): Promise<boolean> {
  return from === "recalld" || (from !== "server-memory" && !isEmptyList(await source.json()));
}

function isEmptyList(json: unknown): boolean {
  return Array.isArray(json) && json.length === 0;
}

async function* rest(first: IteratorResult<Read>, parts: AsyncIterator<Read>): AsyncGenerator<Read> {
  try {
    for (let next = first; next.done !== true; next = await parts.next()) yield next.value;
  } finally {
    await parts.return?.();
  }
}
