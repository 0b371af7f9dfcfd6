import { type Json, NAMESPACE, REDACTED, type Tool, text } from "./tool.js";

export const update: Tool = {
  name: "memory_update",
  title: "Update a memory",
  description:
    "Replaces the text or the metadata of one memory. Use it when a fact has changed or was wrong, in place of storing a second version; recall first to find the id.",
  input: {
    id: text,
    text: { ...text, description: "The whole new text" },
    metadata: { type: "object", description: "All metadata, anew" },
    ttl: { ...text, description: 'New lifetime, such as "86400s"' },
    event_time: text,
    etag: { ...text, description: "Refuse if it was changed since" },
    namespace: NAMESPACE,
  },
  requires: ["id"],
  output: { id: text, namespace: text, updated_at: text, etag: text, redacted: REDACTED },
  returns: ["id", "namespace", "updated_at"],
  writes: true,
  destroys: true,
  repeats: true,
  async run({ given, namespace, ask }) {
    const { memory, redacted } = await ask("UpdateMemory", { ...given, namespace });
    const { id, updated_at, etag } = memory as Json;
    return { id, namespace, updated_at, etag, redacted };
  },
};
