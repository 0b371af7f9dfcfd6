import { type OnSecret, type Recalld, RecalldError } from "../../clients/typescript/src/index.js";
import { count, MemoryError } from "../../src/errors.js";
import { handleSecrets } from "../../src/memory/requests/handle-secrets.js";
import { parseMetadata } from "../../src/memory/requests/metadata.js";
import { parseNamespace } from "../../src/memory/requests/namespace.js";
import { parseText } from "../../src/memory/requests/text.js";
import { ACCOUNT, FORMATS, formatOf, readAs } from "./formats.js";
import { Contents, externalIdOf, type Imported, type Problem, type Read } from "./imported.js";
import { openSource } from "./source-file.js";

export const STORING_MAX = 8;
const PROBLEMS_MAX = 10;

/** A memory to store, with the external id under which a namespace holds it once. */
export interface Storing extends Imported {
  readonly externalId: string;
}

interface Progress {
  /** Memories, and other parts of the file, that were read. */
  readonly read: number;
  /** Memories that were stored, or would be stored if it were no dry run. */
  readonly stored: number;
  /** Memories that an earlier attempt had stored. */
  readonly already: number;
  /** Parts that are no memory, such as those without a text. */
  readonly skipped: number;
  /** Memories that cannot be stored as they are. */
  readonly refused: number;
}

interface Report extends Progress {
  /** The first parts that were skipped or refused. */
  readonly problems: readonly Problem[];
}

interface ImportOptions {
  readonly read: AsyncGenerator<Read>;
  /**
   * Stores a memory, unless the namespace holds one with its external id; true if it does. Left out
   * for a dry run.
   *
   * @throws RecalldError `invalid_argument` for a memory that cannot be stored; any other
   * error ends the import.
   */
  readonly store: ((storing: Storing) => Promise<{ already: boolean }>) | undefined;
  /** How the server treats secrets. If undefined, the server's setting applies, which a dry run cannot know. */
  readonly onSecret?: OnSecret | undefined;
  onProgress?(progress: Progress): void;
}

/**
 * Stores memories, a few at a time. When it ends early, another attempt stores the rest: each memory has an
 * external id made of its id in the source, so none is stored twice.
 */
export async function importMemories(options: ImportOptions): Promise<Report> {
  const { read, store, onProgress } = options;
  const onSecret = options.onSecret?.toLowerCase() as Lowercase<OnSecret> | undefined;
  const counts = { read: 0, stored: 0, already: 0, skipped: 0, refused: 0 };
  const problems: Problem[] = [];
  const contents = new Contents();
  let hasFailed = false;
  const note = ({ sourceId, location, result, message }: Problem) => {
    counts[result]++;
    if (problems.length < PROBLEMS_MAX) problems.push({ sourceId, location, result, message });
  };
  const storeOne = async (memory: Imported) => {
    const { sourceId, location, expireTime } = memory;
    if (expireTime !== undefined && Date.parse(expireTime) <= Date.now()) {
      return note({ sourceId, location, result: "skipped", message: `it expired at ${expireTime}` });
    }
    try {
      // The same rules as the server's, so that a dry run finds what it would refuse.
      const text = parseText("text", memory.text);
      parseMetadata(memory.metadata);
      if (onSecret !== undefined) handleSecrets({ text, metadata: memory.metadata }, onSecret);
      const externalId = externalIdOf(memory);
      const already = contents.note(memory, externalId);
      const stored = (await store?.({ ...memory, externalId })) ?? { already };
      counts[stored.already ? "already" : "stored"]++;
    } catch (error) {
      hasFailed ||= !isOfTheMemory(error);
      if (!isOfTheMemory(error)) throw error;
      note({ sourceId, location, result: "refused", message: error.message });
    }
  };
  const storeAll = async () => {
    for await (const each of read) {
      if (hasFailed) return;
      counts.read++;
      if ("result" in each) note(each);
      else await storeOne(each);
      onProgress?.(counts);
    }
  };
  // All read from one iterator, each the next when it has stored its own.
  await Promise.all(Array.from({ length: STORING_MAX }, storeAll));
  return { ...counts, problems };
}

/** True if an error is about one memory: the others can be stored. */
function isOfTheMemory(error: unknown): error is MemoryError | RecalldError {
  const isKnown = error instanceof MemoryError || error instanceof RecalldError;
  return isKnown && error.code === "invalid_argument";
}

interface FileImport {
  /** Path of the file; `-` is the standard input. */
  readonly file: string;
  /** Name of a format; when left out, the file's content tells it. */
  readonly from?: string | undefined;
  /** The namespace to import into; of an account's export, each memory's own. */
  readonly namespace: string;
  /** True if the caller chose the namespace, and it is not the default. */
  readonly isChosen?: boolean | undefined;
  /** What the server does with secrets in the memories; what it is set to when left out. */
  readonly onSecret?: OnSecret | undefined;
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
  const { server, onSecret, show } = request;
  const into = parseNamespace(request.namespace);
  if (request.from !== undefined && !FORMATS.includes(request.from)) {
    throw new MemoryError("invalid_argument", `--from must be one of ${FORMATS.join(", ")}`);
  }
  const source = await openSource(request.file);
  try {
    const from = request.from ?? (await formatOf(source));
    if (from === ACCOUNT && request.isChosen) {
      throw new MemoryError(
        "invalid_argument",
        "the file names the namespace of each memory; leave out --namespace",
      );
    }
    const report = await importMemories({
      read: readAs(from, source),
      store:
        server &&
        (async ({ sourceId, location, namespace = into, ...memory }) => {
          const { outcome } = await server.store({ ...memory, namespace, onSecret, onConflict: "KEEP" });
          return { already: outcome === "KEPT" };
        }),
      onSecret,
      onProgress: (progress) => show(lineOf(progress)),
    });
    return { from, ...report };
  } finally {
    await source.close();
  }
}

export function lineOf({ read, stored, already, skipped, refused }: Progress): string {
  const parts = [`${count(stored)} stored`, `${count(already)} were there already`];
  if (skipped > 0) parts.push(`${count(skipped)} skipped`);
  if (refused > 0) parts.push(`${count(refused)} refused`);
  return `${count(read)} read: ${parts.join(", ")}`;
}
