import {
  StoreRequest_OnConflict as OnConflict,
  StoreResponse_Outcome as Outcome,
  type StoreBatchResult,
} from "../api";
import { memoryClient } from "../session/client";
import { type Item, itemOf } from "./item";
import { readLines } from "./read-lines";

/** Maximum memories and characters of one call. */
const BATCH_MAX = 64;
const BATCH_CHARS_MAX = 1_000_000;
/** Maximum number of problems that are shown. */
const PROBLEMS_MAX = 20;

/** Counts of an import so far. */
export interface Progress {
  /** Share of the file that is read, 0 to 1. */
  readonly share: number;
  readonly stored: number;
  /** Memories that the namespace had already, by their external ids. */
  readonly already: number;
  readonly refused: number;
  readonly problems: readonly string[];
}

export const NOTHING: Progress = { share: 0, stored: 0, already: 0, refused: 0, problems: [] };

export interface ImportOptions {
  readonly namespace: string;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/**
 * Stores the memories of a JSON Lines file, such as an export: each line is an object with a `text`, and maybe
 * `metadata`, `external_id` and `id`. What has the same external id is stored once, so that an import that was
 * stopped can be begun again.
 */
export async function importFile(
  file: File,
  { namespace, signal, onProgress }: ImportOptions,
): Promise<void> {
  let progress = NOTHING;
  let items: Item[] = [];
  let chars = 0;
  let number = 0;
  const store = async () => {
    if (items.length === 0) return;
    const memories = items.map((item) => ({ ...item, onConflict: OnConflict.KEEP }));
    [items, chars] = [[], 0];
    const { results } = await memoryClient.storeBatch({ namespace, memories }, { signal });
    for (const { result } of results) progress = counted(progress, result);
    onProgress(progress);
  };
  for await (const { line, bytes } of readLines(file)) {
    signal.throwIfAborted();
    progress = { ...progress, share: bytes / file.size };
    const item = itemOf(line);
    number++;
    if (typeof item === "string") progress = refused(progress, `line ${number}: ${item}`);
    else if (item) {
      items.push(item);
      chars += line.length;
    }
    if (items.length >= BATCH_MAX || chars > BATCH_CHARS_MAX) await store();
  }
  await store();
  onProgress({ ...progress, share: 1 });
}

function counted(progress: Progress, result: StoreBatchResult["result"]): Progress {
  if (result.case === "error") return refused(progress, result.value.message);
  const isKept = result.case === "stored" && result.value.outcome === Outcome.KEPT;
  return isKept
    ? { ...progress, already: progress.already + 1 }
    : { ...progress, stored: progress.stored + 1 };
}

function refused(progress: Progress, problem: string): Progress {
  const problems = [...progress.problems, problem].slice(0, PROBLEMS_MAX);
  return { ...progress, refused: progress.refused + 1, problems };
}
