import { type Json, NAMESPACE, REDACTED, type Tool, text, texts } from "./tool.js";

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
  effect: "changes",
  async run({ given, namespace, ask }) {
    const { memory, redacted } = await ask("UpdateMemory", { ...given, namespace });
    const { id, updated_at, etag } = memory as Json;
    return { id, namespace, updated_at, etag, redacted };
  },
};

/** Failures that an answer names at most, so that it stays short. */
const FAILED_MAX = 10;

export const updateMany: Tool = {
  name: "memory_update_many",
  title: "Update the metadata of many memories",
  description:
    "Merges metadata into that of many memories, by their ids or by a filter, and removes keys. Use it to tag, correct or close many at once; texts stay. Call again with page_token while the answer has one.",
  input: {
    ids: { ...texts, description: "Up to 256" },
    filter: { type: "object", description: 'In place of ids, such as {"topic": "travel"}' },
    metadata: { type: "object", description: "Merged at every depth; null removes a key" },
    remove: { ...texts, description: "Paths to remove, such as a.b" },
    dry_run: { type: "boolean", description: "With a filter: only count what matches" },
    page_token: text,
    namespace: NAMESPACE,
  },
  output: {
    updated: { type: "integer" },
    unchanged: { type: "integer" },
    matched: { type: "integer" },
    failed: { type: "array", items: { type: "object" } },
    page_token: text,
    note: text,
  },
  returns: ["updated"],
  effect: "changes",
  async run({ given, namespace, ask }) {
    const answer = await ask("UpdateMemories", { ...given, namespace });
    const { updated = 0, unchanged = 0, matched, next_page_token: next } = answer;
    if (given.dry_run === true) return { updated, matched };
    const failed = (answer.failed as Json[] | undefined) ?? [];
    const more = failed.length - FAILED_MAX;
    return {
      updated,
      unchanged,
      failed: failed.length > 0 ? failed.slice(0, FAILED_MAX) : undefined,
      note: more > 0 ? `${more} more failed, too` : undefined,
      page_token: next || undefined,
    };
  },
};

export const forget: Tool = {
  name: "memory_forget",
  title: "Forget memories",
  description:
    "Erases memories for good, by their ids. Use it when the user asks to forget something, or when one is wrong or doubled; recall or list first to find the ids.",
  input: { ids: { ...texts, description: "Up to 256" }, namespace: NAMESPACE },
  requires: ["ids"],
  output: { deleted: { type: "integer" }, note: { type: "string" } },
  returns: ["deleted"],
  effect: "changes",
  async run({ given, namespace, ask }) {
    const { deleted, more } = await ask("DeleteMemories", { ...given, namespace });
    const asked = Array.isArray(given.ids) ? new Set(given.ids).size : 0;
    if (more === true) return { deleted, note: "time ran out: call again with the same ids" };
    const absent = asked - Number(deleted);
    return { deleted, ...(absent > 0 && { note: `${absent} of the ids have no memory in ${namespace}` }) };
  },
};
