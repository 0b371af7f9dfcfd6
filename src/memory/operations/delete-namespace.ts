import { drop } from "../erasure/drop.js";
import { authorizeFree } from "../requests/authorize.js";
import { noSuchNamespace } from "./get-namespace.js";
import type { NamespaceRequest, Ports } from "./ports.js";

/**
 * Drops a namespace and erases all of it; its name becomes free. Returns how many memories it held. Costs
 * nothing.
 *
 * @throws MemoryError `not_found`; `failed_precondition` if it is not empty and `force` is not set.
 */
export async function deleteNamespace(
  ports: Ports,
  request: NamespaceRequest & { readonly force: boolean },
): Promise<number> {
  const scope = await authorizeFree(ports, request, { writes: true });
  const dropped = await drop(ports, scope, request);
  if (dropped === undefined) throw noSuchNamespace();
  return dropped;
}
