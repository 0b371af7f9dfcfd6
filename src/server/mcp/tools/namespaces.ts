import { type Json, type Tool, text } from "./tool.js";

export const namespaces: Tool = {
  name: "memory_namespaces",
  title: "List namespaces",
  description:
    "Lists the namespaces that hold memories, with how many. Use it when it is unclear where memories are; each user or project may have its own.",
  inputSchema: {
    type: "object",
    properties: { prefix: { ...text, description: "Beginning of the names" }, page_token: text },
  },
  outputSchema: {
    type: "object",
    properties: {
      namespaces: {
        type: "array",
        items: { type: "object", properties: { namespace: text, memories: { type: "integer" } } },
      },
      next_page_token: text,
    },
    required: ["namespaces"],
  },
  writes: false,
  repeats: true,
  async run({ given, tokensMax, ask }) {
    const size = Math.max(1, Math.min(100, Math.floor(tokensMax / TOKENS_EACH)));
    const page = await ask("ListNamespaces", { ...given, page_size: size });
    const found = page.namespaces as readonly Json[];
    const { next_page_token } = page;
    return {
      namespaces: found.map(({ namespace, memories }) => ({ namespace, memories })),
      ...(next_page_token !== "" && { next_page_token }),
    };
  },
};

/** Tokens of one namespace whose name is as long as most; the longest takes some ninety. */
const TOKENS_EACH = 60;
