import { authorizeFree } from "../requests/authorize.js";
import { parseMemoryId } from "../requests/id.js";
import { expectMemory, type VisibleMemory } from "../versions/fetch.js";
import type { NamespaceRequest, Ports } from "./ports.js";

export interface MemoryRequest extends NamespaceRequest {
  readonly id: string;
}

/**
 * Finds one memory by its id. Costs nothing.
 *
 * @throws MemoryError `not_found` if this namespace of this account has none with this id.
 */
export async function getMemory(ports: Ports, request: MemoryRequest): Promise<VisibleMemory> {
  const id = parseMemoryId(request.id);
  const scope = await authorizeFree(ports, request, { writes: false });
  return expectMemory(ports, scope, id);
}
