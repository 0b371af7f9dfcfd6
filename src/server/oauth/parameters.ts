import { invalid } from "../../errors.js";
import { readQuery } from "../wire/query.js";

/** Parameters of a request, each once. */
export type Parameters = Readonly<Partial<Record<string, string>>>;

/** Reads a query or a form. @throws MemoryError `invalid_argument` for a name that comes twice (RFC 6749, 3.1). */
export function parametersIn(text: string): Parameters {
  const found = new Map<string, string>();
  for (const [name, value] of readQuery(`?${text}`)) {
    if (found.has(name)) throw invalid("query", "has a parameter twice");
    // One without a value counts as left out.
    if (value !== "") found.set(name, value);
  }
  return Object.fromEntries(found);
}
