import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { drop } from "../erasure/drop.js";
import { measureNamespace } from "../log/living-log.js";
import { allNames } from "../log/walk.js";
import { expectWhole } from "../ports/names.js";
import type { Caller } from "../ports/quota.js";
import { expectPermitted } from "../requests/authorize.js";
import { parsePrefix } from "../requests/namespace.js";
import { changeSome } from "./change-some.js";
import type { Ports } from "./ports.js";

/** Namespaces that one call deletes, or that a dry run names, at most. */
export const NAMESPACES_MAX = 100;
/** Namespaces dropped or measured at a time. */
const DROPPING_MAX = 4;

export interface DeleteNamespacesRequest {
  readonly caller: Caller;
  readonly prefix: string;
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes the namespaces whose names begin with a prefix, each like `deleteNamespace` does by force, in the order
 * of their names' bytes: up to 100 a call. It answers their names, how many memories they held and whether others are
 * left: a call that broke off is finished by the next one. A dry run answers the names that the next call would delete,
 * and how many are `matched` in all. A key that is for one namespace deletes that one alone, and nothing if the prefix
 * is another's. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied` or `unavailable`; after the
 * latter, some may be deleted already.
 */
export async function deleteNamespaces(
  ports: Ports,
  { caller, dryRun, signal, ...request }: DeleteNamespacesRequest,
) {
  const prefix = parsePrefix(request.prefix, { required: true });
  const { accountId, namespace: own } = caller;
  // A dry run changes nothing, but only a key that may delete has a use for it.
  await ports.quota.verify(caller);
  expectPermitted(caller, { writes: true, namespace: own?.startsWith(prefix) ? own : prefix });
  const measure = (namespace: string) => measureNamespace(ports, { accountId, namespace });
  const list = async () => {
    const named = await ports.names.list({ accountId, prefix, limit: NAMESPACES_MAX + 1 });
    return expectWhole(named).map(({ scope }) => scope.namespace);
  };
  const found = own === undefined ? await list() : (await measure(own)) === undefined ? [] : [own];
  const names = found.slice(0, NAMESPACES_MAX);
  const hasMore = found.length > names.length;
  if (dryRun === true) {
    let matched = hasMore ? 0 : names.length;
    if (hasMore) {
      for await (const each of allNames(ports.names, { accountId, prefix })) {
        signal?.throwIfAborted();
        expectWhole([each]);
        matched++;
      }
    }
    const held = await mapConcurrently(names, DROPPING_MAX, measure);
    const memories = held.reduce((sum, each) => sum + (each?.memories ?? 0), 0);
    return { deleted: 0, more: hasMore, namespaces: names, memories, matched };
  }
  const dropped = new Map<string, number>();
  const change = async (namespace: string) => {
    const held = await drop(ports, { accountId, namespace }, { force: true });
    if (held !== undefined) dropped.set(namespace, held);
    return true;
  };
  const read = async (some: readonly string[]) => some;
  const changing = { targets: names, concurrency: DROPPING_MAX, read, change, signal };
  const left = await changeSome(ports.clock, changing);
  return {
    deleted: dropped.size,
    more: left > 0 || hasMore,
    namespaces: names.filter((name) => dropped.has(name)),
    memories: [...dropped.values()].reduce((sum, each) => sum + each, 0),
  };
}
