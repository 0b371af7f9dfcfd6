import type { Answered } from "../../idempotency/idempotency.js";
import { fetchAll } from "../../log/fetch.js";
import type { Log, Scope } from "../../ports/log.js";

/** A memory as a log has it: its answer, or a note that it was erased since. */
export type Standing = Answered | "erased";

/** Looks up which of these memories the present log of a namespace holds, or held until they were erased. */
export async function standingOf(
  log: Log,
  scope: Scope,
  ids: readonly string[],
): Promise<Map<string, Standing>> {
  const standing = new Map<string, Standing>();
  const logId = await log.find(scope);
  if (logId === undefined) return standing;
  const numbers = await log.numbersOf({ logId, ids });
  for (const id of numbers.keys()) standing.set(id, "erased");
  for await (const some of fetchAll(log, { logId, sequences: [...numbers.values()], what: "head" })) {
    for (const { entry } of some) standing.set(entry.id, entry);
  }
  return standing;
}
