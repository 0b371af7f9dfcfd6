import { count, invalid, type MemoryError } from "../../errors.js";

export const TEXT_BYTES_MAX = 65_536;

/** Parses a text or a query: not blank, at most 65,536 bytes of UTF-8, well-formed Unicode. */
export function parseText(field: string, value: string): string {
  if (value === "") throw invalid(field, "is missing");
  checkString(field, value, TEXT_BYTES_MAX);
  if (value.trim() === "") throw invalid(field, "is blank");
  return value;
}

/** Number of bytes of a text in UTF-8, also in browsers, where the portal's imports follow these rules. */
export function bytesOf(text: string): number {
  return typeof Buffer === "undefined" ? new TextEncoder().encode(text).length : Buffer.byteLength(text);
}

/** Expects well-formed Unicode, and at most so many bytes of UTF-8. @throws MemoryError `invalid_argument` */
export function checkString(field: string, value: string, bytesMax: number): void {
  const bytes = bytesOf(value);
  if (bytes > bytesMax) throw invalid(field, `is ${count(bytes)} bytes; the limit is ${count(bytesMax)}`);
  expectWellFormed(field, value);
}

export function expectWellFormed(field: string, value: string): void {
  if (!value.isWellFormed()) throw notWellFormed(field);
}

export function notWellFormed(field: string): MemoryError {
  return invalid(field, "is not well-formed Unicode (a lone surrogate)");
}
