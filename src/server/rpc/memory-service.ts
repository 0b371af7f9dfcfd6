import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MemoryService, WatchNamespaceResponseSchema } from "../../../gen/recalld/v1/memory_pb.js";
import { yieldToEventLoop } from "../../concurrency/yield-to-event-loop.js";
import { countMemories } from "../../memory/operations/count.js";
import { deleteMemories } from "../../memory/operations/delete-memories.js";
import { deleteMemory } from "../../memory/operations/delete-memory.js";
import { deleteNamespace } from "../../memory/operations/delete-namespace.js";
import { deleteNamespaces } from "../../memory/operations/delete-namespaces.js";
import { getMemory } from "../../memory/operations/get.js";
import { getMemories } from "../../memory/operations/get-memories.js";
import { getNamespace } from "../../memory/operations/get-namespace.js";
import { listMemories } from "../../memory/operations/list.js";
import { listNamespaces } from "../../memory/operations/list-namespaces.js";
import { recall } from "../../memory/operations/recall.js";
import { store } from "../../memory/operations/store.js";
import { storeBatch } from "../../memory/operations/store-batch.js";
import { exportMemories } from "../../memory/operations/stream/export.js";
import type { StreamPorts } from "../../memory/operations/stream/open-streams.js";
import { type WatchEvent, watch } from "../../memory/operations/stream/watch.js";
import { updateMemory } from "../../memory/operations/update.js";
import { updateMemories } from "../../memory/operations/update-memories.js";
import { TOP_K_MAX } from "../../memory/requests/recall-options.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import {
  batchMemories,
  batchResult,
  chosen,
  detailsOf,
  eventAtMsOf,
  expiryOf,
  foundOf,
  MODES,
  measured,
  memoryOf,
  memoryToStore,
  ON_SECRET,
  ORDERS,
  problemOf,
  recencyOf,
  redactedOf,
  storedOf,
  stringsOf,
  textsOf,
  timeOf,
} from "./fields.js";
import type { Service } from "./service.js";

/** Bytes of memory for each character of a text: it is held as text, in a message, and as JSON. */
const COPIES = 4;
/** Bytes above which an answer is written out in an iteration of the event loop of its own. */
const LONG_BYTES = 262_144;
/** Bytes that an answer with texts is taken to have before it is made, and those of a whole page of them. */
const ANSWER_BYTES = 32_768;
const PAGE_BYTES = 4_194_304;

/**
 * Serves recalld.v1.MemoryService: translates its messages to the domain's operations and back. `ending` is aborted
 * when streams must end.
 */
