import type { DescEnum, DescField } from "@bufbuild/protobuf";
import { type Duration, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ListMemoriesRequest_OrderSchema,
  type RecallRequest,
  RecallRequest_ModeSchema,
  RecallResultSchema,
  Secrets_OnSecretSchema,
  Similarity_OnSimilarSchema,
  type StoreItem,
  type StoreRequest,
  StoreRequest_OnConflictSchema,
  StoreResponse_Outcome,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid, type MemoryError, ofItem } from "../../errors.js";
import type { NamespaceDetails } from "../../memory/operations/get-namespace.js";
import type { Found } from "../../memory/operations/recall.js";
import type { BatchMemory } from "../../memory/operations/store-batch.js";
import type { MemoryRequest, StoredMemory } from "../../memory/operations/store-item.js";
import type { Result } from "../../memory/operations/write.js";
import type { Measured, Projected } from "../../memory/ports/log.js";
import type { Redacted } from "../../memory/requests/handle-secrets.js";
import type { RecencyRequest, ResultField } from "../../memory/requests/recall-options.js";
import { type Expiry, instantOf, parseTimeOfYears } from "../../memory/requests/times.js";
import { etagOf } from "../../memory/versions/current-version.js";
import type { VisibleMemory } from "../../memory/versions/fetch.js";
import { storedJson } from "./stored-json.js";

const NANOS_MAX = 999_999_999;
/** Longest Duration: 10,000 years, by 365.25 days. */
const DURATION_SECONDS_MAX = 315_576_000_000;

/** Parts of a Timestamp or a Duration. */
type Parts = Pick<Timestamp, "seconds" | "nanos">;

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
  throw invalid(field, `is none of ${names.join(", ")}`);
}

export const ON_SECRET = { choices: Secrets_OnSecretSchema, words: ["store", "redact", "refuse"] } as const;
const ON_CONFLICT = { choices: StoreRequest_OnConflictSchema, words: ["refuse", "replace", "keep"] } as const;
const ON_SIMILAR = { choices: Similarity_OnSimilarSchema, words: ["store", "keep", "supersede"] } as const;

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
    onSecret: chosen("on_secret", asked.onSecret, ON_SECRET),
    onConflict: chosen("on_conflict", asked.onConflict, ON_CONFLICT),
    expiry: expiryOf(asked.expiry),
    similarAbove,
    onSimilar: chosen("on_similar", onSimilar, ON_SIMILAR),
  };
}

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
  if (expiry.case === "ttl") return { ttlMs: lengthOf("ttl", value) };
  return { atMs: Math.floor(msOf("expire_time", value)) };
}

/** Translates when something happened; parts of a millisecond do not count. */
export function eventAtMsOf({ eventTime }: Pick<StoreRequest, "eventTime">): number | undefined {
  return eventTime && Math.floor(msOf("event_time", eventTime));
}

/** Translates a time into milliseconds since 1970. Protobuf's binary form has more than its rules allow. */
function msOf(field: string, { seconds, nanos }: Parts): number {
  if (nanos < 0) throw invalid(field, "has negative nanos");
  if (nanos > NANOS_MAX) throw invalid(field, "has nanos beyond a second");
  return instantOf({ seconds: Number(seconds), nanos });
}

/** Translates a length of time into milliseconds, as strictly. */
function lengthOf(field: string, { seconds, nanos }: Parts): number {
  if (Math.abs(Number(seconds)) > DURATION_SECONDS_MAX) throw invalid(field, "is longer than 10,000 years");
  if (Math.abs(nanos) > NANOS_MAX) throw invalid(field, "has nanos beyond a second");
  if (Number(seconds) * nanos < 0) throw invalid(field, "has seconds and nanos of different signs");
  return instantOf({ seconds: Number(seconds), nanos });
}

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

export function problemOf({ code, message, reason }: MemoryError) {
  return { code, message, reason: reason ?? "" };
}

export function batchResult(result: Result<StoredMemory>) {
  if ("error" in result) {
    return { result: { case: "error", value: problemOf(result.error) } } as const;
  }
  return { result: { case: "stored", value: storedOf(result.stored) } } as const;
}

