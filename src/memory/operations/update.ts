import { invalid } from "../../errors.js";
import { type ErasurePorts, eraseEntry } from "../erasure/erase.js";
import { type Attempt, parseIdempotencyKey } from "../idempotency/idempotency.js";
import { authorize, authorizeFree } from "../input/authorize.js";
import { parseTimeOfYears } from "../input/event-time.js";
import { type Expiry, parseExpiry } from "../input/expiry.js";
import { newMemoryId, parseMemoryId } from "../input/id.js";
import type { JsonObject } from "../input/json-object.js";
import { parseMetadata } from "../input/metadata.js";
import { scopeOf } from "../input/namespace.js";
import { parseText } from "../input/text.js";
import { type Mask, merged, parseMask, withKeys } from "../input/update-mask.js";
import type { Replica } from "../log/replica.js";
import { weightOf } from "../pacing/bounds.js";
import type { Embedding } from "../ports/embedder.js";
import type { Scope, Stored } from "../ports/log.js";
import { type ModelVersion, modelVersionOf } from "../ports/model-version.js";
import { NO_TIMINGS } from "../ports/step-timer.js";
import { findMemory } from "../reading/fetch.js";
import { handleSecrets, type OnSecret, type Redacted } from "../secrets/handle-secrets.js";
import { noSuchMemory } from "../versions/current-version.js";
import { type Changes, decideUpdate, updatable } from "../versions/deciding-updates.js";
import type { Shown } from "../versions/showing.js";
import type { PaidRequest, Ports } from "./ports.js";
import { unlessWritten } from "./store-if.js";
import { withinQuota } from "./within-quota.js";

export interface UpdateRequest extends PaidRequest {
  readonly id: string;
  readonly text?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly expiry?: Expiry | undefined;
  /** Time at which what it tells of happened, in milliseconds since 1970. */
  readonly eventAtMs?: number | undefined;
  /** Paths of what is updated; if left out, all that is given. */
  readonly mask?: readonly string[] | undefined;
  /** True if `metadata` is a JSON merge patch. */
  readonly merges?: boolean | undefined;
  /** What to do with secrets in the new text or metadata; the server's way if left out. */
  readonly onSecret?: OnSecret | undefined;
  /** Etag that the memory must have; empty means any. */
  readonly etag?: string | undefined;
  /** Calls with the same key update once. */
  readonly idempotencyKey?: string | undefined;
  /**
   * Called before a change that costs no call of the plan, with about as many bytes as it writes. What it throws
   * refuses the change.
   */
  readonly onFreeWrite?: ((bytes: number) => void) | undefined;
}

/** Bytes that a memory's text and vectors take in the log for each of its tokens, at most. */
export const BYTES_PER_TOKEN = 80;

/** Outcome of an update, and whether it repeats an earlier one. */
export interface Updated {
  readonly memory: Shown;
  readonly replayed: boolean;
  /** Absent if nothing was redacted. */
  readonly redacted?: Redacted | undefined;
}

type UpdatePorts = Ports & ErasurePorts;

/**
 * Updates one memory. Once this resolves, every later recall finds the new text, and the old one is erased.
 * A new text costs one call, because it is embedded; other updates cost nothing.
 *
 * @throws MemoryError `not_found`, `aborted` if the etag is another, `failed_precondition` if the memory was
 * superseded, and as `store`.
 */
export async function updateMemory(ports: UpdatePorts, request: UpdateRequest): Promise<Updated> {
  const { caller } = request;
  const scope = scopeOf(request);
  const id = parseMemoryId(request.id);
  const { redacted, ...wanted } = parseChanges(request, ports);
  const action = { writes: true, namespace: scope.namespace };
  if (wanted.text === undefined) await authorizeFree(ports.quota, caller, action);
  else await authorize(ports.quota, caller, action);
  const write = (attempt?: Attempt) => writeVersion(ports, { ...request, scope, id, wanted, attempt });
  const { memory, replayed } = await runIdempotently(ports, { ...request, scope, id, wanted }, write);
  if (!replayed && wanted.text !== undefined)
    ports.quota.count(caller, { namespace: scope.namespace, call: "store", tokens: memory.tokens });
  return { memory, replayed, redacted };
}

interface Wanted extends Omit<Changes, "text"> {
  readonly text: string | undefined;
  /** The changes as they were asked for, by which two requests are compared. */
  readonly asked: string;
}

function parseChanges(
  request: UpdateRequest,
  { clock, onSecret = "store" }: Pick<UpdatePorts, "clock" | "onSecret">,
): Wanted & Pick<Updated, "redacted"> {
  const { expiry, eventAtMs, merges = false, etag = "", onSecret: how = onSecret } = request;
  const mask = request.mask === undefined ? impliedMask(request) : parseMask(request.mask);
  const { text: changesText, expiry: changesExpiry, eventTime: changesEvent } = mask;
  if (!changesText && !changesExpiry && !changesEvent && mask.metadata.length === 0) {
    throw invalid("update_mask", "names nothing to update");
  }
  // The part alone must keep the bounds, so that it is refused before anything is read.
  parseMetadata(request.metadata);
  const given = {
    text: changesText ? parseText("text", request.text ?? "") : undefined,
    metadata: request.metadata,
  };
  const { text, metadata, redacted } =
    how === "store" ? { ...given, redacted: undefined } : handleSecrets(given, how);
  const asked = [text, metadata, expiry, request.mask, merges, etag];
  const more = eventAtMs === undefined ? [] : [eventAtMs];
  return {
    text,
    metadata: metadataChange(mask, { given: metadata ?? {}, merges }),
    expiresAtMs: changesExpiry ? (parseExpiry(expiry, clock.wallMs()) ?? null) : undefined,
    eventAtMs: changesEvent ? (parseTimeOfYears("event_time", eventAtMs) ?? null) : undefined,
    asked: JSON.stringify([...asked.map((it) => it ?? null), ...more]),
    redacted,
  };
}

