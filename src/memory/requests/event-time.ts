import { invalid } from "../../errors.js";

/** Times that RFC 3339 can write: the beginning of the year 1, and the end of the year 9999. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** Parses a time in milliseconds since 1970, which must be within the years 1 to 9999; undefined if there is none. */
export function parseTimeOfYears(field: string, atMs: number | undefined): number | undefined {
  if (atMs === undefined || (atMs >= FIRST_MS && atMs <= LAST_MS)) return atMs;
  throw invalid(field, "is not a time from the year 1 to the year 9999");
}
