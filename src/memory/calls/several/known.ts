import type { Answered } from "../../idempotency/idempotency.js";
import { findMemories } from "../../log/fetch.js";
import type { Clock } from "../../pacing/clock.js";
import type { Log, Scope } from "../../ports/log.js";

/** A memory as a log has it: its answer, or a note that it was deleted since, or has expired. */
export type Known = Answered | "gone";

/** Looks up which of these memories the present log of a namespace holds, or held until they were deleted. */
export async function knownOf(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, Known>> {
  const logId = await log.find(scope);
  if (logId === undefined) return new Map();
  const written = [...(await log.written({ logId, opIds: ids })).keys()];
  const found = await findMemories({ log, clock }, { logId, ids: written, what: "head" });
  return new Map(written.map((id) => [id, found.get(id) ?? "gone"]));
}
