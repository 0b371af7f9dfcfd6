import type { JsonObject } from "../../../src/memory/input/metadata.js";
import type { Read, Source } from "../imported.js";
import { imported, objectOf, otherFormat, pagedIn, skip, textOf } from "./parts.js";

/** Members of a payload in which programs keep the text: the first that is there counts. */
const TEXTS = ["text", "document", "page_content", "content", "memory", "data", "body"];

/**
 * Reads what Qdrant's `POST /collections/NAME/points/scroll` answers: `{"result": {"points": […]}}`, or a
 * list of such pages. The payload without the text becomes the metadata.
 */
export async function* readQdrant(source: Source): AsyncGenerator<Read> {
  const points = pagedIn(await source.json(), "result", "points");
  if (points === undefined) throw otherFormat("what Qdrant's scroll answers");
  for (const { value, place } of points) {
    const point = objectOf(value);
    if (point === undefined) yield skip("qdrant", place, "it is not a point");
    else yield imported({ program: "qdrant", place, id: point.id, ...parted(objectOf(point.payload) ?? {}) });
  }
}

function parted(payload: JsonObject): { text: string | undefined; metadata: JsonObject } {
  const name = TEXTS.find((each) => textOf(payload[each]) !== undefined);
  if (name === undefined) return { text: undefined, metadata: payload };
  const { [name]: text, ...metadata } = payload;
  return { text: textOf(text), metadata };
}
