import type { JsonObject } from "@bufbuild/protobuf";
import { lostIn, parseForeignJson } from "../../../cli/import/readers/json.js";

/** Parses a JSON object. Returns undefined for a blank text, and a sentence with the problem for an invalid one. */
export function parseMetadata(json: string): JsonObject | undefined | string {
  if (json.trim() === "") return undefined;
  try {
    const value = parseForeignJson(json);
    const lost = lostIn(value);
    // The server would get another number, and could not tell.
    if (lost !== undefined) return `The number ${lost.literal} would come back as another: put it in quotes`;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : "It must be an object: {…}";
  } catch (error) {
    return `This is not valid JSON: ${(error as Error).message}`;
  }
}
