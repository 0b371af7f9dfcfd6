import { mapInTimeSlices } from "../../concurrency/time-slices.js";
import { expectAtMost, invalid, ofItem } from "../../errors.js";
import { type Attempt, UnfinishedBatchError } from "../idempotency/idempotency.js";
import type { Answered } from "../ports/claims.js";
import { authorize } from "../requests/authorize.js";
import { memoryIdsLike } from "../requests/id.js";
import { canonicalMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { findInNamespace } from "../versions/fetch.js";
import type { PaidRequest, Ports } from "./ports.js";
import {
  type MemoryRequest,
  type ParsedMemory,
  parseMemory,
  type StoredMemory,
  storeItem,
} from "./store-item.js";
import { type Result, write } from "./write.js";

export const BATCH_MAX = 256;

/** One memory of a batch. A batch lists no similar memories. */
export type BatchMemory = Omit<MemoryRequest, "similarAbove">;

export interface StoreBatchRequest extends PaidRequest {
  readonly memories: readonly BatchMemory[];
  readonly idempotencyKey?: string | undefined;
}

/**
 * Stores several memories in one namespace, as if one after the other. Everything is parsed before anything is
 * done. There is a result for each memory, in order: one that cannot be stored has an error and costs nothing; if none
 * can be stored, the call has the error of the first.
 *
 * @throws MemoryError as `store`; `resource_exhausted` if the plan cannot pay for all of them.
 */
export async function storeBatch(
  ports: Ports,
  request: StoreBatchRequest,
): Promise<{ results: readonly Result<StoredMemory>[]; replayed: boolean }> {
  const scope = scopeOf(request);
  const memories = await parseMemories(request.memories, ports);
  await authorize(ports.quota, request.caller, { writes: true, namespace: scope.namespace });
  const { results, replayed } = await write<Answered>(ports, {
    request,
    scope,
    creates: true,
    isBatch: true,
    itemsFor: (id) => {
      const ids = memoryIdsLike(id, memories.length);
      const taken = new Set<string>();
      return memories.map((memory, i) => {
        const { precheck, ...item } = storeItem(ids[i] as string, memory);
        const { externalId } = memory.storeOptions ?? {};
        // An earlier memory of this batch has the same external id: what the log holds now does not decide.
        if (precheck === undefined || (externalId !== undefined && taken.has(externalId))) return item;
        if (externalId !== undefined) taken.add(externalId);
        return { ...item, precheck };
      });
    },
    keyed: {
      content: () => contentOf(memories, ports),
      answerOf: claimAnswer,
      replay: async ({ kept = [] }, find) => {
        const results = await find();
        const ids = [...new Set(kept.map(({ id }) => id))];
        const living = await findInNamespace(ports, scope, { ids, projection: "header" });
        for (const { place: position, ...answer } of kept) {
          if (living.has(answer.id)) results[position] = { stored: { ...answer, outcome: "KEPT" } };
        }
        return results;
      },
    },
  });
  const stored = results.map((result, i) => {
    const { unreadShare, redacted } = memories[i] as ParsedMemory;
    return "error" in result ? result : { stored: { unreadShare, redacted, ...result.stored } };
  });
  return { results: stored, replayed };
}

/** Parses all memories, with pauses: they may have megabytes of metadata. */
async function parseMemories(memories: readonly BatchMemory[], ports: Ports): Promise<ParsedMemory[]> {
  if (memories.length === 0) throw invalid("memories", "is missing");
  expectAtMost(BATCH_MAX, "memories", memories, "memories");
  return mapInTimeSlices(memories, ports.clock, (memory, i) =>
    ofItem(`memories[${i}]`, () => parseMemory(memory, ports)),
  );
}

async function contentOf(memories: readonly ParsedMemory[], { clock }: Ports): Promise<string[]> {
  const content = await mapInTimeSlices(memories, clock, ({ text, metadata }) => [
    text,
    canonicalMetadata(metadata),
  ]);
  const askedOptions = memories.map(({ storeOptions }) => storeOptions?.asked ?? null);
  const times = memories.map(({ eventAtMs }) => eventAtMs ?? null);
  const more = [
    ...(askedOptions.some((each) => each !== null) ? [JSON.stringify(askedOptions)] : []),
    ...(times.some((each) => each !== null) ? [`event_time ${JSON.stringify(times)}`] : []),
  ];
  return ["batch", ...content.flat(), ...more];
}

/** Makes what a claim keeps. What could not be stored is tried again by the next call with the key. */
function claimAnswer(results: readonly Result<Answered>[], attempt: Attempt): Answered {
  const kept = results.flatMap((result, position) => {
    if ("error" in result || result.stored.outcome !== "KEPT") return [];
    const { id, tokens, createdAtMs, etag = "" } = result.stored;
    return [{ place: position, id, tokens, createdAtMs, etag }];
  });
  const [first] = results;
  if (first !== undefined && "stored" in first && results.every((result) => "stored" in result)) {
    const { tokens, createdAtMs } = first.stored;
    return { id: attempt.memoryId, tokens, createdAtMs, ...(kept.length > 0 && { kept }) };
  }
  throw new UnfinishedBatchError();
}
