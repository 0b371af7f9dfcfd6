import { fitInto } from "./budget.js";
import { memoryView } from "./memories.js";
import { type Json, NAMESPACE, REDACTED, type Tool, text, texts } from "./tool.js";

/** Score from which a memory counts as one that says much the same, and as one that says the same. */
const SIMILAR_ABOVE = 0.8;
const SAME_ABOVE = 0.88;

export const store: Tool = {
  name: "memory_store",
  title: "Store a memory",
  description:
    "Remembers one lasting fact, preference, decision or event across sessions. Use it when the user states one or asks to remember. Write one self-contained statement with names and dates, no secrets. The answer lists similar memories that exist: if one says the same or is outdated, memory_update it and memory_forget the new one.",
  input: {
    text: { ...text, description: "What to remember" },
    metadata: { type: "object", description: "Optional labels, such as source" },
    ttl: { ...text, description: 'Lifetime, such as "86400s"; default: for ever' },
    event_time: { ...text, description: "When it happened, as RFC 3339; default: now" },
    supersedes: { ...texts, description: "Ids of memories that this one replaces; they are hidden" },
    namespace: NAMESPACE,
  },
  requires: ["text"],
  output: {
    id: text,
    namespace: text,
    similar: {
      type: "array",
      items: { type: "object", properties: { id: text, text, score: { type: "number" } } },
    },
    redacted: REDACTED,
    note: text,
  },
  returns: ["id", "namespace"],
  effect: "adds",
  async run({ given, namespace, tokensMax, ask }) {
    // The RPC takes its fields under either name.
    const { onSimilar = "STORE", on_similar = onSimilar, similarAbove } = given;
    const similar_above = on_similar === "STORE" ? SIMILAR_ABOVE : SAME_ABOVE;
    const floor = similarAbove === undefined ? { similar_above } : {};
    const stored = await ask("Store", { ...floor, ...given, namespace });
    // Any two texts that the model cannot read may be alike to it.
    const { id, redacted } = stored;
    const answer = { id, namespace, redacted };
    // The server has done what the model would be asked for.
    if (stored.outcome === "KEPT") return { ...answer, note: EXISTING_NOTE };
    if (stored.unread_share !== undefined) return { ...answer, note: UNREAD_NOTE };
    const { memories = [] } = (stored.similar ?? {}) as { memories?: Json[] };
    if (on_similar === "SUPERSEDE" || memories.length === 0) return answer;
    const { memories: similar } = fitInto(memories, tokensMax, { show: memoryView });
    return { ...answer, similar, note: NOTE };
  },
};

const EXISTING_NOTE = "a memory that says the same was there: this is its id, and nothing new was stored";
const UNREAD_NOTE =
  "the server's model hardly reads this script: only a recall with the same words finds the memory surely";
const NOTE = "similar memories existed: update the one that is outdated, forget the one that is doubled";
