import { invalid } from "../../errors.js";
import { count } from "./count.js";

export const EXTERNAL_ID_BYTES_MAX = 256;

/** Parses a caller's own id: 1–256 bytes of UTF-8, no control characters; undefined if it is empty. */
export function parseExternalId(value: string): string | undefined {
  const bytes = new TextEncoder().encode(value).length;
  if (bytes === 0) return undefined;
  if (bytes > EXTERNAL_ID_BYTES_MAX) {
    throw invalid("external_id", `is ${count(bytes)} bytes; the limit is ${EXTERNAL_ID_BYTES_MAX}`);
  }
  if (!value.isWellFormed()) throw invalid("external_id", "is not well-formed Unicode (a lone surrogate)");
  if (/\p{Cc}/u.test(value)) throw invalid("external_id", "has a control character");
  return value;
}
