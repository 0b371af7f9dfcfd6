import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MemoryService } from "../../../../gen/recalld/v1/memory_pb.js";
import { deleteMemory } from "../../../memory/calls/delete-memory.js";
import { deleteNamespace } from "../../../memory/calls/delete-namespace.js";
import { getMemory } from "../../../memory/calls/get.js";
import { getNamespace } from "../../../memory/calls/get-namespace.js";
import { listNamespaces } from "../../../memory/calls/list-namespaces.js";
import type { Ports } from "../../../memory/calls/ports.js";
import { recall } from "../../../memory/calls/recall.js";
import { countMemories } from "../../../memory/calls/several/count.js";
import { deleteMemories } from "../../../memory/calls/several/delete-memories.js";
import { getMemories } from "../../../memory/calls/several/get-memories.js";
import { listMatching } from "../../../memory/calls/several/list-matching.js";
import { storeBatch } from "../../../memory/calls/several/store-batch.js";
import { store } from "../../../memory/calls/store.js";
import { updateMemory } from "../../../memory/calls/update.js";
import type { ErasurePorts } from "../../../memory/erasure/erase.js";
import { patchedKey } from "../bodies.js";
import { callerOf } from "../caller.js";
import { deadlineOf } from "../deadline.js";
import { stepsKey } from "../observe.js";
import { HeldAnswers } from "./held-answers.js";
import { memoryOf, textsOf } from "./memory-fields.js";
import { memoryStreams, type StreamPorts } from "./memory-streams.js";
import { detailsOf, foundOf, measured, modeOf, onlyOf, orderOf, stringsOf } from "./read-fields.js";
import { batchMemories, batchResult, expiryOf, similarTextsOf, storedOf, wishesOf } from "./store-fields.js";

/** Ports that the memory calls need. */
export type MemoryPorts = Ports & ErasurePorts & StreamPorts;

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
      const { replayed, ...answer } = await stored;
      tellReplayed(context, replayed);
      return { namespace, ...storedOf(answer) };
    },
    async storeBatch({ namespace, memories }, context) {
      const asked = { namespace, memories: batchMemories(memories) };
      const request = { ...common(context), ...once(context), ...asked };
      const { results, replayed } = await storeBatch(ports, request);
      tellReplayed(context, replayed);
      return { results: results.map(batchResult), namespace };
    },
    async updateMemory({ namespace, id, text, metadata, expiry, updateMask, etag }, context) {
      const changes = { text, metadata, expiry: expiryOf(expiry), mask: updateMask?.paths, etag };
      // A patch that says null of all metadata removes it.
      const merges = context.values.get(patchedKey) !== undefined && metadata !== undefined;
      const request = { ...common(context), ...once(context), namespace, id, ...changes, merges };
      const updating = () => updateMemory(ports, request);
      const { memory, replayed } = await held.hold(context, updating, (updated) => textsOf(updated.memory));
      tellReplayed(context, replayed);
      return { memory: memoryOf(memory), namespace };
    },
    async recall({ namespace, mode, fields: mask, ...asked }, context) {
      const { query, topK, explain, minScore, minFit, includeSuperseded } = asked;
      const wanted = { query, topK, explain, minScore, minFit, includeSuperseded, fields: mask?.paths };
      const only = onlyOf(asked);
      const request = { ...common(context), ...wanted, ...only, namespace, mode: modeOf(mode) };
      const { results, queryTokens, fields, considered, omitted } = await held.hold(
        context,
        () => recall(ports, request),
        (recalled) => recalled.results.flatMap(stringsOf),
      );
      // Callers that ask for nothing new are answered as before.
      const isFull =
        includeSuperseded ||
        [minScore, minFit, mask, ...Object.values(only)].some((each) => each !== undefined);
      return {
        ...{ results: results.map((each) => foundOf(each, { fields, isFull })), namespace, queryTokens },
        ...(considered !== undefined && { considered }),
        ...(omitted && { omitted: { memories: [...omitted] } }),
      };
    },
    async getMemory({ namespace, id }, context) {
      const getting = () => getMemory(ports, { caller: callerOf(context), namespace, id });
      const entry = await held.free(context, getting, textsOf);
      return { memory: memoryOf(entry), namespace };
    },
    async getMemories({ namespace, ids }, context) {
      const getting = () => getMemories(ports, { caller: callerOf(context), namespace, ids });
      const got = await held.free(context, getting, ({ memories }) => memories.flatMap(textsOf));
      const { missing, remaining } = got;
      const memories = got.memories.map(memoryOf);
      return { memories, missing: [...missing], remaining: [...remaining], namespace };
    },
    async deleteMemory({ namespace, id }, context) {
      await deleteMemory(ports, { caller: callerOf(context), namespace, id });
      return { id };
    },
    async deleteMemories({ namespace, ids, filter, dryRun, includeSuperseded }, context) {
      const { signal } = context;
      const request = {
        caller: callerOf(context),
        namespace,
        ids,
        filter,
        dryRun,
        includeSuperseded,
        signal,
      };
      const deleting = () => deleteMemories(ports, request);
      const deleted = dryRun
        ? await held.free(context, deleting, ({ dry }) => dry?.samples.flatMap(textsOf) ?? [])
        : await deleting();
      const { dry, ...counts } = deleted;
      return { ...counts, namespace, ...(dry && { ...dry, samples: dry.samples.map(memoryOf) }) };
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
      return detailsOf(namespace, await getNamespace(ports, { caller: callerOf(context), namespace }));
    },
    async listMemories({ namespace, pageSize, pageToken, order, filter, includeSuperseded }, context) {
      const page = { pageSize, pageToken, order: orderOf(order), filter, includeSuperseded };
      const request = { caller: callerOf(context), namespace, ...page, signal: context.signal };
      const listing = () => listMatching(ports, request);
      const { items, nextPageToken } = await held.free(context, listing, (page) =>
        page.items.flatMap(textsOf),
      );
      return { memories: items.map(memoryOf), namespace, nextPageToken };
    },
    async countMemories({ namespace, filter, includeSuperseded }, context) {
      const { signal } = context;
      const request = { caller: callerOf(context), namespace, filter, includeSuperseded, signal };
      return { memories: await countMemories(ports, request), namespace };
    },
  };
}

/** Reads the header by which a call may be repeated. */
function once({ requestHeader }: HandlerContext) {
  return { idempotencyKey: requestHeader.get("idempotency-key") ?? undefined };
}

/** Tells that an earlier attempt with the same key has done it. */
function tellReplayed({ responseHeader }: HandlerContext, replayed: boolean): void {
  if (replayed) responseHeader.set("idempotent-replayed", "true");
}

function common(context: HandlerContext) {
  const steps = context.values.get(stepsKey);
  return { caller: callerOf(context), signal: context.signal, deadlineMs: deadlineOf(context), steps };
}
