import type { Reader } from "../imported.js";
import { readChatGpt } from "./chatgpt.js";
import { readClaude } from "./claude.js";
import { readMem0 } from "./mem0.js";
import { readChroma, readQdrant, readSupermemory } from "./qdrant.js";
import { readRecalld } from "./recalld.js";
import { readServerMemory } from "./server-memory.js";

/** Readers by the name that `--from` gives; docs/admin.md says where each file comes from. */
export const READERS: Readonly<Record<string, Reader>> = {
  recalld: readRecalld,
  mem0: readMem0,
  chroma: readChroma,
  qdrant: readQdrant,
  supermemory: readSupermemory,
  "server-memory": readServerMemory,
  chatgpt: readChatGpt,
  claude: readClaude,
};
