import { fitInto } from "./budget.js";
import { memoriesSchema, noteOn, shown } from "./memories.js";
import { type Json, MAX_TOKENS, NAMESPACE, type Tool, type ToolCall, text, texts } from "./tool.js";

/** Memories of a page, unless the model asks for another number. */
const PAGE_SIZE = 20;
/** Tokens that each memory of a page needs at least, so that its id has room. */
const TOKENS_EACH = 20;

/** Orders by when memories were stored, and by when they happened. */
const ORDERS = ["NEWEST_FIRST", "OLDEST_FIRST", "EVENT_TIME_NEWEST_FIRST", "EVENT_TIME_OLDEST_FIRST"];

export const list: Tool = {
  name: "memory_list",
  title: "List or read memories",
  description:
    "Lists memories page by page, newest first, or reads those with the given ids in full. Use it to review what is stored and to read on where an answer was cut; to find something, use memory_recall.",
  inputSchema: {
    type: "object",
    properties: {
      ids: { ...texts, description: "Read these, and list nothing" },
      page_size: { type: "integer", description: `1 to 100; default ${PAGE_SIZE}` },
      page_token: { ...text, description: "next_page_token of the page before" },
      order: { ...text, enum: ORDERS },
      namespace: NAMESPACE,
      max_tokens: MAX_TOKENS,
    },
  },
  outputSchema: memoriesSchema({ next_page_token: text, missing: texts }),
  writes: false,
  repeats: true,
  async run(call) {
    const { memories, ...more } = call.given.ids === undefined ? await pageOf(call) : await read(call);
    const fitted = fitInto(memories.map(shown), call.tokensMax);
    const left = [...(fitted.left_out ?? []), ...(more.remaining ?? [])];
    const all = { ...fitted, ...(left.length > 0 && { left_out: left }) };
    const { missing, next_page_token } = more;
    return {
      ...all,
      ...noteOn(all),
      ...(missing !== undefined && { missing }),
      ...(next_page_token !== undefined && { next_page_token }),
    };
  },
};

interface Page {
  readonly memories: readonly Json[];
  readonly next_page_token?: string;
  readonly missing?: readonly string[];
  /** Ids that the RPC's answer had no room for. */
  readonly remaining?: readonly string[];
}

async function pageOf({ given, namespace, tokensMax, ask }: ToolCall): Promise<Page> {
  const { page_size = PAGE_SIZE } = given;
  const size =
    typeof page_size === "number" ? Math.min(page_size, Math.floor(tokensMax / TOKENS_EACH)) : page_size;
  const page = await ask("ListMemories", { ...given, page_size: size, namespace });
  const { memories, next_page_token } = page as { memories: Json[]; next_page_token: string };
  return { memories, ...(next_page_token !== "" && { next_page_token }) };
}

async function read({ given, namespace, ask }: ToolCall): Promise<Page> {
  const got = await ask("GetMemories", { ...given, namespace });
  const { memories, missing, remaining } = got as Required<Omit<Page, "next_page_token">>;
  return { memories, remaining, ...(missing.length > 0 && { missing }) };
}
