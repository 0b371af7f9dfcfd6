import { type Answered, type Attempt, deletedSince } from "../idempotency/idempotency.js";
import type { Clock } from "../pacing/clock.js";
import { mapSome } from "../pacing/map-some.js";
import type { Kept } from "../ports/claims.js";
import type { Log, Scope } from "../ports/log.js";
import type { Caller } from "../ports/quota.js";
import { findMemories } from "../reading/fetch.js";
import { type Batch, type BatchItem, type BatchResult, itemError, LOOKING_MAX } from "./batch.js";
import { errorOfItem } from "./of-item.js";
import { answerOf } from "./store.js";
import { answerByOptions, asMemory, findExisting, type StoreIfPorts, viewNow } from "./store-if.js";
import { withinQuota } from "./within-quota.js";
import { Writing } from "./writing.js";

/** A memory as a log has it: its answer, or a note that it was deleted since, or has expired. */
type Known = Answered | "gone";

interface Asked {
  readonly items: readonly Pick<BatchItem, "id" | "storeOptions">[];
  /** Memories that the batch found there. */
  readonly kept?: readonly Kept[] | undefined;
}

/** Memories that earlier attempts have stored, where there were none. */
const NONE: ReadonlyMap<string, Known> = new Map();

export interface Written {
  /** A result for each memory, in order. */
  readonly results: readonly BatchResult[];
  /** Those that this attempt has stored, and has paid for. */
  readonly fresh: readonly Answered[];
}

/**
 * Charges, embeds and appends the memories of a batch that no earlier attempt has stored.
 *
 * @throws MemoryError if the plan cannot pay for them, the caller stops waiting, or none could be stored.
 */
export async function writeBatch(ports: StoreIfPorts, batch: Batch): Promise<Written> {
  const { caller, items, attempt, scope, timer } = batch;
  const { quota } = ports;
  const known = attempt?.isFirst === false ? await knownBefore(ports, batch, attempt.stored) : NONE;
  const left = items.filter(({ id }) => !known.has(id));
  const existing = await findExistingItems(ports, { caller, scope, items: left, attempt });
  const unwritten = left.filter(({ id }) => !existing.has(id));
  const writing = new Writing(ports, { ...batch, items: unwritten });
  const resultOf = ({ id }: BatchItem): BatchResult => {
    const before = known.get(id);
    return before === undefined ? (existing.get(id) ?? writing.resultOf(id)) : resultOfKnown(before);
  };
  const refuseIfNone = () => {
    const [first, ...others] = items.map(resultOf);
    if (known.size > 0 || first === undefined || !("error" in first)) return;
    if (others.every((other) => "error" in other)) throw errorOfItem("memories[0]", first.error);
  };
  const calls = unwritten.length;
  if (calls > 0) {
    const charging = { quota, caller, timer, signal: batch.signal, calls, kept: () => writing.fresh.length };
    await withinQuota(charging, async ({ paid, signal }) => {
      await writing.run(paid, signal);
      refuseIfNone();
    });
    const unpaid = calls - writing.fresh.length;
    if (unpaid > 0) await quota.refund(caller, unpaid);
  } else refuseIfNone();
  return { results: items.map(resultOf), fresh: writing.fresh };
}

/** Looks up what earlier attempts have stored. What they told of, and the log does not hold, was dropped since. */
async function knownBefore(
  ports: StoreIfPorts,
  { scope, items }: Batch,
  stored: readonly number[],
): Promise<Map<string, Known>> {
  const known = await knownOf(ports, scope, { items });
  for (const { id } of stored.flatMap((place) => items[place] ?? [])) {
    if (!known.has(id)) known.set(id, "gone");
  }
  return known;
}

/** Makes the result of a memory that an earlier call has stored: it may have been deleted since. */
export function resultOfKnown(known: Known | undefined): BatchResult {
  return known === undefined || known === "gone" ? { error: deletedSince() } : { stored: known };
}

/**
 * Looks up, before anything is charged or embedded, which memories of a batch are there already or forbidden by
 * what the namespace holds. Returns their results by the items' ids.
 *
 * @throws MemoryError `unauthenticated`, or `unavailable`
 */
async function findExistingItems(
  ports: StoreIfPorts,
  {
    caller,
    scope,
    items,
    attempt,
  }: { caller: Caller; scope: Scope; items: readonly BatchItem[]; attempt: Attempt | undefined },
): Promise<Map<string, BatchResult>> {
  const results = new Map<string, BatchResult>();
  const asking = items.filter((item) => item.storeOptions !== undefined && isFirstOfItsId(item, items));
  const view = asking.length === 0 ? undefined : await viewNow(ports, { caller, scope });
  if (view === undefined) return results;
  await mapSome(asking, LOOKING_MAX, async ({ id, storeOptions }) => {
    if (storeOptions === undefined) return;
    try {
      const stored = await findExisting(view, { storeOptions, attempt: attempt && { memoryId: id } });
      if (stored !== undefined) results.set(id, { stored });
    } catch (error) {
      results.set(id, { error: itemError(error) });
    }
  });
  return results;
}

/** True if no item before this one has its external id: otherwise what is there now says nothing. */
function isFirstOfItsId(item: BatchItem, items: readonly BatchItem[]): boolean {
  const externalId = item.storeOptions?.conditions.externalId;
  if (externalId === undefined) return true;
  return items.find(({ storeOptions }) => storeOptions?.conditions.externalId === externalId) === item;
}

/** Looks up what an earlier attempt at a batch has stored, by the items' ids. */
export async function knownOf(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  scope: Scope,
  { items, kept = [] }: Asked,
): Promise<Map<string, Known>> {
  const logId = await log.find(scope);
  if (logId === undefined) return new Map();
  const numbers = await log.findByOperation({ logId, opIds: items.map(({ id }) => id) });
  const answers = new Map<string, Answered>();
  for (const { place, ...answer } of kept)
    answers.set(items[place]?.id ?? "", { ...answer, outcome: "KEPT" });
  await mapSome(items, LOOKING_MAX, async ({ id, storeOptions }) => {
    const from = numbers.get(id);
    if (storeOptions === undefined || from === undefined) return;
    // It may be the next version of another memory.
    const [written] = (await log.read({ logId, from, limit: 1, what: "head" })).entries;
    // The last version of a memory that it stored may be another operation's.
    if (written !== undefined)
      answers.set(id, answerByOptions({ ...asMemory(written.entry), opId: id }, { id }));
  });
  const ids = new Set([...numbers.keys()].map((id) => answers.get(id)?.id ?? id));
  for (const { id } of kept) ids.add(id);
  const found = await findMemories({ log, clock }, { logId, ids: [...ids], what: "head" });
  const knownBy = (id: string): Known => {
    const answer = answers.get(id);
    if (answer !== undefined) return found.has(answer.id) ? answer : "gone";
    const memory = found.get(id);
    return memory === undefined ? "gone" : answerOf(memory);
  };
  return new Map([...numbers.keys(), ...answers.keys()].map((id) => [id, knownBy(id)]));
}
