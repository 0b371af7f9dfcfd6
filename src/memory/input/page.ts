import { invalid } from "../../errors.js";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;

/** What a page token stands for: the list it belongs to, and where in it to go on. */
export type PagePosition = readonly [list: "memories" | "namespaces", ...where: string[]];

/** A token that only this program reads. */
export function pageToken(place: PagePosition): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Where a token of this list says to go on, in as many words as it was given; undefined without one. */
export function parsePageToken(
  token: string,
  [list, words]: [PagePosition[0], number],
): string[] | undefined {
  if (token === "") return undefined;
  const place = decode(token);
  const where = place.slice(1);
  // Only what `pageToken` makes comes out of it again.
  if (place[0] !== list || where.length !== words || pageToken([list, ...where]) !== token) throw badToken();
  return where;
}

/** How many to return at most: 1–100, 50 when left out. */
export function parsePageSize(value: number | undefined): number {
  if (value === undefined) return PAGE_SIZE_DEFAULT;
  if (!Number.isInteger(value) || value < 1 || value > PAGE_SIZE_MAX) {
    throw invalid("page_size", `is ${value}; it must be a whole number from 1 to ${PAGE_SIZE_MAX}`);
  }
  return value;
}

export function badToken() {
  return invalid("page_token", "is none that this list gave; leave it out to begin anew");
}

function decode(token: string): string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (Array.isArray(place) && place.every((word) => typeof word === "string")) return place;
  } catch {
    // Not JSON: not of ours either.
  }
  throw badToken();
}
