import { invalid } from "../../errors.js";
import {
  type Answered,
  type Attempt,
  parseIdempotencyKey,
  UnfinishedBatchError,
} from "../idempotency/idempotency.js";
import { authorize } from "../input/authorize.js";
import { parseTimeOfYears } from "../input/event-time.js";
import { memoryIdsLike, newMemoryId } from "../input/id.js";
import { canonicalMetadata } from "../input/metadata.js";
import { scopeOf } from "../input/namespace.js";
import { mapInTimeSlices } from "../pacing/time-slices.js";
import type { Kept } from "../ports/claims.js";
import type { Scope } from "../ports/log.js";
import type { Redacted } from "../secrets/handle-secrets.js";
import { type ContentsRequest, parseContents } from "../secrets/parse-contents.js";
import type { BatchItem, BatchResult } from "./batch.js";
import { ofItem } from "./of-item.js";
import type { PaidRequest } from "./ports.js";
import type { StoreIfPorts } from "./store-if.js";
import { parseStoreOptions, type StoreOptionsRequest } from "./store-options.js";
import { knownOf, resultOfKnown, type Written, writeBatch } from "./write-batch.js";

export const BATCH_MAX = 256;

/** One memory of a batch. A batch lists no similar memories. */
export interface BatchMemory extends Omit<StoreOptionsRequest, "similarAbove">, ContentsRequest {
  readonly eventAtMs?: number | undefined;
}

export interface StoreBatchRequest extends PaidRequest {
  readonly memories: readonly BatchMemory[];
  /** Calls with the same key store the same memories once. */
  readonly idempotencyKey?: string | undefined;
}

export interface StoredBatch {
  /** A result for each memory, in the order of the request. */
  readonly results: readonly BatchResult[];
  readonly replayed: boolean;
}

/**
 * Stores several memories in one namespace, as if one after the other. Everything is parsed before anything is
 * done. A memory that cannot be stored has an error in its place and costs nothing; if none can be stored, the
 * call has the error of the first.
 *
 * @throws MemoryError as `store`; `resource_exhausted` if the plan cannot pay for all of them.
 */
