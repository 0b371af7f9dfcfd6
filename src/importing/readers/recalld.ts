import { createHash } from "node:crypto";
import type { JsonObject } from "../../memory/input/metadata.js";
import { type Imported, NotThatFormat, type Source } from "../imported.js";
import { objectOf, otherFormat, textOf } from "./parts.js";

const FORMAT = "recalld-export";
const VERSION = 1;

/**
 * Reads an export of recalld (ExportMemories), which is read twice: first all of it is compared with its
 * checksum. Memories keep their text, metadata, external id and expiry as they are; ids and other
 * times are given anew.
 */
export async function* readRecalld(source: Source): AsyncGenerator<Imported> {
  await check(source);
  let number = 0;
  for await (const line of source.lines()) {
    const { id, text, metadata, external_id: externalId, expire_time: expireTime } = parsed(line) ?? {};
    if (number++ === 0 || typeof id !== "string") continue;
    yield {
      ...{ sourceId: id, text: textOf(text) ?? "", metadata: objectOf(metadata) ?? {} },
      ...(typeof externalId === "string" && { externalId }),
      ...(typeof expireTime === "string" && { expireTime }),
    };
  }
}

/** @throws NotThatFormat if it is none, if a part is missing, or if something was changed. */
async function check(source: Source): Promise<void> {
  const hash = createHash("sha256");
  let before: string | undefined;
  let lines = 0;
  for await (const line of source.lines()) {
    if (before !== undefined) hash.update(before).update("\n");
    else expectHead(line);
    before = line;
    lines++;
  }
  const last = before === undefined ? undefined : parsed(before);
  if (lines < 2 || last?.count === undefined || last.sha256 === undefined) {
    throw new NotThatFormat("the export is not complete: its last line is missing");
  }
  if (last.count !== lines - 2 || last.sha256 !== hash.digest("hex")) {
    throw new NotThatFormat("the export was changed: it does not match its checksum");
  }
}

function expectHead(line: string): void {
  const head = parsed(line);
  if (head?.format !== FORMAT) throw otherFormat("an export of recalld");
  if (head.version !== VERSION)
    throw new NotThatFormat(`the export's version is ${head.version}, not ${VERSION}`);
}

function parsed(line: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}
