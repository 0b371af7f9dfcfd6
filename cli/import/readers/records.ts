import type { Json, JsonObject } from "../../../src/memory/requests/metadata.js";
import type { Read, Source } from "../imported.js";
import {
  expiryOf,
  importEach,
  imported,
  listOf,
  located,
  objectOf,
  otherFormat,
  pagedIn,
  skip,
  textOf,
  timeIn,
  timeOf,
} from "./parts.js";

/** Members of mem0's memories, and of Supermemory's documents, that are neither text nor metadata. */
const MEMORY_FACTS = [
  "created_at",
  "updated_at",
  "user_id",
  "agent_id",
  "run_id",
  "actor_id",
  "role",
  "categories",
];
const DOCUMENT_FACTS = ["customId", "title", "type", "url", "containerTags", "createdAt", "updatedAt"];

/**
 * Reads what mem0's `get_all` answers, as JSON: `{"results": […]}`, pages of its platform, or the bare list
 * of older versions.
 */
export async function* readMem0(source: Source): AsyncGenerator<Read> {
  const json = await source.json();
  const memories = pagedIn(json, "results") ?? (Array.isArray(json) ? located(json, "$") : undefined);
  const isMem0 = memories?.length === 0 || memories?.some(({ value }) => "memory" in (objectOf(value) ?? {}));
  if (memories === undefined || !isMem0) throw otherFormat("what mem0's get_all answers");
  yield* importEach(memories, { program: "mem0", kind: "a memory" }, memoryOf);
  for (const { location } of pagedIn(json, "relations") ?? []) {
    yield skip("mem0", location, "relations of its graph are not taken");
  }
}

function memoryOf(memory: JsonObject) {
  const { id, metadata, created_at: createdAt, expiration_date: date } = memory;
  const expireTime = expiryOf(date);
  const isWrong = expireTime === undefined && date !== undefined && date !== null && date !== "";
  return {
    id,
    text: textOf(memory.memory),
    metadata,
    facts: pick(memory, MEMORY_FACTS),
    expireTime,
    eventTime: timeOf(createdAt),
    problem: isWrong && "its expiration_date is no date",
  };
}

/** Members of a payload in which programs keep the text: the first that is there counts. */
const TEXTS = ["text", "document", "page_content", "content", "memory", "data", "body"];

/**
 * Reads what Qdrant's `POST /collections/NAME/points/scroll` answers: `{"result": {"points": […]}}`, or a
 * list of such pages. The payload without the text becomes the metadata.
 */
export async function* readQdrant(source: Source): AsyncGenerator<Read> {
  const points = pagedIn(await source.json(), "result", "points");
  if (points === undefined) throw otherFormat("what Qdrant's scroll answers");
  yield* importEach(points, { program: "qdrant", kind: "a point" }, ({ id, payload }) => {
    const members = objectOf(payload) ?? {};
    return { id, ...parted(members), ...timeOfPoint(members) };
  });
}

/** Some programs keep a point's time beside its text, and some with the metadata in an object of their own. */
function timeOfPoint(payload: JsonObject) {
  return { ...timeIn(objectOf(payload.metadata) ?? {}), ...timeIn(payload) };
}

function parted(payload: JsonObject): { text: string | undefined; metadata: JsonObject } {
  const name = TEXTS.find((each) => textOf(payload[each]) !== undefined);
  if (name === undefined) return { text: undefined, metadata: payload };
  const { [name]: text, ...metadata } = payload;
  return { text: textOf(text), metadata };
}

/** Reads what Chroma's `collection.get()` answers, as JSON: a list of ids, and of documents and metadatas. */
export async function* readChroma(source: Source): AsyncGenerator<Read> {
  const got = objectOf(await source.json());
  const [ids, documents] = [listOf(got?.ids), listOf(got?.documents)];
  const metadatas = listOf(got?.metadatas);
  if (
    ids === undefined ||
    documents?.length !== ids.length ||
    (metadatas !== undefined && metadatas.length !== ids.length)
  ) {
    throw otherFormat("what Chroma's collection.get() answers, with its documents");
  }
  for (const [i, id] of ids.entries()) {
    yield imported({
      program: "chroma",
      location: `$.documents[${i}]`,
      id,
      text: textOf(documents[i]),
      metadata: metadatas?.[i],
      ...timeIn(objectOf(metadatas?.[i]) ?? {}),
    });
  }
}

/**
 * Reads what Supermemory's `POST /v3/documents/list` answers with `includeContent`: `{"memories": […]}`, or a
 * list of such pages. Of a document without content the summary is taken.
 */
export async function* readSupermemory(source: Source): AsyncGenerator<Read> {
  const documents = pagedIn(await source.json(), "memories");
  if (documents === undefined) throw otherFormat("what Supermemory's documents list answers");
  yield* importEach(documents, { program: "supermemory", kind: "a document" }, (document) => ({
    id: document.id,
    metadata: document.metadata,
    facts: pick(document, DOCUMENT_FACTS),
    eventTime: timeOf(document.createdAt),
    text: textOf(document.content) ?? textOf(document.summary),
  }));
}

function pick(record: JsonObject, names: readonly string[]): Record<string, Json | undefined> {
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}
