import type { DescField } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type ListMemoriesRequest_Order,
  ListMemoriesRequest_OrderSchema,
  type RecallRequest,
  type RecallRequest_Mode,
  RecallRequest_ModeSchema,
  RecallResultSchema,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid } from "../../errors.js";
import type { NamespaceDetails } from "../../memory/operations/get-namespace.js";
import type { Order } from "../../memory/operations/list.js";
import type { RecallMode } from "../../memory/operations/ports.js";
import type { Found } from "../../memory/operations/recall/found.js";
import type { Measured, Projected } from "../../memory/ports/log.js";
import type { JsonObject } from "../../memory/requests/metadata.js";
import type { RecencyRequest, ResultField } from "../../memory/requests/recall-options.js";
import { instantOf } from "../../memory/requests/times.js";
import { etagOf } from "../../memory/versions/current-version.js";
import type { Shown } from "../../memory/versions/fetch.js";
import { chosen, msOf } from "./store-fields.js";

/** First and last second of a Timestamp, since 1970. */
const SECONDS_MIN = -62_135_596_800n;
const SECONDS_MAX = 253_402_300_799n;

/** Fields of a result, by their names in this language. */
const RESULT: Readonly<Record<string, DescField>> = RecallResultSchema.field;

const MODES = { choices: RecallRequest_ModeSchema, words: ["cosine", "hybrid"] } as const;

/** Translates the mode of a recall. */
export function modeOf(mode: RecallRequest_Mode): RecallMode | undefined {
  return chosen("mode", mode, MODES);
}

/** Translates how much the age of memories counts. */
export function recencyOf({ recency }: Pick<RecallRequest, "recency">): RecencyRequest | undefined {
  if (recency === undefined) return undefined;
  const { halfLife, weight, referenceTime } = recency;
  return {
    halfLifeMs: halfLife && msOf("recency.half_life", halfLife),
    weight,
    referenceAtMs: timeOf("recency.reference_time", referenceTime),
  };
}

/** Translates which memories a recall may find. */
export function onlyOf({ filter, after, before }: Pick<RecallRequest, "filter" | "after" | "before">) {
  return { filter, after: timeOf("after", after), before: timeOf("before", before) };
}

/** Reads a time as an instant in milliseconds since 1970; see `instantOf`. */
function timeOf(field: string, time: Timestamp | undefined): number | undefined {
  if (time === undefined) return undefined;
  if (isValid(time)) return instantOf({ seconds: Number(time.seconds), nanos: time.nanos });
  throw invalid(field, "is not a time from the year 1 to the year 9999");
}

function isValid({ seconds, nanos }: Timestamp): boolean {
  return seconds >= SECONDS_MIN && seconds <= SECONDS_MAX && nanos >= 0 && nanos <= 999_999_999;
}

const ORDERS = {
  choices: ListMemoriesRequest_OrderSchema,
  words: ["newest", "oldest", "event-newest", "event-oldest"],
} as const;

/** Translates the order of a list. */
export function orderOf(order: ListMemoriesRequest_Order): Order {
  return chosen("order", order, ORDERS) ?? "newest";
}

/** Lists the texts of a memory, which its answer holds. */
export function textsOf({ text, metadata }: Projected["text"]): string[] {
  return [text, metadata];
}

/** Translates a memory as callers see it. */
export function memoryOf(entry: Shown) {
  return {
    ...versionOf(entry),
    id: entry.id,
    text: entry.text,
    metadata: JSON.parse(entry.metadata) as JsonObject,
    createdAt: timestampFromMs(entry.createdAtMs),
    eventTime: timestampOf(entry.eventAtMs),
    tokens: entry.tokens,
    updatedAt: timestampFromMs(entry.updatedAtMs ?? entry.createdAtMs),
  };
}

/** Makes the fields that tell one version of a memory from another, and what hides it. */
function versionOf(entry: Shown) {
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
    metadata: JSON.parse(entry.metadata) as JsonObject,
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

/** Translates what a namespace holds. */
export function measured({ namespace, memories, bytes }: Measured & { readonly namespace: string }) {
  return { namespace, memories, bytes: BigInt(bytes) };
}

/** Translates what a namespace holds, and since when. */
export function detailsOf(namespace: string, details: NamespaceDetails) {
  return {
    namespace: measured({ ...details, namespace }),
    first: timestampOf(details.firstAtMs),
    last: timestampOf(details.lastAtMs),
  };
}

/** Converts a time, if there is one. */
export function timestampOf(ms: number | undefined): Timestamp | undefined {
  return ms === undefined ? undefined : timestampFromMs(ms);
}
