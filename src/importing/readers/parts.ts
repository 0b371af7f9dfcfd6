import { isObject, type Json, type JsonObject } from "../../memory/input/metadata.js";
import { type Imported, NotThatFormat, type Skipped } from "../imported.js";

/** Member of a memory's metadata that says where it comes from. */
export const ORIGIN = "imported_from";

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Refuses a file of another kind. */
export function otherFormat(expected: string): NotThatFormat {
  return new NotThatFormat(`the file is not ${expected}`);
}

/** Splits what was fetched page by page: a page, or a list of pages, each with a list under this name. */
export function pagesOf(json: unknown, list: string): readonly JsonObject[] | undefined {
  const pages = (listOf(json) ?? [json]).map(objectOf);
  const isPage = (page: JsonObject | undefined): page is JsonObject => listOf(page?.[list]) !== undefined;
  return pages.length > 0 && pages.every(isPage) ? (pages as JsonObject[]) : undefined;
}

export interface Described {
  readonly program: string;
  readonly id: string;
  readonly text: string | undefined;
  readonly metadata?: unknown;
  /** More about its origin; members that are missing or null are left out. */
  readonly facts?: Readonly<Record<string, Json | undefined>>;
}

/** Makes a memory of a text, its own metadata and its origin. */
export function imported({ program, id, text, metadata, facts = {} }: Described): Imported | Skipped {
  const sourceId = `${program} ${id}`;
  if (text === undefined) return { sourceId, skipped: "it has no text" };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
  const own = objectOf(metadata) ?? {};
  // A memory that had been imported before keeps where it came from then.
  const before = own[ORIGIN] === undefined ? {} : { [ORIGIN]: own[ORIGIN] };
  const origin: JsonObject = { program, id, ...(Object.fromEntries(known) as JsonObject), ...before };
  return { sourceId, text, metadata: { ...own, [ORIGIN]: origin } };
}
