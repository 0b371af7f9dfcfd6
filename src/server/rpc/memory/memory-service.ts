import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type MemoryService, RecallRequest_Mode } from "../../../../gen/recalld/v1/memory_pb.js";
import { invalid } from "../../../errors.js";
import { deleteMemory } from "../../../memory/calls/delete-memory.js";
import { deleteNamespace } from "../../../memory/calls/delete-namespace.js";
import { getMemory } from "../../../memory/calls/get.js";
import { listMemories } from "../../../memory/calls/list.js";
import { listNamespaces } from "../../../memory/calls/list-namespaces.js";
import { type Maps, mapNamespace } from "../../../memory/calls/map.js";
import type { Ports, RecallMode as RoomMode } from "../../../memory/calls/ports.js";
import { type Found, recall } from "../../../memory/calls/recall.js";
import { store } from "../../../memory/calls/store.js";
import { updateMemory } from "../../../memory/calls/update.js";
import type { ErasurePorts } from "../../../memory/erasure/erase.js";
import { patchedKey } from "../bodies.js";
import { callerOf } from "../caller.js";
import { deadlineOf } from "../deadline.js";
import { stepsKey } from "../observe.js";
import { HeldAnswers } from "./held-answers.js";
import { memoryOf, shared, textsOf, versionOf } from "./memory-fields.js";
import { memoryStreams, type StreamPorts } from "./memory-streams.js";
import { expiryOf, similarTextsOf, storedOf, wishesOf } from "./store-fields.js";

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
    async store({ text, namespace, metadata, ...asked }, context) {
      const request = { ...common(context), ...once(context), text, namespace, metadata, ...wishesOf(asked) };
      const storing = () => store(ports, request);
      // Only an answer that lists similar memories holds texts.
      const stored =
        asked.similarAbove === undefined ? storing() : held.hold(context, storing, similarTextsOf);
      const { answered, replayed } = await stored;
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      return { namespace, ...storedOf(answered) };
    },
    async updateMemory({ namespace, id, text, metadata, expiry, updateMask, etag }, context) {
      const changes = { text, metadata, expiry: expiryOf(expiry), mask: updateMask?.paths, etag };
      // A patch that says null of all metadata removes it.
      const merges = context.values.get(patchedKey) !== undefined && metadata !== undefined;
      const request = { ...common(context), ...once(context), namespace, id, ...changes, merges };
      const updating = () => updateMemory(ports, request);
      const { memory, replayed } = await held.hold(context, updating, (updated) => textsOf(updated.memory));
      if (replayed) context.responseHeader.set("idempotent-replayed", "true");
      return { memory: memoryOf(memory), namespace };
    },
    async recall({ query, namespace, topK, mode, explain, includeSuperseded }, context) {
      const asked = { query, namespace, topK, mode: modeOf(mode), explain, includeSuperseded };
      const request = { ...common(context), ...asked };
      const { results, queryTokens } = await held.hold(
        context,
        () => recall(ports, request),
        (recalled) => recalled.results.flatMap(stringsOf),
      );
      const isFull = includeSuperseded;
      return { results: results.map((each) => found(each, isFull)), namespace, queryTokens };
    },
    async getMemory({ namespace, id }, context) {
      const getting = () => getMemory(ports, { caller: callerOf(context), namespace, id });
      const entry = await held.free(context, getting, textsOf);
      return { memory: memoryOf(entry), namespace };
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
    async listMemories({ namespace, pageSize, pageToken, includeSuperseded }, context) {
      const request = { caller: callerOf(context), namespace, pageSize, pageToken, includeSuperseded };
      const listing = () => listMemories(ports, request);
      const { items, nextPageToken } = await held.free(context, listing, (page) =>
        page.items.flatMap(textsOf),
      );
      return { memories: items.map(memoryOf), namespace, nextPageToken };
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

/** Reads the header by which a call may be repeated. */
function once({ requestHeader }: HandlerContext) {
  return { idempotencyKey: requestHeader.get("idempotency-key") ?? undefined };
}

function found({ entry, score, match, words, explanation, supersededBy }: Found, isFull: boolean) {
  return {
    ...{ ...shared(entry), score, match },
    ...(isFull && versionOf({ ...entry, supersededBy })),
    ...(words !== undefined && { words }),
    ...(explanation && { explanation: { ...explanation, matched: [...explanation.matched] } }),
  };
}

function stringsOf({ entry, explanation }: Found): string[] {
  return [...textsOf(entry), ...(explanation?.matched ?? [])];
}

function common(context: HandlerContext) {
  const steps = context.values.get(stepsKey);
  return { caller: callerOf(context), signal: context.signal, deadlineMs: deadlineOf(context), steps };
}
