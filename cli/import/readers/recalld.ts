import { createHash } from "node:crypto";
import { failedPrecondition } from "../../../src/errors.js";
import { OtherFormatError, type Read, type Source } from "../imported.js";
import { checked, isBlank, objectOf, otherFormat, parsedObject, skip, textOf } from "./parts.js";

export const FORMAT = "recalld-export";
const VERSION = 1;

/**
 * Reads an export of recalld (ExportMemories), which is read twice: first all of it is compared with its
 * checksum. Memories keep their text, metadata, external id and expiry as they are; ids and other
 * times are given anew. What happened when it was stored has that time as its event time.
 */
export async function* readRecalld(source: Source): AsyncGenerator<Read> {
  const framing = { format: FORMAT, version: VERSION, what: "an export of recalld", count: "count" } as const;
  for await (const { text, location } of linesOf(source, framing)) yield memoryOf(text, location);
}

/** Reads the line of a memory. */
function memoryOf(line: string, location: string): Read {
  const memory = parsedObject(line) ?? {};
  const { id, text, metadata, external_id: externalId, expire_time: expireTime } = memory;
  const { event_time: eventTime = memory.created_at } = memory;
  if (typeof id !== "string") return skip("recalld", location, "it is not a memory with an id");
  const read = checked({ sourceId: id, location, text: textOf(text) ?? "", metadata: objectOf(metadata) });
  return {
    ...read,
    ...(typeof externalId === "string" && { externalId }),
    ...(typeof expireTime === "string" && { expireTime }),
    ...(typeof eventTime === "string" && { eventTime }),
  };
}

/** Lists the lines between the first and the last of an export, once all of it has its checksum. */
async function* linesOf(
  source: Source,
  framing: Framing,
): AsyncGenerator<{ text: string; location: string }> {
  const count = await checkExport(source, framing);
  let read = 0;
  for await (const line of source.lines()) {
    if (isBlank(line) || ++read === 1 || read > count + 1) continue;
    yield { text: "text" in line ? line.text : "", location: `line ${line.number}` };
  }
}

/** The first and the last line of an export. */
interface Framing {
  readonly format: string;
  readonly version: number;
  /** Its name for people. */
  readonly what: string;
  /** Field of the last that has the number of lines between both. */
  readonly count: "count" | "lines";
}

/**
 * Compares an export with its checksum. Returns the number of lines between its first and its last.
 *
 * @throws MemoryError `failed_precondition` if it is none, if a part is missing, or if something was changed.
 */
async function checkExport(source: Source, framing: Framing): Promise<number> {
  const hash = createHash("sha256");
  let before: string | undefined;
  let lines = 0;
  for await (const line of source.lines()) {
    // Editors add an empty line at the end of a file.
    if (isBlank(line)) continue;
    if (before !== undefined) hash.update(before).update("\n");
    else expectHead("text" in line ? line.text : "", framing);
    if ("problem" in line) throw failedPrecondition(`line ${line.number} of the export: ${line.problem}`);
    before = line.text;
    lines++;
  }
  if (before === undefined) throw new OtherFormatError("the export is not complete: it is empty");
  const last = parsedObject(before);
  const count = last?.[framing.count];
  if (lines < 2 || count === undefined || last?.sha256 === undefined) {
    throw failedPrecondition("the export is not complete: its last line is missing");
  }
  if (count !== lines - 2 || last.sha256 !== hash.digest("hex")) {
    throw failedPrecondition("the export was changed: it does not match its checksum");
  }
  return lines - 2;
}

function expectHead(line: string, { format, version, what }: Framing): void {
  const head = parsedObject(line);
  if (head?.format !== format) throw otherFormat(what);
  if (head.version !== version)
    throw failedPrecondition(`the export's version is ${head.version}, not ${version}`);
}

export const ACCOUNT_FORMAT = "recalld-account-export";
export const ACCOUNT_VERSION = 1;

/**
 * Reads an export of several namespaces (`recalld export --all`), which is read twice: first all of it is compared
 * with its checksum. Each memory goes into the namespace that it was in, and else is as `readRecalld` reads it.
 */
export async function* readAccount(source: Source): AsyncGenerator<Read> {
  const what = "an export of all namespaces of recalld";
  const framing = { format: ACCOUNT_FORMAT, version: ACCOUNT_VERSION, what, count: "lines" } as const;
  /** Namespace of the export that the line is in; undefined between two of them. */
  let namespace: string | undefined;
  for await (const { text, location } of linesOf(source, framing)) {
    if (namespace === undefined) namespace = namespaceIn(text, location);
    else if (isEnd(text)) namespace = undefined;
    else yield { ...memoryOf(text, location), namespace };
  }
  if (namespace !== undefined) throw failedPrecondition(`the export of ${namespace} is not complete`);
}

function namespaceIn(line: string, location: string): string {
  const head = parsedObject(line);
  if (head?.format !== FORMAT || typeof head.namespace !== "string") {
    throw failedPrecondition(`${location} of the export: no namespace begins there`);
  }
  return head.namespace;
}

/** True of the last line of a namespace's export; a memory has an id. */
function isEnd(line: string): boolean {
  const last = parsedObject(line);
  return last?.id === undefined && last?.sha256 !== undefined;
}
