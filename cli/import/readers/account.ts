import { NotThatFormatError, type Read, type Source } from "../imported.js";
import { parsedObject } from "./parts.js";
import { checkExport, FORMAT, memoryOf } from "./recalld.js";

export const ACCOUNT_FORMAT = "recalld-account-export";
export const ACCOUNT_VERSION = 1;

/**
 * Reads an export of several namespaces (`recalld export --all`), which is read twice: first all of it is compared
 * with its checksum. Each memory goes into the namespace that it was in, and else is as `readRecalld` reads it.
 */
export async function* readAccount(source: Source): AsyncGenerator<Read> {
  const count = await checkExport(source, {
    format: ACCOUNT_FORMAT,
    version: ACCOUNT_VERSION,
    what: "an export of all namespaces of recalld",
    countIn: ({ lines }) => lines,
  });
  /** Namespace of the export that the line is in; undefined between two of them. */
  let namespace: string | undefined;
  for await (const line of source.lines()) {
    // The first and the last line are about all of it.
    if (line.number === 1 || line.number > count + 1) continue;
    const [text, place] = ["text" in line ? line.text : "", `line ${line.number}`];
    if (namespace === undefined) namespace = namespaceIn(text, place);
    else if (isEnd(text)) namespace = undefined;
    else yield { ...memoryOf(text, place), namespace };
  }
  if (namespace !== undefined) throw new NotThatFormatError(`the export of ${namespace} is not complete`);
}

function namespaceIn(line: string, place: string): string {
  const head = parsedObject(line);
  if (head?.format !== FORMAT || typeof head.namespace !== "string") {
    throw new NotThatFormatError(`${place} of the export: no namespace begins there`);
  }
  return head.namespace;
}

/** True of the last line of a namespace's export; a memory has an id. */
function isEnd(line: string): boolean {
  const last = parsedObject(line);
  return last?.id === undefined && last?.sha256 !== undefined;
}