export function memoryService(
  ports: StreamPorts,
  { ending, calls }: { ending: AbortSignal; calls: Pick<Calls, "spendOnWrite"> },
): Service<typeof MemoryService> {
  /** What every write takes from its call. */
  const writing = (call: Call) => {
    const key = call.headers["idempotency-key"];
    return {
      idempotencyKey: key === undefined ? undefined : String(key),
      onFreeWrite: (bytes: number) => calls.spendOnWrite(call, bytes),
      ...common(call),
    };
  };
  return {
    async *watchNamespace({ namespace, position }, { caller, signal, positionName }) {
      const asked = { caller, signal, ending, namespace, position, positionName };
      for await (const event of watch(ports, asked)) yield eventOf(event);
    },
    async *exportMemories(asked, { caller, signal }) {
      for await (const line of exportMemories(ports, { ...asked, caller, signal, ending })) yield { line };
    },
    async store(asked, call) {
      const { namespace } = asked;
      const request = { namespace, ...writing(call), ...memoryToStore(asked) };
      const { stored, replayed } = await store(ports, request);
      const similar = stored.similar && [...stored.similar];
      await hold(call, similar?.map(({ text }) => text) ?? []);
      markReplayed(call, replayed);
      return { namespace, similar: similar && { memories: similar }, ...storedOf(stored) };
    },
    async storeBatch({ namespace, memories }, call) {
      const request = { namespace, memories: batchMemories(memories), ...writing(call) };
      const { results, replayed } = await storeBatch(ports, request);
      markReplayed(call, replayed);
      return { results: results.map(batchResult), namespace };
    },
    async updateMemory({ updateMask, ...asked }, call) {
      const request = {
        ...writing(call),
        ...asked,
        expiry: expiryOf(asked.expiry),
        onSecret: chosen("on_secret", asked.onSecret, ON_SECRET),
        eventAtMs: eventAtMsOf(asked),
        mask: updateMask?.paths,
        // A patch that says null of all metadata removes it.
        merges: call.request.method === "PATCH" && asked.metadata !== undefined,
      };
      call.hold(ANSWER_BYTES);
      const { memory, replayed, redacted } = await updateMemory(ports, request);
      await hold(call, textsOf(memory), ANSWER_BYTES);
      markReplayed(call, replayed);
      return { memory: memoryOf(memory), namespace: asked.namespace, redacted: redactedOf(redacted) };
    },
    async recall(asked, call) {
      const { namespace, topK, neighbors, alsoIn, filter, minScore, minFit, includeSuperseded } = asked;
      const after = timeOf("after", asked.after);
      const before = timeOf("before", asked.before);
      const laterFields = [filter, after, before, minScore, minFit, asked.fields];
      // Written out: in V8 of Node 20, each property behind a spread object takes 2 us.
      const request = {
        caller: call.caller,
        controller: call.controller,
        deadlineMs: call.deadlineMs,
        timer: call.timer,
        namespace,
        query: asked.query,
        queries: asked.queries,
        likeId: asked.likeId,
        alsoIn,
        topK,
        mode: chosen("mode", asked.mode, MODES),
        explain: asked.explain,
        maxTokens: asked.maxTokens,
        neighbors,
        minScore,
        minFit,
        recency: recencyOf(asked),
        includeSuperseded,
        filter,
        after,
        before,
        fields: asked.fields?.paths,
      };
      const isWide = (topK ?? 0) > TOP_K_MAX || neighbors !== undefined || alsoIn.length > 0;
      const expected = isWide ? PAGE_BYTES : ANSWER_BYTES;
      call.hold(expected);
      const { results, queryTokens, fields, considered, omitted, shortened } = await recall(ports, request);
      await hold(call, results.flatMap(stringsOf), expected);
      // Fields of later releases are only sent to callers that use a request field of those.
      const isFull = includeSuperseded || laterFields.some((each) => each !== undefined);
      return {
        results: results.map((each) => foundOf(each, { fields, isFull })),
        namespace,
        queryTokens,
        considered,
        omitted: omitted && { memories: [...omitted] },
        shortened,
      };
    },
    async getMemory({ namespace, id }, call) {
      call.hold(ANSWER_BYTES);
      const entry = await getMemory(ports, { caller: call.caller, namespace, id });
      await hold(call, textsOf(entry), ANSWER_BYTES);
      return { memory: memoryOf(entry), namespace };
    },
    async getMemories({ namespace, ids }, call) {
      call.hold(PAGE_BYTES);
      const got = await getMemories(ports, { caller: call.caller, namespace, ids });
      await hold(call, got.memories.flatMap(textsOf), PAGE_BYTES);
      const { missing, remaining } = got;
      const memories = got.memories.map(memoryOf);
      return { memories, missing: [...missing], remaining: [...remaining], namespace };
    },
    async deleteMemory({ namespace, id }, call) {
      await deleteMemory(ports, { caller: call.caller, namespace, id });
      return { id };
    },
    async deleteMemories(asked, call) {
      const { dry, ...counts } = await deleteMemories(ports, { ...asked, ...common(call) });
      await hold(call, dry?.samples.flatMap(textsOf) ?? []);
      const { namespace } = asked;
      return { ...counts, namespace, ...(dry && { ...dry, samples: dry.samples.map(memoryOf) }) };
    },
    async updateMemories(asked, call) {
      const { dry, failed, ...counts } = await updateMemories(ports, { ...asked, ...writing(call) });
      await hold(call, dry?.samples.flatMap(textsOf) ?? []);
      return {
        ...counts,
        namespace: asked.namespace,
        failed: failed.map(({ id, error }) => ({ id, error: problemOf(error) })),
        ...(dry && { ...dry, samples: dry.samples.map(memoryOf) }),
      };
    },
    async deleteNamespace({ namespace, force }, call) {
      return { deleted: await deleteNamespace(ports, { caller: call.caller, namespace, force }) };
    },
    async deleteNamespaces(asked, call) {
      const { namespaces, ...counts } = await deleteNamespaces(ports, { ...asked, ...common(call) });
      return { ...counts, namespaces: [...namespaces] };
    },
    async listNamespaces(asked, { caller }) {
      const { items, nextPageToken } = await listNamespaces(ports, { ...asked, caller });
      return { namespaces: items.map(measured), nextPageToken };
    },
    async getNamespace({ namespace }, call) {
      return detailsOf(namespace, await getNamespace(ports, { caller: call.caller, namespace }));
    },
    async listMemories(asked, call) {
      call.hold(PAGE_BYTES);
      const request = { ...asked, ...common(call), order: chosen("order", asked.order, ORDERS) ?? "newest" };
      const { items, nextPageToken } = await listMemories(ports, request);
      await hold(call, items.flatMap(textsOf), PAGE_BYTES);
      return { memories: items.map(memoryOf), namespace: asked.namespace, nextPageToken };
    },
    async countMemories(asked, call) {
      const memories = await countMemories(ports, { ...asked, ...common(call) });
      return { memories, namespace: asked.namespace };
    },
  };
}

function eventOf({ position, event }: WatchEvent): MessageInitShape<typeof WatchNamespaceResponseSchema> {
  switch (event.kind) {
    case "stored":
      return { position, event: { case: "stored", value: memoryOf(event.memory) } };
    case "deleted":
      return { position, event: { case: "deleted", value: { id: event.id } } };
    default:
      return { position, event: { case: event.kind, value: {} } };
  }
}

/** Holds the bytes of an answer's texts until it was taken, in place of those that were expected. */
async function hold(call: Call, texts: readonly string[], expected = 0): Promise<void> {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0) * COPIES;
  call.adjust(bytes - expected);
  // Writing the answer out holds the thread for some milliseconds: one at a time.
  if (bytes > LONG_BYTES) await yieldToEventLoop();
}

/** Marks a response whose work an earlier attempt with the same key has done. */
function markReplayed(call: Call, replayed: boolean): void {
  if (replayed) call.setHeader("idempotent-replayed", "true");
}

function common({ caller, controller, signal, deadlineMs, timer }: Call) {
  return { caller, controller, signal, deadlineMs, timer };
}
