import type { Json } from "../../../src/memory/requests/metadata.js";
import type { Read, Source } from "../imported.js";
import {
  expiryOf,
  idTextOf,
  imported,
  objectOf,
  otherFormat,
  pagedIn,
  placed,
  refusal,
  skip,
  textOf,
  timeOf,
} from "./parts.js";

/** Members of a memory that are neither its text nor its metadata. */
const FACTS = ["created_at", "updated_at", "user_id", "agent_id", "run_id", "actor_id", "role", "categories"];

/**
 * Reads what mem0's `get_all` answers, as JSON: `{"results": […]}`, pages of its platform, or the bare list
 * of older versions.
 */
export async function* readMem0(source: Source): AsyncGenerator<Read> {
  const json = await source.json();
  const memories = pagedIn(json, "results") ?? (Array.isArray(json) ? placed(json, "$") : undefined);
  const isMem0 = memories?.length === 0 || memories?.some(({ value }) => "memory" in (objectOf(value) ?? {}));
  if (memories === undefined || !isMem0) throw otherFormat("what mem0's get_all answers");
  for (const { value, place } of memories) yield memoryOf(value, place);
  for (const { place } of pagedIn(json, "relations") ?? []) {
    yield skip("mem0", place, "relations of its graph are not taken");
  }
}

function memoryOf(value: unknown, place: string): Read {
  const memory = objectOf(value);
  if (memory === undefined) return skip("mem0", place, "it is not a memory");
  const facts = Object.fromEntries(FACTS.map((name) => [name, memory[name] as Json | undefined]));
  const { expiration_date: date } = memory;
  const expireTime = expiryOf(date);
  if (expireTime === undefined && date !== undefined && date !== null && date !== "") {
    return refusal(
      { sourceId: `mem0 ${idTextOf(memory.id) ?? ""}`, place },
      "its expiration_date is no date",
    );
  }
  return imported({
    program: "mem0",
    place,
    id: memory.id,
    text: textOf(memory.memory),
    metadata: memory.metadata,
    facts,
    expireTime,
    eventTime: timeOf(memory.created_at),
  });
}
