import type { JsonObject } from "../../memory/input/metadata.js";
import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, pagesOf, textOf } from "./parts.js";

/** Members of a payload in which programs keep the text: the first that is there counts. */
const TEXTS = ["text", "document", "page_content", "content", "memory", "data", "body"];

/**
 * Reads what Qdrant's `POST /collections/NAME/points/scroll` answers: `{"result": {"points": […]}}`, or a
 * list of such pages. The payload without the text becomes the metadata.
 */
export async function* readQdrant(source: Source): AsyncGenerator<Imported | Skipped> {
  const json = await source.json();
  const results = (listOf(json) ?? [json]).map((page) => objectOf(page)?.result);
  const pages = pagesOf(results, "points");
  if (pages === undefined) throw otherFormat("what Qdrant's scroll answers");
  for (const point of pages.flatMap(({ points }) => listOf(points) ?? [])) {
    const { id, payload } = objectOf(point) ?? {};
    yield imported({ program: "qdrant", id: String(id), ...parted(objectOf(payload) ?? {}) });
  }
}

function parted(payload: JsonObject): { text: string | undefined; metadata: JsonObject } {
  const name = TEXTS.find((each) => textOf(payload[each]) !== undefined);
  if (name === undefined) return { text: undefined, metadata: payload };
  const { [name]: text, ...metadata } = payload;
  return { text: textOf(text), metadata };
}
