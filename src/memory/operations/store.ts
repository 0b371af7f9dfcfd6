import type { Outcome } from "../idempotency/idempotency.js";
import { authorize } from "../requests/authorize.js";
import type { Redacted } from "../requests/handle-secrets.js";
import { canonicalMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import type { PaidRequest, Ports } from "./ports.js";
import { type MemoryRequest, parseMemory, storeItem } from "./store-item.js";
import { onlyOf, write } from "./write.js";

export interface StoreRequest extends PaidRequest, MemoryRequest {
  /** Calls with the same key store one memory. */
  readonly idempotencyKey?: string | undefined;
}

export interface StoreOutcome extends Outcome {
  /** Share of the text's letters and emoji that the model can hardly read; absent if it reads at least half. */
  readonly unreadShare?: number | undefined;
  /** Absent if nothing was redacted. */
  readonly redacted?: Redacted | undefined;
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
export async function store(ports: Ports, request: StoreRequest): Promise<StoreOutcome> {
  const memory = parseMemory(request, ports);
  const scope = scopeOf(request);
  await authorize(ports.quota, request.caller, { writes: true, namespace: scope.namespace });
  const { text, metadata, eventAtMs, storeOptions, unreadShare, redacted } = memory;
  const { results, replayed } = await write(ports, {
    request,
    scope,
    creates: true,
    itemsFor: (id) => [storeItem(ports, id, memory)],
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
  return { answered: onlyOf(results), replayed, unreadShare, redacted };
}
