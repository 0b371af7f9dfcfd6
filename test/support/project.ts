import { type Entry, hasText, hasVectors, type Projection } from "../../src/memory/ports/log.js";

/** Reduces an entry to the requested parts. */
export function project<W extends Projection>(entry: Entry, projection: W): Entry<W> {
  if (entry.op !== "store") return entry;
  const { text, metadata, vectors, windows, ...header } = entry;
  return {
    ...header,
    ...(hasText(projection) && { text, metadata }),
    ...(hasVectors(projection) && { vectors, ...(windows && { windows }) }),
  } as Entry<W>;
}
