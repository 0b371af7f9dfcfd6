import type { JsonObject } from "@bufbuild/protobuf";

/** The object that a JSON text says; nothing for a blank one; what is wrong with it, as a sentence. */
export function parseMetadata(json: string): JsonObject | undefined | string {
  if (json.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : "It must be an object: {…}";
  } catch (error) {
    return `This is not JSON yet: ${(error as Error).message}`;
  }
}
