import { mapSome } from "../../concurrency/map-some.js";
import { mapInTimeSlices } from "../../concurrency/time-slices.js";
import { expectAtMost, invalid, ofItem } from "../../errors.js";
import { type Attempt, deletedSince, UnfinishedBatchError } from "../idempotency/idempotency.js";
import type { Answered, Kept } from "../ports/claims.js";
import { entryAt } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import { authorize } from "../requests/authorize.js";
import { memoryIdsLike } from "../requests/id.js";
import { canonicalMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { findMemories, lookInNamespace } from "../versions/fetch.js";
import type { PaidRequest, Ports } from "./ports.js";
import {
  answerByOptions,
  answerOf,
  asMemory,
  type MemoryRequest,
  type ParsedMemory,
  parseMemory,
  type StoredMemory,
  storeItem,
} from "./store-item.js";
import { LOOKING_MAX, type Result, write } from "./write.js";

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
  const numbered = (id: string) =>
    memoryIdsLike(id, memories.length).map((id, i) => ({ ...(memories[i] as ParsedMemory), id }));
  const { results, replayed } = await write(ports, {
    request,
    scope,
    creates: true,
    itemsFor: (id) => {
      const taken = new Set<string>();
      return numbered(id).map((memory) => {
        const { look, ...item } = storeItem(ports, memory.id, memory);
        const { externalId } = memory.storeOptions ?? {};
        // An earlier memory of this batch has the same external id: what the log holds now does not decide.
        if (look === undefined || (externalId !== undefined && taken.has(externalId))) return item;
        if (externalId !== undefined) taken.add(externalId);
        return { ...item, look };
      });
    },
    findStored: async ({ memoryId, stored, isRefunded }) => {
      const attempted = numbered(memoryId);
      const known = stored.flatMap((place) => attempted[place] ?? []);
      const found = await findWritten(ports, scope, isRefunded ? known : attempted);
      // If the log lacks these now, they were dropped since.
      for (const { id } of known) if (!found.has(id)) found.set(id, { error: deletedSince() });
      return found;
    },
    keyed: {
      content: () => contentOf(memories, ports),
      answerOf: claimAnswer,
      replay: async ({ id, kept }) => {
        const found = await findWritten(ports, scope, numbered(id), kept);
        return numbered(id).map(({ id }) => found.get(id) ?? { error: deletedSince() });
      },
    },
  });
  const told = results.map((result, i) => {
    const { unreadShare, redacted } = memories[i] as ParsedMemory;
    return "error" in result ? result : { stored: { unreadShare, redacted, ...result.stored } };
  });
  return { results: told, replayed };
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
  const kept = results.flatMap((result, place) => {
    if ("error" in result || result.stored.outcome !== "KEPT") return [];
    const { id, tokens, createdAtMs, etag = "" } = result.stored;
    return [{ place, id, tokens, createdAtMs, etag }];
  });
  const [first] = results;
  if (first !== undefined && "stored" in first && results.every((result) => "stored" in result)) {
    const { tokens, createdAtMs } = first.stored;
    return { id: attempt.memoryId, tokens, createdAtMs, ...(kept.length > 0 && { kept }) };
  }
  throw new UnfinishedBatchError();
}

/**
 * Finds what a batch has written, by the ids of its operations: its answer, or that it is gone since. `kept` are the
 * memories that the batch found there.
 */
async function findWritten(
  ports: Ports,
  scope: Scope,
  memories: readonly (ParsedMemory & { readonly id: string })[],
  kept: readonly Kept[] = [],
): Promise<Map<string, Result<Answered>>> {
  const found = await lookInNamespace(ports.names, scope, {
    look: (logId) => findWrittenIn(ports, logId, memories, kept),
    isWhole: (results) => memories.every(({ id }) => "stored" in (results.get(id) ?? {})),
  });
  return found ?? new Map();
}

async function findWrittenIn(
  ports: Ports,
  logId: string,
  memories: readonly (ParsedMemory & { readonly id: string })[],
  kept: readonly Kept[],
): Promise<Map<string, Result<Answered>>> {
  const numbers = await ports.secondaryIndexes.findByOperation({
    logId,
    opIds: memories.map(({ id }) => id),
  });
  const answers = new Map<string, Answered>();
  for (const { place, ...answer } of kept)
    answers.set(memories[place]?.id ?? "", { ...answer, outcome: "KEPT" });
  await mapSome(memories, LOOKING_MAX, async ({ id, storeOptions }) => {
    const from = numbers.get(id);
    if (storeOptions === undefined || from === undefined) return;
    // It may be the next version of another memory.
    const written = await entryAt(ports.log, logId, from);
    // The last version of a memory that it stored may be another operation's.
    if (written !== undefined) answers.set(id, answerByOptions({ ...asMemory(written), opId: id }, id));
  });
  const operations = [...new Set([...numbers.keys(), ...answers.keys()])];
  const memoryIdOf = (operation: string) => answers.get(operation)?.id ?? operation;
  const ids = [...new Set(operations.map(memoryIdOf))];
  const found = await findMemories(ports, { logId, ids, what: "head" });
  return new Map(
    operations.map((id): [string, Result<Answered>] => {
      const memory = found.get(memoryIdOf(id));
      if (memory === undefined) return [id, { error: deletedSince() }];
      return [id, { stored: answers.get(id) ?? answerOf(memory) }];
    }),
  );
}
