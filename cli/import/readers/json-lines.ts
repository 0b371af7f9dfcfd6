import type { JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Read, Source } from "../imported.js";
import {
  checked,
  expiryOf,
  idTextOf,
  madeId,
  otherFormat,
  parsedObject,
  refusal,
  skip,
  textOf,
  timeOf,
} from "./parts.js";

const FORMAT = "jsonl";

/**
 * Reads JSON Lines of one's own: objects with a `text`, and maybe `metadata`, `external_id` or `id`,
 * `expire_time` and `event_time`. Memories keep these as they are.
 */
export async function* readJsonLines(source: Source): AsyncGenerator<Read> {
  let isKnown = false;
  for await (const line of source.lines()) {
    if ("text" in line && line.text.trim() === "") continue;
    const place = `line ${line.number}`;
    const item = "text" in line ? parsedObject(line.text) : undefined;
    // The first line tells which format it is; a bad one after it stops no other.
    if (!isKnown && textOf(item?.text) === undefined) throw otherFormat("JSON Lines with a text in each");
    isKnown = true;
    if (item) yield memoryOf(item, place);
    else yield skip(FORMAT, place, "problem" in line ? line.problem : "it is not a JSON object");
  }
  if (!isKnown) throw otherFormat("JSON Lines with a text in each");
}

function memoryOf(item: JsonObject, place: string): Read {
  const { text, metadata, id, external_id: externalId } = item;
  const times = { expire_time: expiryOf(item.expire_time), event_time: timeOf(item.event_time) };
  const { expire_time: expireTime, event_time: eventTime } = times;
  const sourceId = idTextOf(externalId) ?? idTextOf(id) ?? madeId([place, text, metadata]);
  const read = checked({ sourceId, place, text: textOf(text), metadata, expireTime, eventTime });
  // Without its expiry it would be kept for ever.
  const wrong = Object.entries(times).find(
    ([name, time]) => time === undefined && (item[name] ?? null) !== null,
  );
  return "result" in read || wrong === undefined ? read : refusal(read, `its ${wrong[0]} is no time`);
}
