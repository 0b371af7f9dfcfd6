import { PAGE_SIZE_MAX } from "../../../memory/requests/page.js";
import { fitInto, pageSizeIn } from "./budget.js";
import { memoriesSchema, memoryView, noteOn } from "./memories.js";
import { type Json, MAX_TOKENS, NAMESPACE, type Tool, text, texts } from "./tool.js";

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
  input: {
    ids: { ...texts, description: "Read these, and list nothing" },
    page_size: { type: "integer", description: `1 to ${PAGE_SIZE_MAX}; default ${PAGE_SIZE}` },
    page_token: { ...text, description: "next_page_token of the page before" },
    order: { ...text, enum: ORDERS },
    namespace: NAMESPACE,
    max_tokens: MAX_TOKENS,
  },
  ...memoriesSchema({ next_page_token: text, missing: texts }),
  async run({ given: { ids, ...given }, namespace, tokensMax, ask }) {
    const page_size = pageSizeIn(tokensMax, TOKENS_EACH, given.page_size ?? PAGE_SIZE);
    // Strict schemas make models give every argument: no ids to list, and the arguments of a page beside ids.
    const { page_size: _, page_token, order, ...reading } = given;
    const page =
      ids === undefined || (Array.isArray(ids) && ids.length === 0)
        ? await ask("ListMemories", { ...given, page_size, namespace })
        : await ask("GetMemories", { ...reading, ids, namespace });
    const { memories, next_page_token = "", missing = [], remaining = [] } = page as unknown as Page;
    const fitted = fitInto(memories, tokensMax, { show: memoryView });
    const left = [...(fitted.left_out ?? []), ...remaining];
    const all = { memories: fitted.memories, left_out: left.length > 0 ? left : undefined };
    return {
      ...all,
      note: noteOn(all),
      missing: missing.length > 0 ? missing : undefined,
      next_page_token: next_page_token || undefined,
    };
  },
};

/** Memories of a list, or those with the ids. */
interface Page {
  readonly memories: readonly Json[];
  readonly next_page_token?: string;
  readonly missing?: readonly string[];
  /** Ids that the RPC's answer had no room for. */
  readonly remaining?: readonly string[];
}

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
    const page_size = pageSizeIn(tokensMax, NAMESPACE_TOKENS, given.page_size ?? PAGE_SIZE_MAX);
    const page = await ask("ListNamespaces", fixed === undefined ? { ...given, page_size } : one);
    const { namespaces: found, next_page_token } = page as { namespaces: Json[]; next_page_token: string };
    if (fixed === undefined) {
      return { namespaces: found.map(counted), next_page_token: next_page_token || undefined };
    }
    const own = found.filter(({ namespace }) => namespace === fixed && fixed.startsWith(String(prefix)));
    return { namespaces: own.map(counted) };
  },
};

function counted({ namespace, memories }: Json): Json {
  return { namespace, memories };
}

/** Tokens of one namespace whose name is as long as most; the longest takes some ninety. */
const NAMESPACE_TOKENS = 60;
