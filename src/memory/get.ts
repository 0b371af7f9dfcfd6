import { MemoryError } from "../errors.js";
import { parseMemoryId } from "./id.js";
import type { Log, Stored } from "./log.js";
import type { Caller, Meter } from "./meter.js";
import { parseNamespace } from "./namespace.js";
import { permit } from "./permit.js";

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
): Promise<Stored> {
  const scope = { accountId: caller.accountId, namespace: parseNamespace(request.namespace) };
  const id = parseMemoryId(request.id);
  await permit(meter, caller, { writes: false, namespace: scope.namespace });
  await meter.verify(caller);
  const incarnation = await log.find(scope);
  if (incarnation === undefined) throw noSuchMemory();
  const sequence = await log.locate({ incarnation, id });
  if (sequence === undefined) throw noSuchMemory();
  const [found] = await log.fetch({ incarnation, sequences: [sequence] });
  if (found === undefined) throw noSuchMemory();
  return found.entry;
}

export function noSuchMemory(): MemoryError {
  return new MemoryError("not_found", "this namespace has no memory with this id");
}
