import type { DescEnum } from "@bufbuild/protobuf";
import { type Duration, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type Secrets_OnSecret,
  Secrets_OnSecretSchema,
  Similarity_OnSimilarSchema,
  type StoreItem,
  type StoreRequest,
  StoreRequest_OnConflictSchema,
  StoreResponse_Outcome,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid, type MemoryError, ofItem } from "../../errors.js";
import type { BatchMemory } from "../../memory/operations/store-batch.js";
import type { MemoryRequest, StoredMemory } from "../../memory/operations/store-item.js";
import type { Result } from "../../memory/operations/write.js";
import type { OnSecret, Redacted } from "../../memory/requests/handle-secrets.js";
import type { Expiry } from "../../memory/requests/times.js";

const MS_PER_SECOND = 1_000;
const NANOS_PER_MS = 1_000_000;
const NANOS_MAX = 999_999_999;

/**
 * Translates a choice to the domain's word for it, which has the place of the choice's number; undefined if none was
 * made. @throws MemoryError `invalid_argument` for a number that stands for nothing.
 */
export function chosen<T extends string>(
  field: string,
  value: number,
  { choices: { values }, words }: { readonly choices: DescEnum; readonly words: readonly T[] },
): T | undefined {
  // The first of them says that nothing was chosen.
  if (value === 0 || words[value - 1] !== undefined) return words[value - 1];
  const names = values.slice(1).map(({ name }) => name);
  const before = names.slice(0, -1).join(", ");
  const between = names.length === 2 ? `neither ${before} nor` : `none of ${before} and`;
  throw invalid(field, `is ${between} ${names.at(-1)}`);
}

const ON_SECRET = { choices: Secrets_OnSecretSchema, words: ["store", "redact", "refuse"] } as const;
const ON_CONFLICT = { choices: StoreRequest_OnConflictSchema, words: ["refuse", "replace", "keep"] } as const;
const ON_SIMILAR = { choices: Similarity_OnSimilarSchema, words: ["store", "keep", "supersede"] } as const;

/** Translates what is done with secrets; undefined is the server's way. */
export function onSecretOf(value: Secrets_OnSecret): OnSecret | undefined {
  return chosen("on_secret", value, ON_SECRET);
}

/** Translates a memory to store, by itself or in a batch, which lists no similar ones. */
export function memoryToStore(asked: StoreRequest | StoreItem): MemoryRequest {
  const { text, metadata, externalId, supersedes } = asked;
  const { similarAbove, onSimilar = 0 } = asked as Partial<StoreRequest>;
  return {
    text,
    metadata,
    externalId,
    supersedes,
    eventAtMs: eventAtMsOf(asked),
    onSecret: onSecretOf(asked.onSecret),
    onConflict: chosen("on_conflict", asked.onConflict, ON_CONFLICT),
    expiry: expiryOf(asked.expiry),
    similarAbove,
    onSimilar: chosen("on_similar", onSimilar, ON_SIMILAR),
  };
}

/** Translates the memories of a batch. */
export function batchMemories(memories: readonly StoreItem[]): BatchMemory[] {
  return memories.map((memory, i) => ofItem(`memories[${i}]`, () => memoryToStore(memory)));
}

/** Translates the time from which a memory is hidden. */
export function expiryOf(expiry: {
  case: "expireTime" | "ttl" | undefined;
  value?: Timestamp | Duration | undefined;
}): Expiry | undefined {
  const { value } = expiry;
  if (value === undefined) return undefined;
  if (expiry.case === "ttl") return { ttlMs: msOf("ttl", value) };
  return { atMs: Math.floor(msOf("expire_time", value)) };
}

/** Translates when something happened; parts of a millisecond do not count. */
export function eventAtMsOf({ eventTime }: Pick<StoreRequest, "eventTime">): number | undefined {
  return eventTime && Math.floor(msOf("event_time", eventTime));
}

/** Converts seconds and nanoseconds to milliseconds. */
export function msOf(field: string, { seconds, nanos }: Pick<Timestamp, "seconds" | "nanos">): number {
  // Protobuf's binary form has more than the rules of these messages allow.
  if (Math.abs(nanos) > NANOS_MAX) throw invalid(field, "has nanos beyond a second");
  return Number(seconds) * MS_PER_SECOND + nanos / NANOS_PER_MS;
}

/** Translates a memory that was stored. */
export function storedOf(stored: StoredMemory) {
  const { id, tokens, createdAtMs, outcome, etag, unreadShare, redacted } = stored;
  return {
    id,
    tokens,
    createdAt: timestampFromMs(createdAtMs),
    outcome: outcome && StoreResponse_Outcome[outcome],
    etag,
    unreadShare,
    redacted: redactedOf(redacted),
  };
}

/** Translates what was redacted: a field of an answer that is absent if nothing was. */
export function redactedOf(redacted: Redacted | undefined) {
  return redacted && { secrets: redacted.secrets.map((each) => ({ ...each })), count: redacted.count };
}

/** Translates the error of one part of a call. */
export function problemOf({ code, message, reason }: MemoryError) {
  return { code, message, reason: reason ?? "" };
}

/** Translates the result of one memory of a batch. */
export function batchResult(result: Result<StoredMemory>) {
  if ("error" in result) {
    return { result: { case: "error", value: problemOf(result.error) } } as const;
  }
  return { result: { case: "stored", value: storedOf(result.stored) } } as const;
}
