import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ACCOUNT, readAsFound } from "../../../cli/import/formats.js";
import { externalIdOf, type Imported, NotThatFormatError } from "../../../cli/import/imported.js";
import {
  StoreRequest_OnConflict as OnConflict,
  StoreResponse_Outcome as Outcome,
  type StoreBatchResult,
} from "../api";
import { memoryClient } from "../session/client";
import { sourceOf } from "./file-source";
import { refusedSecretIn } from "./refused-secret";

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
  readonly namespace: string;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/**
 * Stores the memories of a file of any format that the command line imports, by the same readers: first all
 * of it is read and counted, then stored. Memories have the ids that the command line gives them, so that an
 * import which was stopped can be begun again, in either.
 *
 * @throws NotThatFormatError if the file is of no known format, or not whole
 */
export async function importFile(
  file: File,
  { namespace, signal, onProgress }: ImportOptions,
): Promise<void> {
  const source = sourceOf(file);
  const { from, total } = await counted(source, signal);
  let progress: Progress = { ...NOTHING, from, total };
  let batch: Imported[] = [];
  let chars = 0;
  onProgress(progress);
  const store = async () => {
    if (batch.length === 0) return;
    let sent = batch;
    [batch, chars] = [[], 0];
    const send = async () => {
      const { results } = await memoryClient.storeBatch(
        { namespace, memories: sent.map(requestOf) },
        { signal },
      );
      for (const [index, { result }] of results.entries())
        progress = after(progress, result, sent[index]?.place);
      sent = [];
    };
    while (sent.length > 0) {
      try {
        await send();
      } catch (error) {
        // A memory with a secret keeps the others of its batch out: they are sent again without it.
        const secret = refusedSecretIn(error);
        if (secret === undefined) throw error;
        progress = refused(progress, `${sent[secret.index]?.place ?? ""}: ${secret.message}`);
        sent = sent.filter((_, index) => index !== secret.index);
      }
    }
    onProgress(progress);
  };
  for await (const part of (await readAsFound(source)).read) {
    signal.throwIfAborted();
    if ("result" in part) progress = refused(progress, `${part.place}: ${part.message}`);
    else if (isExpired(part)) progress = refused(progress, `${part.place}: it expired at ${part.expireTime}`);
    else {
      batch.push(part);
      chars += part.text.length + JSON.stringify(part.metadata).length;
    }
    if (batch.length >= BATCH_MAX || chars > BATCH_CHARS_MAX) await store();
  }
  await store();
  onProgress(progress);
}

async function counted(source: ReturnType<typeof sourceOf>, signal: AbortSignal) {
  const { from, read } = await readAsFound(source);
  if (from === ACCOUNT) {
    throw new NotThatFormatError(
      "the file has several namespaces: `recalld import` stores each under its name",
    );
  }
  let total = 0;
  for await (const _ of read) {
    signal.throwIfAborted();
    total++;
  }
  return { from, total };
}

function requestOf(memory: Imported) {
  const { text, metadata, expireTime, eventTime } = memory;
  const expiry = expireTime && {
    expiry: { case: "expireTime" as const, value: timestampFromDate(new Date(expireTime)) },
  };
  return {
    text,
    metadata,
    externalId: externalIdOf(memory),
    onConflict: OnConflict.KEEP,
    ...expiry,
    ...(eventTime !== undefined && { eventTime: timestampFromDate(new Date(eventTime)) }),
  };
}

function isExpired({ expireTime }: Imported): boolean {
  return expireTime !== undefined && Date.parse(expireTime) <= Date.now();
}

function after(progress: Progress, result: StoreBatchResult["result"], place = ""): Progress {
  if (result.case === "error") return refused(progress, `${place}: ${result.value.message}`);
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
