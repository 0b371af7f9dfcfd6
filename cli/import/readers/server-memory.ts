import type { JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Problem, Read, Source } from "../imported.js";
import { imported, listOf, madeId, otherFormat, parsedObject, skip, textOf } from "./parts.js";

const PROGRAM = "server-memory";
/** Bad lines that may come before the first good one: a file of another kind is not read to its end. */
const BAD_LINES_MAX = 1000;

/**
 * Reads the file of `@modelcontextprotocol/server-memory`, a knowledge graph in JSON Lines. Each observation
 * becomes a memory with its entity before it, and each relation a sentence: alone neither says what it is of.
 */
export async function* readServerMemory(source: Source): AsyncGenerator<Read> {
  let bad: Problem[] | undefined = [];
  for await (const line of source.lines()) {
    const place = `line ${line.number}`;
    if ("text" in line && line.text.trim() === "") continue;
    const item = "text" in line ? parsedObject(line.text) : undefined;
    if (item?.type === "entity" || item?.type === "relation") {
      yield* bad ?? [];
      bad = undefined;
      if (item.type === "entity") yield* observationsOf(item, place);
      else yield relationOf(item, place);
      continue;
    }
    const why =
      "problem" in line ? line.problem : item ? "it is no entity or relation" : "it is not a JSON object";
    if (bad === undefined) yield skip(PROGRAM, place, why);
    else if (bad.push(skip(PROGRAM, place, why)) === BAD_LINES_MAX) break;
  }
  if (bad !== undefined && bad.length > 0) {
    throw otherFormat("a memory.jsonl of @modelcontextprotocol/server-memory");
  }
}

function* observationsOf({ name, entityType, observations }: JsonObject, place: string): Generator<Read> {
  const facts = { entity: name, entity_type: entityType };
  const entity = textOf(name);
  const list = listOf(observations) ?? [];
  if (entity === undefined) yield skip(PROGRAM, place, "its entity has no name");
  else if (list.length === 0) yield skip(PROGRAM, place, "its entity has no observations");
  else {
    for (const observation of list) {
      const text = textOf(observation);
      yield imported({
        program: PROGRAM,
        place,
        id: madeId([name, observation]),
        facts,
        text: text && `${entity}: ${text}`,
      });
    }
  }
}

function relationOf({ from, relationType, to }: JsonObject, place: string): Read {
  const isWhole = [from, relationType, to].every((part) => textOf(part) !== undefined);
  return imported({
    program: PROGRAM,
    place,
    id: madeId([from, relationType, to]),
    facts: { from, relation: relationType, to },
    text: isWhole ? `${from} ${String(relationType).replaceAll("_", " ")} ${to}` : undefined,
  });
}
