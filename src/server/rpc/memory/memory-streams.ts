import type { Message, MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { MemoryService, WatchNamespaceResponseSchema } from "../../../../gen/recalld/v1/memory_pb.js";
import { type ExportPorts, exportMemories } from "../../../memory/streams/export.js";
import { type WatchEvent, type WatchPorts, watch } from "../../../memory/streams/watch.js";
import { messageKey } from "../bodies.js";
import { callerOf } from "../caller.js";
import { positionNameKey } from "../position-name.js";
import { memoryOf } from "./memory-fields.js";

/** Ports that the calls with a stream for an answer need. */
export type StreamPorts = WatchPorts & ExportPorts;

type Streams = Pick<ServiceImpl<typeof MemoryService>, "watchNamespace" | "exportMemories">;

/** Serves the calls of MemoryService that answer with a stream; they end when `ending` is aborted. */
export function memoryStreams(ports: StreamPorts, ending: AbortSignal): Streams {
  const common = (message: Message & { readonly namespace: string }, context: HandlerContext) => {
    context.values.set(messageKey, message);
    const { namespace } = message;
    return { caller: callerOf(context), signal: context.signal, ending, namespace };
  };
  return {
    async *watchNamespace(request, context) {
      const from = { position: request.position, positionName: context.values.get(positionNameKey) };
      for await (const told of watch(ports, { ...common(request, context), ...from })) yield eventOf(told);
    },
    async *exportMemories(request, context) {
      const { includeVectors, filter } = request;
      const lines = exportMemories(ports, { ...common(request, context), includeVectors, filter });
      for await (const line of lines) yield { line };
    },
  };
}

function eventOf({ position, event }: WatchEvent): MessageInitShape<typeof WatchNamespaceResponseSchema> {
  switch (event.kind) {
    case "stored":
      return { position, event: { case: "stored", value: memoryOf(event.memory) } };
    case "deleted":
      return { position, event: { case: "deleted", value: { id: event.id } } };
    case "dropped":
      return { position, event: { case: "dropped", value: {} } };
    case "heartbeat":
      return { position, event: { case: "heartbeat", value: {} } };
  }
}
