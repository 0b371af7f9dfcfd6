import { charged } from "./charged.js";
import type { Clock } from "./clock.js";
import type { Edition } from "./edition.js";
import type { Editions } from "./editions.js";
import { newMemoryId } from "./id.js";
import { type JsonObject, parseMetadata } from "./metadata.js";
import type { Caller, Meter } from "./meter.js";
import { scopeOf } from "./namespace.js";
import type { Namespaces } from "./namespaces.js";
import { type Once, type Outcome, parseIdempotencyKey, type Write } from "./once.js";
import { permit } from "./permit.js";
import { type CallStep, type Steps, untimed } from "./steps.js";
import { parseText } from "./text.js";

/** What the room needs of the rest of the house. */
export interface Ports {
  readonly editions: Editions;
  readonly meter: Meter;
  readonly namespaces: Namespaces;
  readonly once: Once;
  readonly clock: Clock;
}

export interface StoreRequest {
  readonly caller: Caller;
  readonly text: string;
  readonly namespace: string;
  readonly metadata?: JsonObject | undefined;
  /** Calls with the same key store once. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal;
  readonly steps?: Steps<CallStep> | undefined;
}

/**
 * Stores one memory. Once this resolves, it survives a crash and every later recall finds it.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`;
 * after `unavailable` the memory may have been stored or not. With an idempotency key trying again is
 * safe, and `already_exists` says that the key was used for another request.
 */
export async function store(ports: Ports, request: StoreRequest): Promise<Outcome> {
  const { caller, steps = untimed } = request;
  const text = parseText("text", request.text);
  const scope = scopeOf(request);
  const metadata = parseMetadata(request.metadata);
  await permit(ports.meter, caller, { writes: true, namespace: scope.namespace });
  const write: Write = (id, onAppend) =>
    charged({ meter: ports.meter, caller, steps }, async ({ paid, unpaid }) => {
      const signal = either(unpaid, request.signal);
      const embed = onceEach((edition: Edition) =>
        steps.time("embed", (onBegin) =>
          ports.editions.embed(edition, { text, field: "text", signal, onBegin }),
        ),
      );
      const [{ tokens }] = await Promise.all([embed(ports.namespaces.editionOf(scope)), paid]);
      const memory = {
        op: "store",
        opId: id,
        id,
        text,
        metadata,
        createdAtMs: ports.clock.wallMs(),
      } as const;
      // Too late for the caller is too late for the log: another attempt with its key may be at it.
      signal.throwIfAborted();
      onAppend();
      // The namespace may have moved to another model meanwhile.
      await steps.time("append", () =>
        ports.namespaces.append(scope, async (edition) => ({ ...memory, ...(await embed(edition)) })),
      );
      ports.meter.count(caller, { call: "store", tokens });
      return { ...memory, tokens };
    });
  if (request.idempotencyKey === undefined) {
    return { answered: await write(newMemoryId(), () => {}), replayed: false };
  }
  const idempotencyKey = parseIdempotencyKey(request.idempotencyKey);
  // A replay is not charged, and so proves nothing of the key.
  await ports.meter.verify(caller);
  return ports.once.run({ scope, idempotencyKey, content: [text, metadata] }, write);
}

/** Does the work once for each of what it is asked for. */
function onceEach<K, V>(work: (key: K) => V): (key: K) => V {
  const done = new Map<K, V>();
  return (key) => {
    const value = done.get(key) ?? work(key);
    done.set(key, value);
    return value;
  };
}

/** Aborted when either is. */
export function either(a: AbortSignal, b: AbortSignal | undefined): AbortSignal {
  return b === undefined ? a : AbortSignal.any([a, b]);
}
