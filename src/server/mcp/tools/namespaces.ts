import { type Json, type Tool, type ToolCall, text } from "./tool.js";

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
  async run({ given, tokensMax, fixed, ask }) {
    if (fixed !== undefined) return only(fixed, { given, ask });
    const size = Math.max(1, Math.min(100, Math.floor(tokensMax / TOKENS_EACH)));
    const page = await ask("ListNamespaces", { ...given, page_size: size });
    const found = page.namespaces as readonly Json[];
    const { next_page_token } = page;
    return {
      namespaces: found.map(shown),
      ...(next_page_token !== "" && { next_page_token }),
    };
  },
};

/** Lists the one namespace of a connection, which is the first of those that begin with its name. */
async function only(name: string, { given, ask }: Pick<ToolCall, "given" | "ask">) {
  const { prefix = "" } = given;
  // The RPC says what is wrong with one that is no text.
  const asked = typeof prefix === "string" ? name : prefix;
  const page = await ask("ListNamespaces", { ...given, prefix: asked, page_size: 1 });
  const found = page.namespaces as readonly Json[];
  const own = found.filter(({ namespace }) => namespace === name && name.startsWith(String(prefix)));
  return { namespaces: own.map(shown) };
}

function shown({ namespace, memories }: Json): Json {
  return { namespace, memories };
}

/** Tokens of one namespace whose name is as long as most; the longest takes some ninety. */
const TOKENS_EACH = 60;
