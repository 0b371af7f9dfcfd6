import { charged } from "./charged.js";
import type { Clock } from "./clock.js";
import type { Embedder } from "./embedder.js";
import { newMemoryId } from "./id.js";
import type { Stored } from "./log.js";
import { type JsonObject, parseMetadata } from "./metadata.js";
import type { Caller, Meter } from "./meter.js";
import { parseNamespace } from "./namespace.js";
import type { Namespaces } from "./namespaces.js";
import { type Once, type Outcome, parseIdempotencyKey, type Write } from "./once.js";
import { permit } from "./permit.js";
import { parseText } from "./text.js";

/** What the room needs of the rest of the house. */
export interface Ports {
  readonly embedder: Embedder;
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
}

/**
 * Stores one memory. Once this resolves, it survives a crash and every later recall finds it.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`;
 * after `unavailable` the memory may have been stored or not. With an idempotency key trying again is
 * safe, and `already_exists` says that the key was used for another request.
 */
export async function store(ports: Ports, request: StoreRequest): Promise<Outcome> {
  const { caller } = request;
  const text = parseText("text", request.text);
  const scope = { accountId: caller.accountId, namespace: parseNamespace(request.namespace) };
  const metadata = parseMetadata(request.metadata);
  await permit(ports.meter, caller, { writes: true, namespace: scope.namespace });
  const write: Write = (id, onAppend) =>
    charged({ meter: ports.meter, caller }, async ({ paid, unpaid }) => {
      const signal = either(unpaid, request.signal);
      const [embedding] = await Promise.all([ports.embedder.embed({ text, field: "text", signal }), paid]);
      const entry: Stored = {
        op: "store",
        opId: id,
        id,
        text,
        metadata,
        ...embedding,
        createdAtMs: ports.clock.wallMs(),
      };
      // Too late for the caller is too late for the log: another attempt with its key may be at it.
      signal.throwIfAborted();
      onAppend();
      await ports.namespaces.append(scope, entry);
      ports.meter.count(caller, { call: "store", tokens: entry.tokens });
      return entry;
    });
  if (request.idempotencyKey === undefined) {
    return { answered: await write(newMemoryId(), () => {}), replayed: false };
  }
  const idempotencyKey = parseIdempotencyKey(request.idempotencyKey);
  // A replay is not charged, and so proves nothing of the key.
  await ports.meter.verify(caller);
  return ports.once.run({ scope, idempotencyKey, content: [text, metadata] }, write);
}

/** Aborted when either is. */
export function either(a: AbortSignal, b: AbortSignal | undefined): AbortSignal {
  return b === undefined ? a : AbortSignal.any([a, b]);
}
