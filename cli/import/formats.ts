import { MemoryError } from "../../src/errors.js";
import { OtherFormatError, type Read, type Reader, type Source } from "./imported.js";
import { readChatGpt, readClaude } from "./readers/conversations.js";
import { readJsonLines, readServerMemory } from "./readers/json-lines.js";
import { readAccount, readRecalld } from "./readers/recalld.js";
import { readChroma, readMem0, readQdrant, readSupermemory } from "./readers/records.js";

/** Name of the format whose memories name their namespaces. */
export const ACCOUNT = "recalld-account";

/** Readers by the name that `--from` gives; docs/command-line.md says where each file comes from. */
const READERS: Readonly<Record<string, Reader>> = {
  recalld: readRecalld,
  [ACCOUNT]: readAccount,
  mem0: readMem0,
  chroma: readChroma,
  qdrant: readQdrant,
  supermemory: readSupermemory,
  "server-memory": readServerMemory,
  chatgpt: readChatGpt,
  claude: readClaude,
  jsonl: readJsonLines,
};

/** Formats of lines come first: the others would take a file of lines for one that is broken or too large. */
const ORDER = ["recalld", ACCOUNT, "server-memory", "jsonl"];

export const FORMATS = Object.keys(READERS);

/**
 * Finds the format of a file by its content: the first whose reader takes its beginning.
 *
 * @throws MemoryError `invalid_argument` if it is none of them
 */
export async function formatOf(source: Source): Promise<string> {
  for (const from of [...ORDER, ...FORMATS.filter((name) => !ORDER.includes(name))]) {
    const parts = readAs(from, source);
    try {
      const first = await parts.next();
      if (first.done !== true || (await saysWhatItIs(source, from))) return from;
    } catch (error) {
      if (!(error instanceof OtherFormatError)) throw error;
    } finally {
      // The other parts are read with the first, anew.
      await parts.return(undefined);
    }
  }
  throw new MemoryError(
    "invalid_argument",
    `the file is of no known format: ${FORMATS.join(", ")}; write what it has as JSON Lines with a text in each`,
  );
}

/** Reads a file of this format, which is one of `FORMATS`. */
export function readAs(from: string, source: Source): AsyncGenerator<Read> {
  return (READERS[from] as Reader)(source);
}

/** True if a file without records can be of only one format. An empty list can be of several. */
async function saysWhatItIs(source: Source, from: string): Promise<boolean> {
  if (ORDER.includes(from)) return from !== "server-memory";
  const json = await source.json();
  return !Array.isArray(json) || json.length > 0;
}
