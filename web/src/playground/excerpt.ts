import type { RecallResult } from "../api";

/** Returns the part of a memory's text that matched. */
export function excerpt({ text, match }: RecallResult): string {
  if (match === undefined) return text;
  return [...text].slice(match.start, match.end).join("");
}

export function isPart(result: RecallResult): boolean {
  return excerpt(result).length < result.text.length;
}
