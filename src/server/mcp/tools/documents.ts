import { memoryView } from "./memories.js";
import { ORDER } from "./recall.js";
import { type Json, type Tool, type ToolCall, text } from "./tool.js";

/** Characters of a memory's first line that stand for it in a list. */
const TITLE_MAX = 80;
/** Results of a search, whose shape has no argument for their number. */
const RESULTS = 10;

const DOCUMENT = { id: text, title: text, url: text };

/** Tools in the shapes that clients want who search documents and cite them, such as ChatGPT's connectors. */
export const DOCUMENT_TOOLS: readonly Tool[] = [
  {
    name: "search",
    title: "Search memories",
    description:
      "Finds stored memories by meaning and by words. Returns the id, title and address of the nearest, best first, whether they answer or not; read them by fetch.",
    input: { query: text },
    requires: ["query"],
    output: { results: { type: "array", items: { type: "object", properties: DOCUMENT } } },
    returns: ["results"],
    async run(call) {
      const { given, namespace, ask } = call;
      const { results } = await ask("Recall", { ...ORDER, ...given, namespace, top_k: RESULTS });
      return { results: (results as readonly Json[]).map((each) => summaryOf(each, call)) };
    },
  },
  {
    name: "fetch",
    title: "Read a memory",
    description: "Reads one memory in full, by the id that search gave.",
    input: { id: text },
    requires: ["id"],
    output: { ...DOCUMENT, text, metadata: { type: "object" } },
    returns: ["id", "title", "text", "url"],
    async run(call) {
      const { given, namespace, ask } = call;
      const memory = (await ask("GetMemory", { ...given, namespace })).memory as Json;
      const { id, text: whole, metadata, ...more } = memoryView(memory);
      return { ...summaryOf(memory, call), text: whole, metadata: { ...metadata, ...more } };
    },
  },
];

function summaryOf(memory: Json, { namespace, site }: ToolCall) {
  const { id, text: whole } = memory as { id: string; text: string };
  const line = whole.trim().split("\n", 1)[0] as string;
  const points = [...line];
  const title = points.length <= TITLE_MAX ? line : `${points.slice(0, TITLE_MAX - 1).join("")}…`;
  return { id, title, url: `${site}/#/memories/${encodeURIComponent(namespace)}/${id}` };
}
