import type { DescField } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  ListMemoriesRequest_Order,
  type MemoryService,
  RecallRequest_Mode,
  RecallResultSchema,
} from "../../../gen/recalld/v1/memory_pb.js";
import { invalid } from "../../errors.js";
import { deleteMemory } from "../../memory/calls/delete-memory.js";
import { deleteNamespace } from "../../memory/calls/delete-namespace.js";
import { getMemory } from "../../memory/calls/get.js";
import { getNamespace } from "../../memory/calls/get-namespace.js";
import { listMemories, type Order } from "../../memory/calls/list.js";
import { listNamespaces } from "../../memory/calls/list-namespaces.js";
import { type Maps, mapNamespace } from "../../memory/calls/map.js";
import type { Ports, RecallMode as RoomMode } from "../../memory/calls/ports.js";
import { type Found, type Recalled, recall } from "../../memory/calls/recall.js";
import { countMemories } from "../../memory/calls/several/count.js";
import { deleteMemories } from "../../memory/calls/several/delete-memories.js";
import { getMemories } from "../../memory/calls/several/get-memories.js";
import { storeBatch } from "../../memory/calls/several/store-batch.js";
import type { BatchResult } from "../../memory/calls/several/write-batch.js";
import { store } from "../../memory/calls/store.js";
import type { ErasurePorts } from "../../memory/erasure/erase.js";
import type { ResultField } from "../../memory/input/fields.js";
import type { JsonObject } from "../../memory/input/metadata.js";
import type { Measured, Seen } from "../../memory/ports/log.js";
import { callerOf } from "./caller.js";
import { deadlineOf } from "./deadline.js";
import { HeldAnswers } from "./held-answers.js";
import { stepsKey } from "./observe.js";

/** Ports that the memory calls need. */
export type MemoryPorts = Ports & ErasurePorts & { readonly maps: Maps };

/** Fields of a result, by their names in this language. */
const RESULT: Readonly<Record<string, DescField>> = RecallResultSchema.field;

/** Translates recalld.v1.MemoryService between the wire and the room. */
export function memoryService(ports: MemoryPorts): Partial<ServiceImpl<typeof MemoryService>> {
  const held = new HeldAnswers();
  return {
    async store({ text, namespace, metadata }, context) {
      const idempotencyKey = context.requestHeader.get("idempotency-key") ?? undefined;
      const request = { ...common(context), text, namespace, metadata, idempotencyKey };
      const { answered, replayed } = await store(ports, request);
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      const { id, tokens, createdAtMs } = answered;
      return { id, namespace, tokens, createdAt: timestampFromMs(createdAtMs) };
    },
    async storeBatch({ namespace, memories }, context) {
      const idempotencyKey = context.requestHeader.get("idempotency-key") ?? undefined;
      const request = { ...common(context), namespace, memories, idempotencyKey };
      const { results, replayed } = await storeBatch(ports, request);
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      return { results: results.map(batchResult), namespace };
    },
    async recall({ query, namespace, topK, mode, explain, minScore, fields: mask }, context) {
      const asked = { query, namespace, topK, mode: modeOf(mode), explain, minScore, fields: mask?.paths };
      const request = { ...common(context), ...asked };
      const { results, queryTokens, fields, considered } = await held.hold(
        context,
        () => recall(ports, request),
        (recalled) => recalled.results.flatMap(stringsOf),
      );
      return {
        ...{ results: results.map((each) => found(each, fields)), namespace, queryTokens },
        ...(considered !== undefined && { considered: BigInt(considered) }),
      };
    },
    async getMemory({ namespace, id }, context) {
      const getting = () => getMemory(ports, { caller: callerOf(context), namespace, id });
      const entry = await held.free(context, getting, textsOf);
      return { memory: memory(entry), namespace };
    },
    async getMemories({ namespace, ids }, context) {
      const getting = () => getMemories(ports, { caller: callerOf(context), namespace, ids });
      const got = await held.free(context, getting, ({ memories }) => memories.flatMap(textsOf));
      const { missing, remaining } = got;
      return {
        memories: got.memories.map(memory),
        missing: [...missing],
        remaining: [...remaining],
        namespace,
      };
    },
    async deleteMemory({ namespace, id }, context) {
      await deleteMemory(ports, { caller: callerOf(context), namespace, id });
      return { id };
    },
    async deleteMemories({ namespace, ids }, context) {
      const { signal } = context;
      const request = { caller: callerOf(context), namespace, ids, signal };
      return { ...(await deleteMemories(ports, request)), namespace };
    },
    async deleteNamespace({ namespace, force }, context) {
      return { deleted: await deleteNamespace(ports, { caller: callerOf(context), namespace, force }) };
    },
    async listNamespaces({ pageSize, pageToken, prefix }, context) {
      const request = { caller: callerOf(context), pageSize, pageToken, prefix };
      const { items, nextPageToken } = await listNamespaces(ports, request);
      return { namespaces: items.map(measured), nextPageToken };
    },
    async getNamespace({ namespace }, context) {
      const details = await getNamespace(ports, { caller: callerOf(context), namespace });
      const { firstAtMs, lastAtMs } = details;
      return {
        namespace: measured({ ...details, namespace }),
        ...(firstAtMs !== undefined && { first: timestampFromMs(firstAtMs) }),
        ...(lastAtMs !== undefined && { last: timestampFromMs(lastAtMs) }),
      };
    },
    async listMemories({ namespace, pageSize, pageToken, order }, context) {
      const request = {
        caller: callerOf(context),
        ...{ namespace, pageSize, pageToken, order: orderOf(order) },
      };
      const listing = () => listMemories(ports, request);
      const { items, nextPageToken } = await held.free(context, listing, (page) =>
        page.items.flatMap(textsOf),
      );
      return { memories: items.map(memory), namespace, nextPageToken };
    },
    async countMemories({ namespace }, context) {
      const memories = await countMemories(ports, { caller: callerOf(context), namespace });
      return { memories: BigInt(memories), namespace };
    },
    async mapNamespace({ namespace }, context) {
      const mapping = () => mapNamespace(ports, { caller: callerOf(context), namespace });
      const map = await held.hold(context, mapping, ({ points }) => points.map(({ id }) => id));
      return { points: [...map.points], memories: map.memories, namespace };
    },
  };
}

