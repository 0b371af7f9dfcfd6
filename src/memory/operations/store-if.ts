import { MemoryError } from "../../errors.js";
import { type ErasurePorts, eraseEntry } from "../erasure/erase.js";
import type { Answered, Attempt } from "../idempotency/idempotency.js";
import type { Appending, Changed } from "../log/namespaces.js";
import type { Replica } from "../log/replica.js";
import { weightOf } from "../pacing/bounds.js";
import type { StoreOutcome } from "../ports/claims.js";
import type { Entry, Erased, Projected, Scope, Stored } from "../ports/log.js";
import { modelVersionOf } from "../ports/model-version.js";
import type { Caller } from "../ports/quota.js";
import type { CallStep, StepTimer } from "../ports/step-timer.js";
import type { Conditional, LogView } from "../versions/condition.js";
import { checkStore, decideStore } from "../versions/deciding-stores.js";
import { etagOf } from "../versions/etag.js";
import type { Ports } from "./ports.js";
import { SimilarMemories } from "./similar-memories.js";
import type { StoreOptions } from "./store-options.js";

export type StoreIfPorts = Ports & ErasurePorts;

/**
 * Opens a view of a namespace's log as it is now, before anything is charged; undefined if there is none.
 *
 * @throws MemoryError `unauthenticated`
 */
export async function viewNow(
  { quota, log, clock }: Pick<StoreIfPorts, "quota" | "log" | "clock">,
  { caller, scope }: { caller: Caller; scope: Scope },
): Promise<LogView | undefined> {
  const logId = await log.find(scope);
  if (logId === undefined) return undefined;
  // No charge has proved that the key lives.
  await quota.verify(caller);
  return { log, logId, from: Number.POSITIVE_INFINITY, nowMs: clock.wallMs() };
}

/**
 * Looks up whether the memory is there already: the answer then. Refuses a store that the namespace's memories
 * do not allow.
 *
 * @throws MemoryError as `decideStore`
 */
export async function findExisting(
  view: LogView,
  { storeOptions, attempt }: { storeOptions: StoreOptions; attempt: Pick<Attempt, "memoryId"> | undefined },
): Promise<Answered | undefined> {
  return unlessWritten(view, attempt, async () => {
    const existing = await checkStore(view, storeOptions.conditions);
    return existing && answerByOptions(existing, { id: undefined });
  });
}

/** Returns what a look at the log finds or refuses, unless an attempt that came before has written it itself. */
export async function unlessWritten<T>(
  { log, logId }: Pick<LogView, "log" | "logId">,
  attempt: Pick<Attempt, "memoryId"> | undefined,
  look: () => Promise<T>,
): Promise<T | undefined> {
  // Asked afterwards: an entry that the look has found is written by then.
  const isOurs = async () =>
    attempt !== undefined && (await log.findByOperation({ logId, opIds: [attempt.memoryId] })).size > 0;
  try {
    const found = await look();
    return found !== undefined && (await isOurs()) ? undefined : found;
  } catch (error) {
    if (await isOurs()) return undefined;
    throw error;
  }
}

interface ConditionalWriting {
  readonly scope: Scope;
  readonly storeOptions: StoreOptions;
  /** Id of the memory if it is a new one, and of the operation in any case. */
  readonly id: string;
  readonly appending: Appending;
  readonly timer: StepTimer<CallStep>;
  readonly signal: AbortSignal;
}

/** Appends a memory if the namespace's memories allow it, and erases the version that it replaces. */
export async function writeIf(ports: StoreIfPorts, writing: ConditionalWriting): Promise<Answered> {
  const { scope, storeOptions, id, appending, timer, signal } = writing;
  const { namespaces, clock } = ports;
  const nowMs = clock.wallMs();
  const { similarAbove: above, conditions, onSimilar } = storeOptions;
  let similar: SimilarMemories | undefined;
  const conditionFor = async (replica: Replica): Promise<Conditional> => {
    const memory = await appending.memoryIn(modelVersionOf(replica.logId));
    if (above !== undefined) {
      const comparison = { log: ports.log, memory, above, decides: onSimilar !== "store" };
      similar = await SimilarMemories.search(replica, {
        ...comparison,
        except: conditions.supersedes,
        timer,
        signal,
      });
    }
    return conditionalOf(memory, { storeOptions, nowMs, similar });
  };
  const { authenticate, idempotent } = appending;
  const changed = await timer.time("append", () =>
    namespaces.change(scope, { conditionFor, authenticate, idempotent }),
  );
  // A store creates the namespace, so there is an outcome.
  const answered = await finishByOptions(ports, { changed: changed as Changed, id });
  const own = onSimilar === "keep" ? undefined : answered.id;
  return { ...answered, ...(similar && { similar: similar.listedBeside(own) }) };
}

/** Makes the condition under which a memory is appended. */
export function conditionalOf(
  made: Stored,
  {
    storeOptions,
    nowMs,
    similar,
  }: { storeOptions: StoreOptions; nowMs: number; similar?: SimilarMemories | undefined },
): Conditional {
  const { conditions, expiresAtMs, onSimilar } = storeOptions;
  const { externalId } = conditions;
  const memory: Stored = {
    ...made,
    ...(externalId !== undefined && { externalId }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
  return {
    opId: made.opId,
    bytes: weightOf(memory),
    decide: async (before) => {
      const view = { ...before, nowMs };
      const alike = onSimilar === "store" ? undefined : await similar?.mostSimilar(view);
      if (alike === undefined) return decideStore(view, { memory, conditions });
      if (onSimilar === "keep") return { existing: alike.entry };
      const supersedes = [...conditions.supersedes, alike.entry.id];
      return decideStore(view, { memory, conditions: { ...conditions, supersedes } });
    },
  };
}

/** Turns the outcome of a store into its answer, and erases the version that it replaced; `id` is that of the operation. */
export async function finishByOptions(
  ports: ErasurePorts,
  { changed, id }: { changed: Changed; id: string },
): Promise<Answered> {
  const existing = asMemory(changed.existing);
  const answered = answerByOptions(existing, { id });
  if (answered.outcome === "REPLACED" && existing.replaces !== undefined) {
    await eraseEntry(ports, { logIds: [changed.logId], sequence: existing.replaces });
  }
  return answered;
}

/** Returns an entry that must be a memory, or what remains of one. */
export function asMemory(existing: Entry<"head">): Projected["head"] | Erased {
  if (existing.op === "store" || existing.op === "erased") return existing;
  throw new MemoryError("internal", "another entry was appended in place of a memory");
}

/** Makes the answer from the log's entry; `id` is that of the operation. */
export function answerByOptions(
  existing: Pick<Projected["head"], "opId" | "id" | "tokens" | "createdAtMs">,
  { id }: { id: string | undefined },
): Answered {
  const { tokens, createdAtMs } = existing;
  return { id: existing.id, tokens, createdAtMs, outcome: outcomeOf(existing, id), etag: etagOf(existing) };
}

function outcomeOf(
  { opId, id }: Pick<Projected["head"], "opId" | "id">,
  operation: string | undefined,
): StoreOutcome {
  if (id === operation) return "CREATED";
  return opId === operation ? "REPLACED" : "KEPT";
}