export async function storeBatch(ports: StoreIfPorts, request: StoreBatchRequest): Promise<StoredBatch> {
  const { caller } = request;
  const scope = scopeOf(request);
  const parsed = await parseMemories(request.memories, ports);
  await authorize(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const write = async (attempt?: Attempt) => {
    const ids = memoryIdsLike(attempt?.memoryId ?? newMemoryId(), parsed.length);
    const items = parsed.map((each, i) => ({ ...each, id: ids[i] as string }));
    const written = await writeBatch(ports, { ...request, scope, items, attempt });
    const { namespace } = scope;
    for (const { tokens } of written.fresh) ports.quota.count(caller, { namespace, call: "store", tokens });
    return written;
  };
  const told = (stored: StoredBatch) => tellOf(ports, stored, parsed);
  if (request.idempotencyKey === undefined)
    return told({ results: (await write()).results, replayed: false });
  const stored = await storeIdempotently(ports, {
    ...request,
    idempotencyKey: request.idempotencyKey,
    scope,
    parsed,
    write,
  });
  return told(stored);
}

/** Adds which texts the model can hardly read, and what was redacted. */
async function tellOf(
  { modelVersions, clock }: StoreIfPorts,
  { results, replayed }: StoredBatch,
  parsed: readonly Parsed[],
): Promise<StoredBatch> {
  const told = await mapInTimeSlices(results, clock, (result, i) => {
    const { text = "", redacted } = parsed[i] ?? {};
    return "stored" in result
      ? { ...result, unreadShare: modelVersions.unreadShare(text), redacted }
      : result;
  });
  return { results: told, replayed };
}

interface Parsed extends Omit<BatchItem, "id"> {
  readonly redacted?: Redacted | undefined;
}

/** Parses all memories, with pauses: they may have megabytes of metadata. */
async function parseMemories(
  memories: readonly BatchMemory[],
  { clock, onSecret }: Pick<StoreIfPorts, "clock" | "onSecret">,
): Promise<Parsed[]> {
  if (memories.length === 0) throw invalid("memories", "is missing");
  if (memories.length > BATCH_MAX) {
    throw invalid("memories", `has ${memories.length} memories; the limit is ${BATCH_MAX}`);
  }
  const nowMs = clock.wallMs();
  return mapInTimeSlices(memories, clock, (memory, i) =>
    ofItem(`memories[${i}]`, () => ({
      ...parseContents(memory, { onSecret }),
      eventAtMs: parseTimeOfYears("event_time", memory.eventAtMs),
      storeOptions: parseStoreOptions(memory, nowMs),
    })),
  );
}

interface Keyed extends Pick<StoreBatchRequest, "caller"> {
  readonly idempotencyKey: string;
  readonly scope: Scope;
  readonly parsed: readonly Parsed[];
  write(attempt: Attempt): Promise<Written>;
}

/** Stores a batch for an idempotency key. What could not be stored is tried again by the next call with it. */
async function storeIdempotently(
  ports: StoreIfPorts,
  { caller, scope, parsed, write, ...request }: Keyed,
): Promise<StoredBatch> {
  const { quota, idempotency, clock } = ports;
  const idempotencyKey = parseIdempotencyKey(request.idempotencyKey);
  // A replay is not charged, so no charge proves that the key lives.
  await quota.verify(caller);
  const content = await mapInTimeSlices(parsed, clock, ({ text, metadata }) => [
    text,
    canonicalMetadata(metadata),
  ]);
  const askedOptions = parsed.map(({ storeOptions }) => storeOptions?.asked ?? null);
  const times = parsed.map(({ eventAtMs }) => eventAtMs ?? null);
  const more = [
    ...(askedOptions.some((each) => each !== null) ? [JSON.stringify(askedOptions)] : []),
    ...(times.some((each) => each !== null) ? [`event_time ${JSON.stringify(times)}`] : []),
  ];
  const asked = { scope, idempotencyKey, content: ["batch", ...content.flat(), ...more], isBatch: true };
  let written: Written | undefined;
  const attempted = async (attempt: Attempt): Promise<Answered> => {
    written = await write(attempt);
    const stored = written.results.flatMap((result) => ("stored" in result ? [result.stored] : []));
    const [first] = stored;
    if (first === undefined || stored.length < parsed.length) {
      throw new UnfinishedBatchError([...new Set([...attempt.stored, ...placesWritten(written.results)])]);
    }
    const { tokens, createdAtMs } = first;
    const kept = keptOf(stored);
    return { id: attempt.memoryId, tokens, createdAtMs, ...(kept.length > 0 && { kept }) };
  };
  try {
    // What an attempt has stored stays paid, even if its answer cannot be kept: another attempt finds it, and
    // pays nothing.
    const { answered, replayed } = await idempotency.run(asked, { write: attempted, undo: async () => {} });
    if (!replayed && written !== undefined) return { results: written.results, replayed };
    const ids = memoryIdsLike(answered.id, parsed.length);
    const items = ids.map((id, i) => ({ id, storeOptions: parsed[i]?.storeOptions }));
    const known = await knownOf(ports, scope, { items, kept: answered.kept });
    return { results: ids.map((id) => resultOfKnown(known.get(id))), replayed: true };
  } catch (error) {
    if (!(error instanceof UnfinishedBatchError) || written === undefined) throw error;
    return { results: written.results, replayed: false };
  }
}

/** Lists the places of what is in the log by this batch: what was kept is another's. */
function placesWritten(results: readonly BatchResult[]): number[] {
  return results.flatMap((result, place) =>
    "stored" in result && result.stored.outcome !== "KEPT" ? [place] : [],
  );
}

/** Lists the memories that a batch kept. */
function keptOf(stored: readonly Answered[]): Kept[] {
  return stored.flatMap(({ id, tokens, createdAtMs, outcome, etag = "" }, place) =>
    outcome === "KEPT" ? [{ place, id, tokens, createdAtMs, etag }] : [],
  );
}
