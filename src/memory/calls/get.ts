import { authorizeFree } from "../input/authorize.js";
import { parseMemoryId } from "../input/id.js";
import { scopeOf } from "../input/namespace.js";
import { findMemory } from "../log/fetch.js";
import type { Log, Seen } from "../ports/log.js";
import type { Quota } from "../ports/quota.js";
import { type MemoryRequest, noSuchMemory } from "./memory-request.js";

/**
 * Finds one memory by its id. Costs nothing.
 *
 * @throws MemoryError `not_found` if this namespace of this account has none with this id.
 */
export async function getMemory(
  { quota, log }: { quota: Quota; log: Log },
  { caller, ...request }: MemoryRequest,
): Promise<Seen["text"]> {
  const scope = scopeOf({ caller, ...request });
  const id = parseMemoryId(request.id);
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const found = await findMemory(log, scope, id);
  if (found === undefined) throw noSuchMemory();
  return found;
}
