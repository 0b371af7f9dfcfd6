import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MemoryService, WatchNamespaceResponseSchema } from "../../../gen/recalld/v1/memory_pb.js";
import { type ExportPorts, exportMemories } from "../../memory/streams/export.js";
import { type WatchEvent, type WatchPorts, watch } from "../../memory/streams/watch.js";
import type { Call } from "../call.js";
import { memoryOf } from "./memory-fields.js";
import type { Service } from "./service.js";

/** Ports that the calls with a stream for an answer need. */
export type StreamPorts = WatchPorts & ExportPorts;

type Streams = Pick<Service<typeof MemoryService>, "watchNamespace" | "exportMemories">;

/** Serves the calls of MemoryService that answer with a stream; they end when `ending` is aborted. */
export function memoryStreams(ports: StreamPorts, ending: AbortSignal): Streams {
  const common = ({ caller, signal }: Call) => ({ caller, signal, ending });
  return {
    async *watchNamespace({ namespace, position }, call) {
      const from = { namespace, position, positionName: call.positionName };
      for await (const told of watch(ports, { ...common(call), ...from })) yield eventOf(told);
    },
    async *exportMemories({ namespace, includeVectors, filter }, call) {
      const lines = exportMemories(ports, { ...common(call), namespace, includeVectors, filter });
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
