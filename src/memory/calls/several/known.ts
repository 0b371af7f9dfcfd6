import type { Answered } from "../../idempotency/idempotency.js";
import type { Clock } from "../../pacing/clock.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Kept } from "../../ports/claims.js";
import type { Log, Scope } from "../../ports/log.js";
import { findMemories } from "../../reading/fetch.js";
import { answerOf } from "../store.js";
import { answerByWishes, asMemory } from "../store-if.js";
import { type BatchItem, LOOKING_MAX } from "./batch.js";

/** A memory as a log has it: its answer, or a note that it was deleted since, or has expired. */
export type Known = Answered | "gone";

interface Asked {
  readonly items: readonly Pick<BatchItem, "id" | "wishes">[];
  /** Memories that the batch found there. */
  readonly kept?: readonly Kept[] | undefined;
}

/** Looks up what an earlier attempt at a batch has stored, by the items' ids. */
export async function knownOf(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  scope: Scope,
  { items, kept = [] }: Asked,
): Promise<Map<string, Known>> {
  const logId = await log.find(scope);
  if (logId === undefined) return new Map();
  const numbers = await log.written({ logId, opIds: items.map(({ id }) => id) });
  const answers = new Map<string, Answered>();
  for (const { place, ...answer } of kept)
    answers.set(items[place]?.id ?? "", { ...answer, outcome: "KEPT" });
  await mapSome(items, LOOKING_MAX, async ({ id, wishes }) => {
    const from = numbers.get(id);
    if (wishes === undefined || from === undefined) return;
    // It may be the next version of another memory.
    const [written] = (await log.read({ logId, from, limit: 1, what: "head" })).entries;
    // The last version of a memory that it stored may be another operation's.
    if (written !== undefined)
      answers.set(id, answerByWishes({ ...asMemory(written.entry), opId: id }, { id }));
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
