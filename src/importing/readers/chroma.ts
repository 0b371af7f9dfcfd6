import type { Imported, Skipped, Source } from "../imported.js";
import { imported, listOf, objectOf, otherFormat, textOf } from "./parts.js";

/** Reads what Chroma's `collection.get()` answers, as JSON: a list of ids, and of documents and metadatas. */
export async function* readChroma(source: Source): AsyncGenerator<Imported | Skipped> {
  const got = objectOf(await source.json());
  const [ids, documents] = [listOf(got?.ids), listOf(got?.documents)];
  if (ids === undefined || documents === undefined || ids.length !== documents.length) {
    throw otherFormat("what Chroma's collection.get() answers, with its documents");
  }
  const metadatas = listOf(got?.metadatas) ?? [];
  for (const [i, id] of ids.entries()) {
    yield imported({
      ...{ program: "chroma", id: String(id), text: textOf(documents[i]) },
      metadata: metadatas[i],
    });
  }
}
