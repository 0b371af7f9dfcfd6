import { drop } from "../erasure/drop.js";
import { authorizeFree } from "../requests/authorize.js";
import { scopeOf } from "../requests/namespace.js";
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
  { force, ...request }: NamespaceRequest & { readonly force: boolean },
): Promise<number> {
  const { caller } = request;
  const scope = scopeOf(request);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const dropped = await drop(ports, scope, { force });
  if (dropped === undefined) throw noSuchNamespace();
  return dropped;
}
