import { createHash } from "node:crypto";
import { invalid, parseWhole } from "../../errors.js";

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 100;
const DIGEST_CHARS = 12;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string;
}

/** Reads the words of a token of this list, which must be as many as stated; undefined without a token. */
export function parsePageToken(token: string, list: string, words: number): string[] | undefined {
  if (token === "") return undefined;
  const [its, ...where] = listIn(token) ?? [];
  const isText = (word: unknown) => typeof word === "string";
  if (its !== list || where.length !== words || !where.every(isText)) throw badToken();
  return where as string[];
}

/** Parses the number of an entry in a page token. */
export function parseSequenceCursor(value: string | undefined): number {
  if (!/^[1-9]\d{0,14}$/.test(value ?? "")) throw badToken();
  return Number(value);
}

/** Parses the time of an entry in a page token, in milliseconds since 1970. */
export function parseTimeCursor(value: string | undefined): number {
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

/** Makes a token of a list: its name and the cursor at which to continue. Only this program reads it. */
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

/** Makes a short word of a filter's key, for page tokens: two filters of one caller have different ones. */
export function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, DIGEST_CHARS);
}
