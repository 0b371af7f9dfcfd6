import { count, invalid } from "../../errors.js";

export const TEXT_BYTES_MAX = 65_536;

/** Parses a text or a query: not blank, at most 65,536 bytes of UTF-8, well-formed Unicode. */
export function parseText(field: string, value: string): string {
  if (value === "") throw invalid(field, "is missing");
  const bytes = Buffer.byteLength(value);
  if (bytes > TEXT_BYTES_MAX) {
    throw invalid(field, `is ${count(bytes)} bytes; the limit is ${count(TEXT_BYTES_MAX)}`);
  }
  if (!value.isWellFormed()) throw invalid(field, "is not well-formed Unicode (a lone surrogate)");
  if (value.trim() === "") throw invalid(field, "is blank");
  return value;
}
