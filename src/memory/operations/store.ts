import { authorize } from "../requests/authorize.js";
import { canonicalMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import type { PaidRequest, Ports } from "./ports.js";
import { type MemoryRequest, parseMemory, type StoredMemory, storeItem } from "./store-item.js";
import { onlyOf, write } from "./write.js";

export interface StoreRequest extends PaidRequest, MemoryRequest {
  readonly idempotencyKey?: string | undefined;
}

/**
 * Stores one memory. Once this resolves, the memory survives a crash and every later recall finds it. A store that
 * finds its external id there costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`;
 * after `unavailable` the memory may be stored or not. With an idempotency key a retry is safe, and
 * `already_exists` means that the key was used for another request. A store with storeOptions may also be refused by
 * what the namespace holds: `already_exists`, `not_found` or `failed_precondition`.
 */
export async function store(
  ports: Ports,
  request: StoreRequest,
): Promise<{ stored: StoredMemory; replayed: boolean }> {
  const memory = parseMemory(request, ports);
  const scope = scopeOf(request);
  await authorize(ports.quota, request.caller, { writes: true, namespace: scope.namespace });
  const { text, metadata, eventAtMs, storeOptions, unreadShare, redacted } = memory;
  const { results, replayed } = await write(ports, {
    request,
    scope,
    creates: true,
    itemsFor: (id) => [storeItem(id, memory)],
    keyed: {
      content: () => [
        text,
        canonicalMetadata(metadata),
        ...(storeOptions === undefined ? [] : [storeOptions.asked]),
        ...(eventAtMs === undefined ? [] : [`event_time ${eventAtMs}`]),
      ],
      answerOf: onlyOf,
      replay: async (answered) => [{ stored: answered }],
    },
  });
  return { stored: { unreadShare, redacted, ...onlyOf(results) }, replayed };
}
