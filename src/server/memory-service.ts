import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { JsonObject } from "../memory/metadata.js";
import { recall } from "../memory/recall.js";
import type { Scored } from "../memory/score.js";
import { type Ports, store } from "../memory/store.js";
import { callerOf } from "./caller.js";

/** recalld.v1.MemoryService: translates between the wire and the room. */
export function memoryService(ports: Ports): ServiceImpl<typeof MemoryService> {
  return {
    async store({ text, namespace, metadata }, context) {
      const caller = callerOf(context);
      const stored = await store(ports, { caller, text, namespace, metadata, signal: context.signal });
      const { id, tokens, createdAtMs } = stored;
      return { id, namespace, tokens, createdAt: timestampFromMs(createdAtMs) };
    },
    async recall({ query, namespace, topK }, context) {
      const caller = callerOf(context);
      const found = await recall(ports, { caller, query, namespace, topK, signal: context.signal });
      return { results: found.results.map(toResult), namespace, queryTokens: found.queryTokens };
    },
  };
}

function toResult({ entry, score }: Scored) {
  const { id, text, metadata, createdAtMs } = entry;
  const createdAt = timestampFromMs(createdAtMs);
  return { id, text, score, metadata: JSON.parse(metadata) as JsonObject, createdAt };
}