/** Fields of a result, by their names in this language. */
const RESULT: Readonly<Record<string, DescField>> = RecallResultSchema.field;

export const MODES = { choices: RecallRequest_ModeSchema, words: ["cosine", "hybrid"] } as const;

/** Translates how much the age of memories counts. */
export function recencyOf({ recency }: Pick<RecallRequest, "recency">): RecencyRequest | undefined {
  if (recency === undefined) return undefined;
  const { halfLife, weight, referenceTime } = recency;
  return {
    halfLifeMs: halfLife && lengthOf("recency.half_life", halfLife),
    weight,
    referenceAtMs: timeOf("recency.reference_time", referenceTime),
  };
}

/** Reads a time as an instant in milliseconds since 1970; see `instantOf`. */
export function timeOf(field: string, time: Timestamp | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = msOf(field, time);
  parseTimeOfYears(field, Math.floor(ms));
  return ms;
}

export const ORDERS = {
  choices: ListMemoriesRequest_OrderSchema,
  words: ["newest", "oldest", "event-newest", "event-oldest"],
} as const;

/** Lists the texts of a memory, which its answer holds. */
export function textsOf({ text, metadata }: Projected["text"]): string[] {
  return [text, metadata];
}

export function memoryOf(entry: VisibleMemory) {
  return {
    ...versionOf(entry),
    id: entry.id,
    text: entry.text,
    metadata: storedJson(entry.metadata),
    createdAt: timestampFromMs(entry.createdAtMs),
    eventTime: timestampOf(entry.eventAtMs),
    tokens: entry.tokens,
    updatedAt: timestampFromMs(entry.updatedAtMs ?? entry.createdAtMs),
  };
}

/** Makes the fields that tell one version of a memory from another, and what hides it. */
function versionOf(entry: VisibleMemory) {
  return {
    etag: etagOf(entry),
    updatedAt: timestampOf(entry.updatedAtMs),
    externalId: entry.externalId,
    supersededBy: entry.supersededBy,
    expireTime: timestampOf(entry.expiresAtMs),
  };
}

/** Translates a recalled memory: all of it, or the fields that were asked for. */
export function foundOf(
  { entry, score, match, words, explanation, supersededBy, namespace, queryIndex, before, after }: Found,
  { fields, isFull }: { readonly fields: ReadonlySet<ResultField> | undefined; readonly isFull: boolean },
) {
  const all = {
    score,
    match,
    // Fields that are undefined are not sent. The spread stands last, because in Node 20 each property after one takes 2 us.
    words,
    explanation: explanation && { ...explanation, matched: [...explanation.matched] },
    before: before && { memories: before.map(memoryOf) },
    after: after && { memories: after.map(memoryOf) },
    namespace,
    queryIndex,
    id: entry.id,
    text: entry.text,
    metadata: storedJson(entry.metadata),
    createdAt: timestampFromMs(entry.createdAtMs),
    eventTime: timestampOf(entry.eventAtMs),
    ...(isFull && versionOf({ ...entry, supersededBy })),
  };
  if (fields === undefined) return all;
  const sent = Object.entries(all).filter(([name]) => fields.has(RESULT[name]?.name as ResultField));
  return Object.fromEntries(sent) as Partial<typeof all>;
}

/** Lists the texts of a recalled memory, which its answer holds. */
export function stringsOf({ entry, explanation, before = [], after = [] }: Found): string[] {
  const beside = [...before, ...after].flatMap(textsOf);
  return [...textsOf(entry), ...beside, ...(explanation?.matched ?? [])];
}

export function measured({ namespace, memories, bytes }: Measured & { readonly namespace: string }) {
  return { namespace, memories, bytes: BigInt(bytes) };
}

export function detailsOf(namespace: string, details: NamespaceDetails) {
  return {
    namespace: measured({ ...details, namespace }),
    first: timestampOf(details.firstAtMs),
    last: timestampOf(details.lastAtMs),
  };
}

/** Writes a time as a whole millisecond: parts of one may be no whole nanoseconds, which JSON and Protobuf refuse. */
export function timestampOf(ms: number | undefined): Timestamp | undefined {
  return ms === undefined ? undefined : timestampFromMs(Math.round(ms));
}
