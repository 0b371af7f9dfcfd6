import { invalid } from "../../errors.js";
import { parseJson } from "../../parse-json.js";
import { weightOf } from "../ports/bounds.js";
import type { Stored } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import { authorize } from "../requests/authorize.js";
import { handleSecrets, type OnSecret, type Redacted } from "../requests/handle-secrets.js";
import { parseMemoryId } from "../requests/id.js";
import { canonicalMetadata, type JsonObject, parseMetadata } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { parseText } from "../requests/text.js";
import { type Expiry, parsePastExpiry, parseTimeOfYears } from "../requests/times.js";
import { type Mask, merged, parseMask, withKeys } from "../requests/update-mask.js";
import type { LogView } from "../versions/condition.js";
import { expectMemory, type VisibleMemory } from "../versions/fetch.js";
import { type Changed, type Changes, decideUpdate, updatable } from "./deciding.js";
import type { PaidRequest, Ports } from "./ports.js";
import { type Item, onlyOf, write } from "./write.js";

/** An update as the contract has it; times are milliseconds since 1970. */
export interface UpdateRequest extends PaidRequest {
  readonly id: string;
  readonly text?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly expiry?: Expiry | undefined;
  readonly eventAtMs?: number | undefined;
  /** Paths of what is updated; if left out, all that is given. */
  readonly mask?: readonly string[] | undefined;
  /** True if `metadata` is a JSON merge patch. */
  readonly merges?: boolean | undefined;
  readonly onSecret?: OnSecret | undefined;
  readonly etag?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /**
   * Called before a change that costs no call of the plan, with about as many bytes as it writes. What it throws
   * refuses the change.
   */
  readonly onFreeWrite?: ((bytes: number) => void) | undefined;
}

/** Bytes that a memory's text and vectors take in the log for each of its tokens, at most. */
const BYTES_PER_TOKEN = 80;

/**
 * Updates one memory. Once this resolves, every later recall finds the new text, and the old one is erased.
 * A new text costs one call, because it is embedded; other updates cost nothing. It answers the memory, whether an
 * earlier call with the key has updated it, and what was redacted.
 *
 * @throws MemoryError `not_found`, `aborted` if the etag is another, `failed_precondition` if the memory was
 * superseded, and as `store`.
 */
export async function updateMemory(ports: Ports, request: UpdateRequest) {
  const { onFreeWrite } = request;
  const scope = scopeOf(request);
  const id = parseMemoryId(request.id);
  const memory = { id, etag: request.etag || undefined };
  const { redacted, ...wanted } = parseChanges(request, ports);
  await authorize(ports.quota, request.caller, { writes: true, namespace: scope.namespace });
  const { results, replayed } = await write<VisibleMemory>(ports, {
    request,
    scope,
    creates: false,
    itemsFor: (opId) => {
      const precheck = async (view: LogView) => {
        const { entry } = await updatable(view, memory);
        if (wanted.text === undefined) onFreeWrite?.(versionBytes(entry, wanted.asked));
        return undefined;
      };
      return [{ ...updateItem(ports, { opId, scope, memory, wanted }), precheck }];
    },
    keyed: {
      content: () => ["UpdateMemory", id, wanted.asked, "", ""],
      answerOf: (results) => {
        const { tokens, createdAtMs } = onlyOf(results);
        return { id, tokens, createdAtMs };
      },
      replay: async () => [{ stored: await expectMemory(ports, scope, id) }],
    },
  });
  return { memory: onlyOf(results), replayed, redacted };
}

/** About as many bytes as a memory's next version takes in the log, if its text stays. */
export function versionBytes({ tokens }: Pick<VisibleMemory, "tokens">, metadata: string): number {
  return tokens * BYTES_PER_TOKEN + Buffer.byteLength(metadata);
}

interface Wanted extends Changes {
  /** True if the memory would have expired already, as one whose update is tried again may have. */
  readonly isPast?: boolean;
  /** The changes as they were asked for, by which two requests are compared. */
  readonly asked: string;
}

function parseChanges(
  request: UpdateRequest,
  { clock, onSecret = "store" }: Ports,
): Wanted & { readonly redacted: Redacted | undefined } {
  const { expiry, eventAtMs, merges = false, etag = "", onSecret: how = onSecret } = request;
  const mask = request.mask === undefined ? impliedMask(request) : parseMask(request.mask);
  const { text: changesText, expiry: changesExpiry, eventTime: changesEvent } = mask;
  if (!changesText && !changesExpiry && !changesEvent && mask.metadata.length === 0) {
    const changes = "text, metadata, expire_time, ttl or event_time";
    throw invalid("update_mask", `names nothing to update; give ${changes}`);
  }
  // The part alone must keep the bounds, so that it is refused before anything is read.
  parseMetadata(request.metadata);
  const given = {
    text: changesText ? parseText("text", request.text ?? "") : undefined,
    metadata: request.metadata,
  };
  const { text, metadata, redacted } = handleSecrets(given, how);
  const asked = [text, metadata, expiry, request.mask, merges, etag];
  const more = eventAtMs === undefined ? [] : [eventAtMs];
  const nowMs = clock.wallMs();
  const expiresAtMs = changesExpiry ? (parsePastExpiry(expiry, nowMs) ?? null) : undefined;
  return {
    text,
    metadata: metadataChange(mask, { given: metadata ?? {}, merges }),
    expiresAtMs,
    isPast: typeof expiresAtMs === "number" && expiresAtMs <= nowMs,
    eventAtMs: changesEvent ? (parseTimeOfYears("event_time", eventAtMs) ?? null) : undefined,
    asked: canonicalMetadata(JSON.stringify([...asked.map((it) => it ?? null), ...more])),
    redacted,
  };
}

function impliedMask({ text, metadata, expiry, eventAtMs }: UpdateRequest): Mask {
  return {
    text: text !== undefined,
    expiry: expiry !== undefined,
    eventTime: eventAtMs !== undefined,
    metadata: metadata === undefined ? [] : "all",
  };
}

function metadataChange(
  { metadata: keys }: Mask,
  { given, merges }: { given: JsonObject; merges: boolean },
): Changes["metadata"] {
  const changedBy = (change: (old: JsonObject) => JsonObject) => (old: string) =>
    parseMetadata(change(parseJson(old) as JsonObject));
  if (keys === "all") return merges ? changedBy((old) => merged(old, given)) : () => parseMetadata(given);
  return keys.length === 0 ? undefined : changedBy((old) => withKeys(old, given, keys));
}

/**
 * Makes what is written for an update: the next version of a memory.
 *
 * @throws MemoryError as `decideUpdate`
 */
export function updateItem(
  ports: Ports,
  { opId, scope, memory, wanted }: { opId: string; scope: Scope; memory: Changed; wanted: Wanted },
): Item<VisibleMemory> {
  const { text, asked, isPast } = wanted;
  return {
    id: opId,
    text,
    isPast,
    entryIn: ({ embedding, nowMs }) => ({
      opId,
      bytes: embedding === undefined ? asked.length : weightOf({ op: "store", text, ...embedding } as Stored),
      decide: (view) => decideUpdate({ ...view, nowMs }, { ...memory, opId, changes: wanted, embedding }),
    }),
    // Another attempt with the same key may have written the entry. Then only its header was read, without the text.
    answer: async (existing) =>
      "text" in existing ? (existing as VisibleMemory) : expectMemory(ports, scope, memory.id),
  };
}
