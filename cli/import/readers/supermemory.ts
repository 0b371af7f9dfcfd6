import type { Json } from "../../../src/memory/input/metadata.js";
import type { Read, Source } from "../imported.js";
import { imported, objectOf, otherFormat, pagedIn, skip, textOf } from "./parts.js";

/** Members of a document that say where it comes from. */
const FACTS = ["customId", "title", "type", "url", "containerTags", "createdAt", "updatedAt"];

/**
 * Reads what Supermemory's `POST /v3/documents/list` answers with `includeContent`: `{"memories": […]}`, or a
 * list of such pages. Of a document without content the summary is taken.
 */
export async function* readSupermemory(source: Source): AsyncGenerator<Read> {
  const documents = pagedIn(await source.json(), "memories");
  if (documents === undefined) throw otherFormat("what Supermemory's documents list answers");
  for (const { value, place } of documents) {
    const document = objectOf(value);
    if (document === undefined) {
      yield skip("supermemory", place, "it is not a document");
      continue;
    }
    const facts = Object.fromEntries(FACTS.map((name) => [name, document[name] as Json | undefined]));
    yield imported({
      ...{ program: "supermemory", place, id: document.id, metadata: document.metadata, facts },
      text: textOf(document.content) ?? textOf(document.summary),
    });
  }
}
