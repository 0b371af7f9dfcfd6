import { PAGE_SIZE_MAX } from "../../../memory/requests/page.js";
import { pageSizeIn } from "./budget.js";
import { type Json, type Tool, text } from "./tool.js";

export const namespaces: Tool = {
  name: "memory_namespaces",
  title: "List namespaces",
  description:
    "Lists the namespaces that hold memories, with how many. Use it when it is unclear where memories are; each user or project may have its own.",
  input: { prefix: { ...text, description: "Beginning of the names" }, page_token: text },
  output: {
    namespaces: {
      type: "array",
      items: { type: "object", properties: { namespace: text, memories: { type: "integer" } } },
    },
    next_page_token: text,
  },
  returns: ["namespaces"],
  async run({ given, tokensMax, fixed, ask }) {
    const { prefix = "" } = given;
    // The one namespace of a connection is the first of those that begin with its name. The RPC says what is wrong with
    // a prefix that is no text.
    const one = { ...given, prefix: typeof prefix === "string" ? fixed : prefix, page_size: 1 };
    const page_size = pageSizeIn(tokensMax, TOKENS_EACH, given.page_size ?? PAGE_SIZE_MAX);
    const page = await ask("ListNamespaces", fixed === undefined ? { ...given, page_size } : one);
    const { namespaces: found, next_page_token } = page as { namespaces: Json[]; next_page_token: string };
    if (fixed === undefined) {
      return { namespaces: found.map(shown), next_page_token: next_page_token || undefined };
    }
    const own = found.filter(({ namespace }) => namespace === fixed && fixed.startsWith(String(prefix)));
    return { namespaces: own.map(shown) };
  },
};

function shown({ namespace, memories }: Json): Json {
  return { namespace, memories };
}

/** Tokens of one namespace whose name is as long as most; the longest takes some ninety. */
const TOKENS_EACH = 60;
