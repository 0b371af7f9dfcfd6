import type { Json } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, pagesOf, textOf } from "./parts.js";

/** Members of a document that say where it comes from. */
const FACTS = ["customId", "title", "type", "url", "containerTags", "createdAt", "updatedAt"];

/**
 * Reads what Supermemory's `POST /v3/documents/list` answers with `includeContent`: `{"memories": […]}`, or a
 * list of such pages. Of a document without content the summary is taken.
 */
export async function* readSupermemory(source: Source): AsyncGenerator<Imported | Skipped> {
  const pages = pagesOf(await source.json(), "memories");
  if (pages === undefined) throw otherFormat("what Supermemory's documents list answers");
  for (const each of pages.flatMap(({ memories }) => listOf(memories) ?? [])) {
    const document = objectOf(each) ?? {};
    const facts = Object.fromEntries(FACTS.map((name) => [name, document[name] as Json | undefined]));
    yield imported({
      ...{ program: "supermemory", id: String(document.id), metadata: document.metadata, facts },
      text: textOf(document.content) ?? textOf(document.summary),
    });
  }
}
