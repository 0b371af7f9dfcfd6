import { authorizeFree } from "../../input/authorize.js";
import { scopeOf } from "../../input/namespace.js";
import type { Log } from "../../ports/log.js";
import type { Caller, Quota } from "../../ports/quota.js";
import { endOf } from "../end-of.js";

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(
  { quota, log }: { quota: Quota; log: Log },
  { caller, ...request }: { caller: Caller; namespace: string },
): Promise<number> {
  const scope = scopeOf({ caller, ...request });
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  return end === undefined ? 0 : (await log.measure(end)).memories;
}
