import type { Json } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, pagesOf, textOf } from "./parts.js";

/** Members of a memory that are neither its text nor its metadata. */
const FACTS = ["created_at", "updated_at", "user_id", "agent_id", "run_id", "actor_id", "role"];

/**
 * Reads what mem0's `get_all` answers, as JSON: `{"results": […]}`, pages of its platform, or the bare list
 * of older versions.
 */
export async function* readMem0(source: Source): AsyncGenerator<Imported | Skipped> {
  const json = await source.json();
  const bare = listOf(json);
  const pages = pagesOf(json, "results")?.flatMap(({ results }) => listOf(results) ?? []);
  const memories = (pages ?? bare)?.map(objectOf);
  if (!memories?.every((memory) => memory !== undefined && "memory" in memory && "id" in memory)) {
    throw otherFormat("what mem0's get_all answers");
  }
  for (const memory of memories) {
    const facts = Object.fromEntries(FACTS.map((name) => [name, memory?.[name] as Json | undefined]));
    yield imported({
      ...{ program: "mem0", id: String(memory?.id), text: textOf(memory?.memory) },
      ...{ metadata: memory?.metadata, facts },
    });
  }
}
