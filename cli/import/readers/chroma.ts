import type { Read, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, textOf } from "./parts.js";

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
      ...{ program: "chroma", place: `$.documents[${i}]`, id, text: textOf(documents[i]) },
      metadata: metadatas?.[i],
    });
  }
}
