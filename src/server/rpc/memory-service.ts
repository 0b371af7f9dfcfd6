import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type MemoryService, RecallRequest_Mode } from "../../../gen/recalld/v1/memory_pb.js";
import { invalid } from "../../errors.js";
import { deleteMemory } from "../../memory/calls/delete-memory.js";
import { deleteNamespace } from "../../memory/calls/delete-namespace.js";
import { getMemory } from "../../memory/calls/get.js";
import { listMemories } from "../../memory/calls/list.js";
import { listNamespaces } from "../../memory/calls/list-namespaces.js";
import { type Maps, mapNamespace } from "../../memory/calls/map.js";
import type { Ports, RecallMode as RoomMode } from "../../memory/calls/ports.js";
import { type Found, recall } from "../../memory/calls/recall.js";
import { store } from "../../memory/calls/store.js";
import type { ErasurePorts } from "../../memory/erasure/erase.js";
import type { JsonObject } from "../../memory/input/metadata.js";
import type { Seen } from "../../memory/ports/log.js";
import { callerOf } from "./caller.js";
import { deadlineOf } from "./deadline.js";
import { HeldAnswers } from "./held-answers.js";
import { memoryStreams, type StreamPorts } from "./memory-streams.js";
import { stepsKey } from "./observe.js";

/** Ports that the memory calls need. */
export type MemoryPorts = Ports & ErasurePorts & StreamPorts & { readonly maps: Maps };

/**
 * Translates recalld.v1.MemoryService between the wire and the room. `ending` is aborted when streams must
 * end.
 */
export function memoryService(
  ports: MemoryPorts,
  ending: AbortSignal,
): Partial<ServiceImpl<typeof MemoryService>> {
  const held = new HeldAnswers();
  return {
    ...memoryStreams(ports, ending),
    async store({ text, namespace, metadata }, context) {
      const idempotencyKey = context.requestHeader.get("idempotency-key") ?? undefined;
      const request = { ...common(context), text, namespace, metadata, idempotencyKey };
      const { answered, replayed } = await store(ports, request);
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      const { id, tokens, createdAtMs } = answered;
      return { id, namespace, tokens, createdAt: timestampFromMs(createdAtMs) };
    },
    async recall({ query, namespace, topK, mode, explain }, context) {
      const request = { ...common(context), query, namespace, topK, mode: modeOf(mode), explain };
      const { results, queryTokens } = await held.hold(
        context,
        () => recall(ports, request),
        (recalled) => recalled.results.flatMap(stringsOf),
      );
      return { results: results.map(found), namespace, queryTokens };
    },
    async getMemory({ namespace, id }, context) {
      const getting = () => getMemory(ports, { caller: callerOf(context), namespace, id });
      const entry = await held.free(context, getting, textsOf);
      return { memory: { ...shared(entry), tokens: entry.tokens }, namespace };
    },
    async deleteMemory({ namespace, id }, context) {
      await deleteMemory(ports, { caller: callerOf(context), namespace, id });
      return { id };
    },
    async deleteNamespace({ namespace, force }, context) {
      return { deleted: await deleteNamespace(ports, { caller: callerOf(context), namespace, force }) };
    },
    async listNamespaces({ pageSize, pageToken }, context) {
      const request = { caller: callerOf(context), pageSize, pageToken };
      const { items, nextPageToken } = await listNamespaces(ports, request);
      const namespaces = items.map(({ bytes, ...each }) => ({ ...each, bytes: BigInt(bytes) }));
      return { namespaces, nextPageToken };
    },
    async listMemories({ namespace, pageSize, pageToken }, context) {
      const request = { caller: callerOf(context), namespace, pageSize, pageToken };
      const listing = () => listMemories(ports, request);
      const { items, nextPageToken } = await held.free(context, listing, (page) =>
        page.items.flatMap(textsOf),
      );
      const memories = items.map((entry) => ({ ...shared(entry), tokens: entry.tokens }));
      return { memories, namespace, nextPageToken };
    },
    async mapNamespace({ namespace }, context) {
      const mapping = () => mapNamespace(ports, { caller: callerOf(context), namespace });
      const map = await held.hold(context, mapping, ({ points }) => points.map(({ id }) => id));
      return { points: [...map.points], memories: map.memories, namespace };
    },
  };
}

function modeOf(mode: RecallRequest_Mode): RoomMode | undefined {
  if (mode === RecallRequest_Mode.MODE_UNSPECIFIED) return undefined;
  if (mode === RecallRequest_Mode.COSINE) return "cosine";
  if (mode === RecallRequest_Mode.HYBRID) return "hybrid";
  throw invalid("mode", "is neither COSINE nor HYBRID");
}

function found({ entry, score, match, words, explanation }: Found) {
  return {
    ...{ ...shared(entry), score, match },
    ...(words !== undefined && { words }),
    ...(explanation && { explanation: { ...explanation, matched: [...explanation.matched] } }),
  };
}

function stringsOf({ entry, explanation }: Found): string[] {
  return [...textsOf(entry), ...(explanation?.matched ?? [])];
}

function textsOf({ text, metadata }: Seen["text"]): string[] {
  return [text, metadata];
}

function common(context: HandlerContext) {
  const steps = context.values.get(stepsKey);
  return { caller: callerOf(context), signal: context.signal, deadlineMs: deadlineOf(context), steps };
}

function shared({ id, text, metadata, createdAtMs }: Seen["text"]) {
  const createdAt = timestampFromMs(createdAtMs);
  return { id, text, metadata: JSON.parse(metadata) as JsonObject, createdAt };
}
