import { invalid, parseWhole } from "../../errors.js";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
}

/** Contents of a page token: the list it belongs to, and the position at which to continue. */
type PagePosition = readonly [list: List, ...where: string[]];

type List = "memories" | "oldest" | "event-newest" | "event-oldest" | "namespaces" | "updates";

/** Makes a page token, which only this program reads. */
export const pageToken: (place: PagePosition) => string = tokenOf;

/** Reads the words of a token of this list, which must be as many as stated; undefined without a token. */
export function parsePageToken(
  token: string,
  [list, words]: [PagePosition[0], number],
): string[] | undefined {
  if (token === "") return undefined;
  const [its, ...where] = listIn(token) ?? [];
  const isText = (word: unknown) => typeof word === "string";
  if (its !== list || where.length !== words || !where.every(isText)) throw badToken();
  return where as string[];
}

/** Parses the number of an entry in a page token. */
export function parsePlace(value: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(value ?? "")) throw badToken();
  return Number(value);
}

/** Parses the time of an entry in a page token, in milliseconds since 1970. */
export function parseTimePlace(value: string | undefined): number {
  if (!/^(0|-?[1-9]\d{0,14})$/.test(value ?? "")) throw badToken();
  return Number(value);
}

/** Parses the maximum number of items of a page: 1–100, default 50. */
export function parsePageSize(value = PAGE_SIZE_DEFAULT): number {
  return parseWhole("page_size", value, [1, PAGE_SIZE_MAX]);
}

export function badToken() {
  return invalid("page_token", "is none that this list gave; leave it out to begin anew");
}

/** Makes a token of a list, which only this program reads. */
export function tokenOf(list: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(list)).toString("base64url");
}

/** Reads the list in a token; undefined if the token is not exactly what `tokenOf` makes of it. */
export function listIn(token: string): readonly unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    return Array.isArray(list) && tokenOf(list) === token ? list : undefined;
  } catch {
    // What is not JSON is not one of ours.
    return undefined;
  }
}

const [FIRST, SECOND] = [0x811c9dc5, 0x01000193];

/** Makes a short word of a filter's key, for page tokens: two filters of one caller have different ones. */
export function digestOf(key: string): string {
  let [low, high] = [FIRST, SECOND];
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    high = Math.imul(high ^ unit, 0xc2b2ae35) ^ (low >>> 15);
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36);
}
