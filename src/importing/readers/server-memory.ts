import { createHash } from "node:crypto";
import type { JsonObject } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, textOf } from "./parts.js";

const PROGRAM = "server-memory";

/**
 * Reads the file of `@modelcontextprotocol/server-memory`, a knowledge graph in JSON Lines. Each observation
 * becomes a memory with its entity before it, and each relation a sentence: alone neither says what it is of.
 */
export async function* readServerMemory(source: Source): AsyncGenerator<Imported | Skipped> {
  for await (const line of source.lines()) {
    if (line.trim() === "") continue;
    const item = parsed(line);
    if (item?.type === "entity") yield* observationsOf(item);
    else if (item?.type === "relation") yield relationOf(item);
    else throw otherFormat("a memory.jsonl of @modelcontextprotocol/server-memory");
  }
}

function* observationsOf({ name, entityType, observations }: JsonObject): Generator<Imported | Skipped> {
  const facts = { entity: name, entity_type: entityType };
  for (const observation of listOf(observations) ?? []) {
    const text = textOf(observation);
    yield imported({
      ...{ program: PROGRAM, id: idOf([name, observation]), facts },
      text: text && `${name}: ${text}`,
    });
  }
}

function relationOf({ from, relationType, to }: JsonObject): Imported | Skipped {
  const isWhole = [from, relationType, to].every((part) => textOf(part) !== undefined);
  return imported({
    ...{ program: PROGRAM, id: idOf([from, relationType, to]), facts: { from, relation: relationType, to } },
    text: isWhole ? `${from} ${String(relationType).replaceAll("_", " ")} ${to}` : undefined,
  });
}

/** Makes an id of what the file knows: it has none of its own. */
function idOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

function parsed(line: string): JsonObject | undefined {
  try {
    return objectOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}
