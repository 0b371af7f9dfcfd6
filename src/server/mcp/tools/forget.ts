import { NAMESPACE, type Tool, texts } from "./tool.js";

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
