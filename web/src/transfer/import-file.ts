import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { ACCOUNT, formatOf, readAs } from "../../../cli/import/formats.js";
import { Contents, externalIdOf, type Imported } from "../../../cli/import/imported.js";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { failedPrecondition, MemoryError } from "../../../src/errors.js";
import { parseMetadata } from "../../../src/memory/requests/metadata.js";
import { parseText } from "../../../src/memory/requests/text.js";
import {
  type MemoryService,
  StoreRequest_OnConflict as OnConflict,
  StoreResponse_Outcome as Outcome,
  type StoreBatchResult,
} from "../api.js";
import { sourceOf } from "./file-source.js";

/** Maximum memories and characters of one call. */
const BATCH_MAX = 64;
const BATCH_CHARS_MAX = 1_000_000;
/** Maximum number of problems that are shown. */
const PROBLEMS_MAX = 20;

/** Counts of an import so far. */
export interface Progress {
  /** Name of the format, once it is known. */
  readonly from: string | undefined;
  /** Parts of the file in all, and those that are done; 0 until they are counted. */
  readonly total: number;
  readonly done: number;
  readonly stored: number;
  /** Memories that the namespace had already, by their external ids. */
  readonly already: number;
  /** Parts that are no memory, or that cannot be stored as they are. */
  readonly refused: number;
  readonly problems: readonly string[];
}

export const NOTHING: Progress = {
  from: undefined,
  total: 0,
  done: 0,
  stored: 0,
  already: 0,
  refused: 0,
  problems: [],
};

export interface ImportOptions {
  readonly server: Pick<Client<typeof MemoryService>, "storeBatch">;
  readonly namespace: string;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/**
 * Stores the memories of a file of any format that the command line imports, by the same readers: first all
 * of it is read and counted, then stored. Memories have the ids that the command line gives them, so that an
 * import which was stopped can be begun again, in either.
 *
 * @throws MemoryError if the file is of no known format, or not whole
 */
export async function importFile(
  file: File,
  { server, namespace, signal, onProgress }: ImportOptions,
): Promise<void> {
  const source = sourceOf(file);
  const { from, total } = await counted(source, signal);
  let progress: Progress = { ...NOTHING, from, total };
  const contents = new Contents();
  let batch: Sending[] = [];
  let chars = 0;
  onProgress(progress);
  const store = async () => {
    if (batch.length === 0) return;
    let sent = batch;
    [batch, chars] = [[], 0];
    while (sent.length > 0) {
      try {
        const { results } = await server.storeBatch({ namespace, memories: sent }, { signal });
        for (const [index, { result }] of results.entries())
          progress = after(progress, result, sent[index]?.location);
        sent = [];
      } catch (error) {
        // A memory that the server does not take keeps the others of its batch out: they are sent again without it.
        const bad = refusedMemoryIn(error);
        if (bad === undefined) throw error;
        progress = refused(progress, `${sent[bad.index]?.location ?? ""}: ${bad.message}`);
        sent = sent.filter((_, index) => index !== bad.index);
      }
    }
    onProgress(progress);
  };
  for await (const part of readAs(from, source)) {
    signal.throwIfAborted();
    if ("result" in part) progress = refused(progress, `${part.location}: ${part.message}`);
    else if (isExpired(part))
      progress = refused(progress, `${part.location}: it expired at ${part.expireTime}`);
    else {
      try {
        // The same rules as the server's, so that one memory does not keep out those beside it.
        chars += parseText("text", part.text).length + parseMetadata(part.metadata).length;
        const sending = requestOf(part);
        contents.note(part, sending.externalId);
        batch.push(sending);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        progress = refused(progress, `${part.location}: ${error.message}`);
      }
    }
    if (batch.length >= BATCH_MAX || chars > BATCH_CHARS_MAX) await store();
  }
  await store();
  onProgress(progress);
}

async function counted(source: ReturnType<typeof sourceOf>, signal: AbortSignal) {
  const from = await formatOf(source);
  if (from === ACCOUNT) {
    throw failedPrecondition("the file has several namespaces: `recalld import` stores each under its name");
  }
  let total = 0;
  for await (const _ of readAs(from, source)) {
    signal.throwIfAborted();
    total++;
  }
  return { from, total };
}

type Sending = ReturnType<typeof requestOf>;

/** A memory as the server takes it, and where it is in the file. */
function requestOf(memory: Imported) {
  const { location, text, metadata, expireTime, eventTime } = memory;
  const expiry = expireTime && {
    expiry: { case: "expireTime" as const, value: timestampFromDate(new Date(expireTime)) },
  };
  return {
    location,
    text,
    metadata,
    externalId: externalIdOf(memory),
    onConflict: OnConflict.KEEP,
    ...expiry,
    ...(eventTime !== undefined && { eventTime: timestampFromDate(new Date(eventTime)) }),
  };
}

/** Reads which memory keeps a batch out, by its position there; undefined if the batch failed for another reason. */
export function refusedMemoryIn(error: unknown): { index: number; message: string } | undefined {
  const failed = ConnectError.from(error);
  const [violation] = failed.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const index = /^memories\[(\d+)\]/.exec(violation?.field ?? "")?.[1];
  if (failed.code !== Code.InvalidArgument || index === undefined) return undefined;
  return { index: Number(index), message: failed.rawMessage };
}

function isExpired({ expireTime }: Imported): boolean {
  return expireTime !== undefined && Date.parse(expireTime) <= Date.now();
}

function after(progress: Progress, result: StoreBatchResult["result"], location = ""): Progress {
  if (result.case === "error") return refused(progress, `${location}: ${result.value.message}`);
  const isStored = result.case === "stored" && result.value.outcome === Outcome.KEPT;
  const { done, already, stored } = progress;
  return {
    ...progress,
    done: done + 1,
    ...(isStored ? { already: already + 1 } : { stored: stored + 1 }),
  };
}

function refused(progress: Progress, problem: string): Progress {
  const problems = [...progress.problems, problem].slice(0, PROBLEMS_MAX);
  return { ...progress, done: progress.done + 1, refused: progress.refused + 1, problems };
}
