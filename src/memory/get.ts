import { MemoryError } from "../errors.js";
import { findMemory } from "./find.js";
import { parseMemoryId } from "./id.js";
import type { Log, Seen } from "./log.js";
import type { Caller, Meter } from "./meter.js";
import { scopeOf } from "./namespace.js";
import { permitFree } from "./permit.js";

export interface MemoryRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: string;
}

/**
 * One memory by its id. Costs nothing.
 *
 * @throws MemoryError `not_found` when this namespace of this account has none with this id.
 */
export async function getMemory(
  { meter, log }: { meter: Meter; log: Log },
  { caller, ...request }: MemoryRequest,
): Promise<Seen["text"]> {
  const scope = scopeOf({ caller, ...request });
  const id = parseMemoryId(request.id);
  await permitFree(meter, caller, { writes: false, namespace: scope.namespace });
  const found = await findMemory(log, scope, id);
  if (found === undefined) throw noSuchMemory();
  return found;
}

export function noSuchMemory(): MemoryError {
  return new MemoryError("not_found", "this namespace has no memory with this id");
}
