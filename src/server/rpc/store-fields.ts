import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Secrets_OnSecret,
  Similarity_OnSimilar,
  type StoreItem,
  type StoreRequest,
  StoreRequest_OnConflict,
  StoreResponse_Outcome,
  type StoreResponseSchema,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid, type MemoryError, ofItem } from "../../errors.js";
import type { Answered, StoreOutcome } from "../../memory/operations/store.js";
import type { BatchMemory, BatchResult } from "../../memory/operations/store-batch.js";
import type { OnSimilar, StoreOptionsRequest } from "../../memory/operations/store-item.js";
import type { Expiry } from "../../memory/requests/times.js";
import type { OnSecret, Redacted } from "../../memory/secrets/handle-secrets.js";
import type { OnConflict } from "../../memory/versions/deciding.js";

const MS_PER_SECOND = 1_000;
const NANOS_PER_MS = 1_000_000;
const NANOS_MAX = 999_999_999;

/** Translates what a store asks for beyond a memory. */
export function storeOptionsOf({
  externalId,
  onConflict,
  expiry,
  supersedes,
  similarAbove,
  onSimilar,
}: Pick<StoreRequest, "externalId" | "onConflict" | "expiry" | "supersedes"> &
  Partial<Pick<StoreRequest, "similarAbove" | "onSimilar">>): StoreOptionsRequest {
  return {
    externalId,
    onConflict: onConflictOf(onConflict),
    expiry: expiryOf(expiry),
    supersedes,
    similarAbove,
    onSimilar: onSimilarOf(onSimilar),
  };
}

function onSimilarOf(value: Similarity_OnSimilar | undefined): OnSimilar | undefined {
  if (value === undefined || value === Similarity_OnSimilar.ON_SIMILAR_UNSPECIFIED) return undefined;
  if (value === Similarity_OnSimilar.STORE) return "store";
  if (value === Similarity_OnSimilar.KEEP) return "keep";
  if (value === Similarity_OnSimilar.SUPERSEDE) return "supersede";
  throw invalid("on_similar", "is none of STORE, KEEP and SUPERSEDE");
}

/** Translates the memories of a batch. */
export function batchMemories(memories: readonly StoreItem[]): BatchMemory[] {
  return memories.map(({ text, metadata, onSecret, ...asked }, i) =>
    ofItem(`memories[${i}]`, () => ({
      text,
      metadata,
      eventAtMs: eventAtMsOf(asked),
      onSecret: onSecretOf(onSecret),
      ...storeOptionsOf(asked),
    })),
  );
}

/** Translates what is done with secrets; undefined is the server's way. */
export function onSecretOf(value: Secrets_OnSecret): OnSecret | undefined {
  if (value === Secrets_OnSecret.ON_SECRET_UNSPECIFIED) return undefined;
  if (value === Secrets_OnSecret.STORE) return "store";
  if (value === Secrets_OnSecret.REDACT) return "redact";
  if (value === Secrets_OnSecret.REFUSE) return "refuse";
  throw invalid("on_secret", "is none of STORE, REDACT and REFUSE");
}

function onConflictOf(value: StoreRequest_OnConflict): OnConflict | undefined {
  if (value === StoreRequest_OnConflict.ON_CONFLICT_UNSPECIFIED) return undefined;
  if (value === StoreRequest_OnConflict.REFUSE) return "refuse";
  if (value === StoreRequest_OnConflict.REPLACE) return "replace";
  if (value === StoreRequest_OnConflict.KEEP) return "keep";
  throw invalid("on_conflict", "is none of REFUSE, REPLACE and KEEP");
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

/** Translates the answer of a store. */
export function storedOf({
  answered,
  ...told
}: Omit<StoreOutcome, "replayed">): MessageInitShape<typeof StoreResponseSchema> {
  const { similar } = answered;
  return {
    ...storedItem(answered, told),
    ...(similar !== undefined && { similar: { memories: similar.map((each) => ({ ...each })) } }),
  };
}

function storedItem(
  { id, tokens, createdAtMs, outcome, etag }: Answered,
  { unreadShare, redacted }: Pick<StoreOutcome, "unreadShare" | "redacted">,
) {
  return {
    id,
    tokens,
    createdAt: timestampFromMs(createdAtMs),
    ...(outcome !== undefined && { outcome: StoreResponse_Outcome[outcome] }),
    ...(etag !== undefined && { etag }),
    ...(unreadShare !== undefined && { unreadShare }),
    ...redactedOf(redacted),
  };
}

/** Translates what was redacted: a field of an answer that is absent if nothing was. */
export function redactedOf(redacted: Redacted | undefined) {
  if (redacted === undefined) return {};
  const { secrets, count } = redacted;
  return { redacted: { secrets: secrets.map((each) => ({ ...each })), count } };
}

/** Translates the result of one memory of a batch. */
/** Translates the error of one part of a call. */
export function problemOf({ code, message, reason }: MemoryError) {
  return { code, message, reason: reason ?? "" };
}

export function batchResult(result: BatchResult) {
  if ("error" in result) {
    return { result: { case: "error", value: problemOf(result.error) } } as const;
  }
  return { result: { case: "stored", value: storedItem(result.stored, result) } } as const;
}

/** Lists the texts of a store's answer. */
export function similarTextsOf({ answered }: { answered: Answered }): string[] {
  const { similar = [] } = answered;
  return similar.map(({ text }) => text);
}
