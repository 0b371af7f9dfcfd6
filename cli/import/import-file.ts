import type { OnSecret, Recalld } from "../../clients/typescript/src/index.js";
import { MemoryError } from "../../src/errors.js";
import { parseNamespace } from "../../src/memory/requests/namespace.js";
import { grouped } from "../output.js";
import { ACCOUNT, FORMATS, READERS, readAsFound } from "./formats.js";
import { importMemories, type Progress, type Report, type Storing } from "./import-memories.js";
import { NotThatFormatError, type Source, UnreadableError } from "./imported.js";
import { type OpenSource, openSource } from "./source-file.js";

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
  const namespace = parseNamespace(request.namespace);
  if (request.from !== undefined && !FORMATS.includes(request.from)) {
    throw new MemoryError("invalid_argument", `--from must be one of ${FORMATS.join(", ")}`);
  }
  let source: OpenSource | undefined;
  try {
    source = await openSource(request.file);
    const { from, read } = await readAs(source, request.from);
    if (from === ACCOUNT && request.isChosen) {
      throw new MemoryError(
        "invalid_argument",
        "the file names the namespace of each memory; leave out --namespace",
      );
    }
    const report = await importMemories({
      read,
      store: request.server && storingIn(request.server, { namespace, onSecret: request.onSecret }),
      onProgress: (progress) => request.show(lineOf(progress)),
    });
    return { from, ...report };
  } catch (error) {
    if (!(error instanceof NotThatFormatError)) throw error;
    const code = error instanceof UnreadableError ? "invalid_argument" : "failed_precondition";
    throw new MemoryError(code, error.message, { cause: error });
  } finally {
    await source?.close();
  }
}

async function readAs(source: Source, from: string | undefined) {
  const read = from === undefined ? undefined : READERS[from]?.(source);
  return from === undefined || read === undefined ? await readAsFound(source) : { from, read };
}

function storingIn(
  server: Recalld,
  how: Pick<FileImport, "namespace" | "onSecret">,
): (storing: Storing) => Promise<{ already: boolean }> {
  return async ({ text, metadata, externalId, expireTime, eventTime, namespace = how.namespace }) => {
    const memory = { ...how, namespace, text, metadata, externalId, expireTime, eventTime };
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
