import {
  type Answered,
  type Attempt,
  type Outcome,
  parseIdempotencyKey,
} from "../idempotency/idempotency.js";
import { authorize } from "../input/authorize.js";
import { parseTimeOfYears } from "../input/event-time.js";
import { newMemoryId } from "../input/id.js";
import { canonicalMetadata } from "../input/metadata.js";
import { scopeOf } from "../input/namespace.js";
import type { Appending } from "../log/namespaces.js";
import type { Entry, Scope } from "../ports/log.js";
import type { ModelVersion } from "../ports/model-version.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import type { Redacted } from "../secrets/handle-secrets.js";
import { type ContentsRequest, parseContents } from "../secrets/parse-contents.js";
import type { PaidRequest, Ports } from "./ports.js";
import { asMemory, findExisting, type StoreIfPorts, viewNow, writeIf } from "./store-if.js";
import { parseStoreOptions, type StoreOptions, type StoreOptionsRequest } from "./store-options.js";
import { withinQuota } from "./within-quota.js";

export type { Answered } from "../idempotency/idempotency.js";

export interface StoreRequest extends PaidRequest, StoreOptionsRequest, ContentsRequest {
  /** Time at which what it tells of happened, in milliseconds since 1970; when it is stored, if left out. */
  readonly eventAtMs?: number | undefined;
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
 * Stores one memory. Once this resolves, the memory survives a crash and every later recall finds it.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `resource_exhausted` or `unavailable`;
 * after `unavailable` the memory may be stored or not. With an idempotency key a retry is safe, and
 * `already_exists` means that the key was used for another request. A store with storeOptions may also be refused by
 * what the namespace holds: `already_exists`, `not_found` or `failed_precondition`.
 */
export async function store(ports: StoreIfPorts, request: StoreRequest): Promise<StoreOutcome> {
  const { caller } = request;
  const { text, metadata, redacted } = parseContents(request, ports);
  const scope = scopeOf(request);
  const eventAtMs = parseTimeOfYears("event_time", request.eventAtMs);
  const askedOptions = parseStoreOptions(request, ports.clock.wallMs());
  await authorize(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const unreadShare = ports.modelVersions.unreadShare(text);
  // Any two texts that the model can hardly read may be alike to it: none is given up for another.
  const storeOptions =
    askedOptions && unreadShare !== undefined
      ? { ...askedOptions, onSimilar: "store" as const }
      : askedOptions;
  const write = (attempt?: Attempt) =>
    writeMemory(ports, { ...request, text, metadata, eventAtMs, scope, attempt, storeOptions });
  const outcome =
    request.idempotencyKey === undefined
      ? { answered: await write(), replayed: false }
      : await storeIdempotently(ports, { ...request, text, metadata, eventAtMs, scope, write, storeOptions });
  const { answered, replayed } = outcome;
  const { namespace } = scope;
  if (!replayed && isPaid(answered, storeOptions))
    ports.quota.count(caller, { namespace, call: "store", tokens: answered.tokens });
  return { ...outcome, unreadShare, redacted };
}

interface Writing extends Pick<StoreRequest, "caller" | "signal" | "deadlineMs" | "timer"> {
  readonly text: string;
  readonly metadata: string;
  readonly eventAtMs: number | undefined;
  readonly scope: Scope;
  /** Absent if no other attempt can store the same memory. */
  readonly attempt: Attempt | undefined;
  /** Absent in a store that depends on nothing. */
  readonly storeOptions: StoreOptions | undefined;
}

/**
 * True if a store costs a call: one that finds its external id there does not. One that finds a similar
 * memory does, because its text was embedded.
 */
function isPaid({ outcome }: Answered, storeOptions: StoreOptions | undefined): boolean {
  return outcome !== "KEPT" || storeOptions?.onSimilar === "keep";
}

async function writeMemory(ports: StoreIfPorts, writing: Writing): Promise<Answered> {
  const { caller, text, metadata, eventAtMs, scope, attempt, storeOptions, timer = NO_TIMINGS } = writing;
  const { quota, modelVersions, namespaces } = ports;
  // What is there already, or forbids the store, costs neither a call nor the model's time.
  const view = storeOptions && (await viewNow(ports, { caller, scope }));
  const kept = storeOptions && view && (await findExisting(view, { storeOptions, attempt }));
  if (kept !== undefined) return kept;
  return withinQuota({ quota, caller, timer, signal: writing.signal }, async ({ paid, signal }) => {
    const asked = { text, field: "text", owner: caller.accountId, deadlineMs: writing.deadlineMs } as const;
    const embed = memoize((modelVersion: ModelVersion) =>
      timer.time("embed", (onBegin) => modelVersions.embed(modelVersion, { ...asked, signal, onBegin })),
    );
    await Promise.all([embed(namespaces.modelVersionOf(scope)), paid]);
    const id = attempt?.memoryId ?? newMemoryId();
    const memory = {
      ...({ op: "store", opId: id, id, text, metadata, createdAtMs: ports.clock.wallMs() } as const),
      ...(eventAtMs !== undefined && { eventAtMs }),
    };
    // If it is too late for the caller, it is too late for the log.
    signal.throwIfAborted();
    const memoryIn = async (modelVersion: ModelVersion) => {
      // The namespace may have moved to another model meanwhile.
      const embedded = await embed(modelVersion);
      await attempt?.confirm();
      return { ...memory, ...embedded };
    };
    const authenticate = () => quota.verify(caller);
    const appending = { memoryIn, authenticate, idempotent: attempt !== undefined };
    if (storeOptions === undefined) return append(ports, { scope, appending, timer });
    const answered = await writeIf(ports, { scope, storeOptions, id, appending, timer, signal });
    if (!isPaid(answered, storeOptions)) await timer.time("refund", () => quota.refund(caller));
    return answered;
  });
}

async function append(
  { namespaces }: Ports,
  { scope, appending, timer }: { scope: Scope; appending: Appending; timer: StepTimer<CallStep> },
): Promise<Answered> {
  return answerOf(await timer.time("append", () => namespaces.append(scope, appending)));
}

/** Makes the answer from the log's entry: all attempts answer what the first that arrived has written. */
export function answerOf(existing: Entry<"head">): Answered {
  const { id, tokens, createdAtMs } = asMemory(existing);
  return { id, tokens, createdAtMs };
}

async function storeIdempotently(
  { quota, idempotency }: Ports,
  {
    caller,
    text,
    metadata,
    eventAtMs,
    scope,
    write,
    storeOptions,
    ...request
  }: Pick<StoreRequest, "caller" | "idempotencyKey"> &
    Pick<Writing, "text" | "metadata" | "eventAtMs" | "scope" | "storeOptions"> & {
      write(attempt: Attempt): Promise<Answered>;
    },
): Promise<Outcome> {
  const idempotencyKey = parseIdempotencyKey(request.idempotencyKey ?? "");
  // A replay is not charged, so no charge proves that the key lives.
  await quota.verify(caller);
  const more = [
    ...(storeOptions === undefined ? [] : [storeOptions.asked]),
    ...(eventAtMs === undefined ? [] : [`event_time ${eventAtMs}`]),
  ];
  const asked = { scope, idempotencyKey, content: [text, canonicalMetadata(metadata), ...more] };
  const undo = async (answered: Answered) => {
    if (isPaid(answered, storeOptions)) await quota.refund(caller);
  };
  return idempotency.run(asked, { write, undo });
}

/** Remembers the result of work by its argument. */
function memoize<K, V>(work: (key: K) => V): (key: K) => V {
  const done = new Map<K, V>();
  return (key) => {
    const value = done.get(key) ?? work(key);
    done.set(key, value);
    return value;
  };
}
