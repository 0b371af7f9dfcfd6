import type { Attempt } from "../../idempotency/idempotency.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Scope } from "../../ports/log.js";
import type { Caller } from "../../ports/quota.js";
import { findStanding, viewNow, type WishPorts } from "../store-if.js";
import { type BatchItem, type BatchResult, itemError, LOOKING_MAX } from "./batch.js";

/**
 * Looks up, before anything is charged or embedded, which memories of a batch are there already or forbidden by
 * what the namespace holds. Answers their results by the items' ids.
 *
 * @throws MemoryError `unauthenticated`, or `unavailable`
 */
export async function findStandingItems(
  ports: WishPorts,
  {
    caller,
    scope,
    items,
    attempt,
  }: { caller: Caller; scope: Scope; items: readonly BatchItem[]; attempt: Attempt | undefined },
): Promise<Map<string, BatchResult>> {
  const results = new Map<string, BatchResult>();
  const asking = items.filter((item) => item.wishes !== undefined && isFirstOfItsId(item, items));
  const view = asking.length === 0 ? undefined : await viewNow(ports, { caller, scope });
  if (view === undefined) return results;
  await mapSome(asking, LOOKING_MAX, async ({ id, wishes }) => {
    if (wishes === undefined) return;
    try {
      const stored = await findStanding(view, { wishes, attempt: attempt && { memoryId: id } });
      if (stored !== undefined) results.set(id, { stored });
    } catch (error) {
      results.set(id, { error: itemError(error) });
    }
  });
  return results;
}

/** Tells whether no item before this one has its external id: otherwise what is there now says nothing. */
function isFirstOfItsId(item: BatchItem, items: readonly BatchItem[]): boolean {
  const externalId = item.wishes?.conditions.externalId;
  if (externalId === undefined) return true;
  return items.find(({ wishes }) => wishes?.conditions.externalId === externalId) === item;
}
