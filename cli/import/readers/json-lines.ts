import type { JsonObject } from "../../../src/memory/requests/metadata.js";
import { suggestion } from "../../../src/suggest.js";
import type { Problem, Read, Source } from "../imported.js";
import {
  checked,
  expiryOf,
  idTextOf,
  imported,
  isBlank,
  listOf,
  madeId,
  otherFormat,
  parsedObject,
  refusal,
  skip,
  textOf,
  timeOf,
} from "./parts.js";

/** Lists the lines that are not blank, each with its object, or why it has none. */
async function* itemsIn(source: Source) {
  for await (const line of source.lines()) {
    if (isBlank(line)) continue;
    const item = "text" in line ? parsedObject(line.text) : undefined;
    const why = "problem" in line ? line.problem : "it is not a JSON object";
    yield { item, location: `line ${line.number}`, why };
  }
}

/**
 * Reads JSON Lines of one's own: objects with a `text`, and maybe `metadata`, `external_id` or `id`,
 * `expire_time` and `event_time`. Memories keep these as they are; a line with another name in it is refused.
 */
export async function* readJsonLines(source: Source): AsyncGenerator<Read> {
  let isKnown = false;
  for await (const { item, location, why } of itemsIn(source)) {
    // The first line tells which format it is; a bad one after it stops no other.
    if (!isKnown && textOf(item?.text) === undefined) break;
    isKnown = true;
    yield item ? memoryOf(item, location) : skip("jsonl", location, why);
  }
  if (!isKnown) throw otherFormat("JSON Lines with a text in each");
}

/** Fields of a line that are imported. */
const FIELDS = ["text", "metadata", "external_id", "id", "expire_time", "event_time"];
/** Other fields that recalld writes of a memory: a line may have them, and an import makes them anew. */
const MADE_ANEW =
  "created_at updated_at tokens etag score words match explanation query_index vectors windows".split(" ");

function memoryOf(item: JsonObject, location: string): Read {
  const { text, metadata, id, external_id: externalId } = item;
  const times = { expire_time: expiryOf(item.expire_time), event_time: timeOf(item.event_time) };
  const { expire_time: expireTime, event_time: eventTime } = times;
  const sourceId = idTextOf(externalId) ?? idTextOf(id) ?? madeId([location, text, metadata]);
  const read = checked({ sourceId, location, text: textOf(text), metadata, expireTime, eventTime });
  // Without its expiry it would be kept for ever.
  const wrong = Object.entries(times).find(
    ([name, time]) => time === undefined && (item[name] ?? null) !== null,
  );
  if ("result" in read) return read;
  if (wrong !== undefined) return refusal(read, `its ${wrong[0]} is no time`);
  // Refused, because a field that is not imported, such as a ttl, would be lost without a word.
  const unknown = Object.keys(item).find((name) => !FIELDS.includes(name) && !MADE_ANEW.includes(name));
  if (unknown === undefined) return read;
  const meant = suggestion(unknown, FIELDS) || "; put it into metadata";
  return refusal(read, `its ${JSON.stringify(unknown.slice(0, 64))} is no field of a line${meant}`);
}

const PROGRAM = "server-memory";
/** Bad lines that may come before the first good one: a file of another kind is not read to its end. */
const BAD_LINES_MAX = 1000;

/**
 * Reads the file of `@modelcontextprotocol/server-memory`, a knowledge graph in JSON Lines. Each observation
 * becomes a memory with its entity before it, and each relation a sentence: alone neither says what it is of.
 */
export async function* readServerMemory(source: Source): AsyncGenerator<Read> {
  let bad: Problem[] | undefined = [];
  for await (const { item, location, why } of itemsIn(source)) {
    if (item?.type === "entity" || item?.type === "relation") {
      yield* bad ?? [];
      bad = undefined;
      if (item.type === "entity") yield* observationsOf(item, location);
      else yield relationOf(item, location);
      continue;
    }
    const problem = skip(PROGRAM, location, item ? "it is no entity or relation" : why);
    if (bad === undefined) yield problem;
    else if (bad.push(problem) === BAD_LINES_MAX) break;
  }
  if (bad !== undefined && bad.length > 0) {
    throw otherFormat("a memory.jsonl of @modelcontextprotocol/server-memory");
  }
}

function* observationsOf({ name, entityType, observations }: JsonObject, location: string): Generator<Read> {
  const facts = { entity: name, entity_type: entityType };
  const entity = textOf(name);
  const list = listOf(observations) ?? [];
  if (entity === undefined) yield skip(PROGRAM, location, "its entity has no name");
  else if (list.length === 0) yield skip(PROGRAM, location, "its entity has no observations");
  else {
    for (const observation of list) {
      const text = textOf(observation);
      yield imported({
        program: PROGRAM,
        location,
        id: madeId([name, observation]),
        facts,
        text: text && `${entity}: ${text}`,
      });
    }
  }
}

function relationOf({ from, relationType, to }: JsonObject, location: string): Read {
  const isWhole = [from, relationType, to].every((part) => textOf(part) !== undefined);
  return imported({
    program: PROGRAM,
    location,
    id: madeId([from, relationType, to]),
    facts: { from, relation: relationType, to },
    text: isWhole ? `${from} ${String(relationType).replaceAll("_", " ")} ${to}` : undefined,
  });
}
