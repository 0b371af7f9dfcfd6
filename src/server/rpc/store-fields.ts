import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type StoreItem,
  type StoreRequest,
  StoreRequest_OnConflict,
  StoreResponse_Outcome,
  type StoreResponseSchema,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid, type MemoryError } from "../../errors.js";
import type { BatchResult } from "../../memory/calls/several/batch.js";
import { ofItem } from "../../memory/calls/several/of-item.js";
import type { BatchMemory } from "../../memory/calls/several/store-batch.js";
import type { Answered, StoreOutcome } from "../../memory/calls/store.js";
import type { WishRequest } from "../../memory/calls/store-wishes.js";
import type { Expiry } from "../../memory/input/expiry.js";
import type { OnConflict } from "../../memory/versions/deciding-stores.js";

const MS_PER_SECOND = 1_000;
const NANOS_PER_MS = 1_000_000;
const NANOS_MAX = 999_999_999;

/** Translates what a store asks for beyond a memory. */
export function wishesOf({
  externalId,
  onConflict,
  expiry,
  supersedes,
  similarAbove,
}: Pick<StoreRequest, "externalId" | "onConflict" | "expiry" | "supersedes"> &
  Partial<Pick<StoreRequest, "similarAbove">>): WishRequest {
  return {
    externalId,
    onConflict: onConflictOf(onConflict),
    expiry: expiryOf(expiry),
    supersedes,
    similarAbove,
  };
}

/** Translates the memories of a batch. */
export function batchMemories(memories: readonly StoreItem[]): BatchMemory[] {
  return memories.map(({ text, metadata, ...asked }, i) =>
    ofItem(`memories[${i}]`, () => ({ text, metadata, ...wishesOf(asked) })),
  );
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

/** Converts seconds and nanoseconds to milliseconds. */
function msOf(field: string, { seconds, nanos }: Pick<Timestamp, "seconds" | "nanos">): number {
  // Protobuf's binary form has more than the rules of these messages allow.
  if (Math.abs(nanos) > NANOS_MAX) throw invalid(field, "has nanos beyond a second");
  return Number(seconds) * MS_PER_SECOND + nanos / NANOS_PER_MS;
}

/** Translates the answer of a store. */
export function storedOf({
  answered,
  unreadShare,
}: Omit<StoreOutcome, "replayed">): MessageInitShape<typeof StoreResponseSchema> {
  const { similar } = answered;
  return {
    ...storedItem(answered, unreadShare),
    ...(similar !== undefined && { similar: { memories: similar.map((each) => ({ ...each })) } }),
  };
}

function storedItem({ id, tokens, createdAtMs, outcome, etag }: Answered, unreadShare: number | undefined) {
  return {
    ...{ id, tokens, createdAt: timestampFromMs(createdAtMs) },
    ...(outcome !== undefined && { outcome: StoreResponse_Outcome[outcome] }),
    ...(etag !== undefined && { etag }),
    ...(unreadShare !== undefined && { unreadShare }),
  };
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
  return { result: { case: "stored", value: storedItem(result.stored, result.unreadShare) } } as const;
}

/** Lists the texts of a store's answer. */
export function similarTextsOf({ answered }: { answered: Answered }): string[] {
  const { similar = [] } = answered;
  return similar.map(({ text }) => text);
}