function impliedMask({ text, metadata, expiry, eventAtMs }: UpdateRequest): Mask {
  const given = {
    text: text !== undefined,
    expiry: expiry !== undefined,
    eventTime: eventAtMs !== undefined,
  };
  return { ...given, metadata: metadata === undefined ? [] : "all" };
}

function metadataChange(
  mask: Mask,
  { given, merges }: { given: JsonObject; merges: boolean },
): Changes["metadata"] {
  const keys = mask.metadata;
  if (keys === "all") return merges ? (old) => merged(old, given) : () => given;
  return keys.length === 0 ? undefined : (old) => withKeys(old, given, keys);
}

interface Writing extends Omit<UpdateRequest, "text" | "metadata" | "mask"> {
  readonly scope: Scope;
  readonly wanted: Wanted;
  readonly attempt?: Attempt | undefined;
}

/** Runs an update, with an idempotency key only once. */
async function runIdempotently(
  { idempotency, quota, log, clock }: UpdatePorts,
  { caller, scope, id, wanted, idempotencyKey: key }: Writing,
  write: (attempt?: Attempt) => Promise<Shown>,
): Promise<Updated> {
  if (key === undefined) return { memory: await write(), replayed: false };
  const idempotencyKey = parseIdempotencyKey(key);
  // A replay is not charged, so no charge proves that the key lives.
  await quota.verify(caller);
  const asked = { scope, idempotencyKey, content: ["UpdateMemory", id, wanted.asked, "", ""] };
  let written: Shown | undefined;
  const outcome = await idempotency.run(asked, {
    write: async (attempt) => {
      written = await write(attempt);
      return { id, tokens: written.tokens, createdAtMs: written.createdAtMs };
    },
    undo: async () => {
      if (wanted.text !== undefined) await quota.refund(caller);
    },
  });
  const memory = outcome.replayed ? await findMemory({ log, clock }, scope, id) : written;
  if (memory === undefined) throw noSuchMemory();
  return { memory, replayed: outcome.replayed };
}

async function writeVersion(ports: UpdatePorts, writing: Writing): Promise<Shown> {
  const { caller, wanted, timer = NO_TIMINGS } = writing;
  const { quota } = ports;
  const tokens = await check(ports, writing);
  const { text } = wanted;
  if (text === undefined) {
    writing.onFreeWrite?.(tokens * BYTES_PER_TOKEN);
    return appendVersion(ports, writing, async () => undefined);
  }
  return withinQuota({ quota, caller, timer, signal: writing.signal }, async ({ paid, signal }) => {
    const asked = { text, field: "text", owner: caller.accountId, deadlineMs: writing.deadlineMs } as const;
    const embed = (modelVersion: ModelVersion) =>
      timer.time("embed", (onBegin) =>
        ports.modelVersions.embed(modelVersion, { ...asked, signal, onBegin }),
      );
    return appendVersion(ports, writing, async (modelVersion) => {
      const [embedded] = await Promise.all([embed(modelVersion), paid]);
      signal.throwIfAborted();
      return { ...embedded, text };
    });
  });
}

/** Refuses an update that cannot be made before anything is charged or embedded; returns the memory's tokens. */
async function check({ log, clock }: UpdatePorts, { scope, id, etag, attempt }: Writing): Promise<number> {
  const logId = await log.find(scope);
  if (logId === undefined) throw noSuchMemory();
  const view = { log, logId, from: Number.POSITIVE_INFINITY, nowMs: clock.wallMs() };
  const current = await unlessWritten(view, attempt, () => updatable(view, { id, etag: etag || undefined }));
  return current?.entry.tokens ?? 0;
}

/**
 * Appends the next version of a memory and erases the one before.
 *
 * @throws MemoryError as `decideUpdate`
 */
export async function appendVersion(
  ports: ErasurePorts,
  {
    scope,
    id,
    etag,
    wanted,
    attempt,
    timer = NO_TIMINGS,
  }: Pick<Writing, "scope" | "id" | "etag" | "wanted" | "attempt" | "timer">,
  textIn: (modelVersion: ModelVersion) => Promise<(Embedding & { text: string }) | undefined>,
): Promise<Shown> {
  const { namespaces, clock, log } = ports;
  const opId = attempt?.memoryId ?? newMemoryId();
  const nowMs = clock.wallMs();
  let written: Stored | undefined;
  const conditionFor = async ({ logId }: Replica) => {
    const text = await textIn(modelVersionOf(logId));
    await attempt?.confirm();
    const update = { opId, id, etag: etag || undefined, changes: { ...wanted, text } };
    return {
      opId,
      bytes: text === undefined ? wanted.asked.length : weightOf({ op: "store", ...text } as Stored),
      decide: async (view: { log: typeof log; logId: string; from: number }) => {
        const decision = await decideUpdate({ ...view, nowMs }, update);
        written = decision.entry;
        return decision;
      },
    };
  };
  const changed = await timer.time("append", () =>
    namespaces.change(scope, { conditionFor, idempotent: attempt !== undefined }),
  );
  if (changed === undefined) throw noSuchMemory();
  const { logId, existing } = changed;
  if ("replaces" in existing && existing.replaces !== undefined) {
    await eraseEntry(ports, { logIds: [logId], sequence: existing.replaces });
  }
  // Another attempt with the same key may have written it.
  const memory = written?.opId === existing.opId ? written : await findMemory({ log, clock }, scope, id);
  if (memory === undefined) throw noSuchMemory();
  return memory;
}