function batchResult(result: BatchResult) {
  if ("error" in result) {
    const { code, message, reason = "" } = result.error;
    return { result: { case: "error", value: { code, message, reason } } } as const;
  }
  const { id, tokens, createdAtMs } = result.stored;
  const value = { id, tokens, createdAt: timestampFromMs(createdAtMs) };
  return { result: { case: "stored", value } } as const;
}

function modeOf(mode: RecallRequest_Mode): RoomMode | undefined {
  if (mode === RecallRequest_Mode.MODE_UNSPECIFIED) return undefined;
  if (mode === RecallRequest_Mode.COSINE) return "cosine";
  if (mode === RecallRequest_Mode.HYBRID) return "hybrid";
  throw invalid("mode", "is neither COSINE nor HYBRID");
}

function orderOf(order: ListMemoriesRequest_Order): Order {
  if (order === ListMemoriesRequest_Order.OLDEST_FIRST) return "oldest";
  if (order === ListMemoriesRequest_Order.NEWEST_FIRST) return "newest";
  if (order === ListMemoriesRequest_Order.ORDER_UNSPECIFIED) return "newest";
  throw invalid("order", "is neither NEWEST_FIRST nor OLDEST_FIRST");
}

function found({ entry, score, match, words, explanation }: Found, fields: Recalled["fields"]) {
  const all = {
    ...{ ...shared(entry), score, match },
    ...(words !== undefined && { words }),
    ...(explanation && { explanation: { ...explanation, matched: [...explanation.matched] } }),
  };
  if (fields === undefined) return all;
  const sent = Object.entries(all).filter(([name]) => fields.has(RESULT[name]?.name as ResultField));
  return Object.fromEntries(sent) as Partial<typeof all>;
}

function stringsOf({ entry, explanation }: Found): string[] {
  return [...textsOf(entry), ...(explanation?.matched ?? [])];
}

function textsOf({ text, metadata }: Seen["text"]): string[] {
  return [text, metadata];
}

function memory(entry: Seen["text"]) {
  return { ...shared(entry), tokens: entry.tokens };
}

function measured({ namespace, memories, bytes }: Measured & { readonly namespace: string }) {
  return { namespace, memories, bytes: BigInt(bytes) };
}

function common(context: HandlerContext) {
  const steps = context.values.get(stepsKey);
  return { caller: callerOf(context), signal: context.signal, deadlineMs: deadlineOf(context), steps };
}

function shared({ id, text, metadata, createdAtMs }: Seen["text"]) {
  const createdAt = timestampFromMs(createdAtMs);
  return { id, text, metadata: JSON.parse(metadata) as JsonObject, createdAt };
}
