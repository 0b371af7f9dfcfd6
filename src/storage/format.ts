import { failedPrecondition } from "../errors.js";
import { VERSION } from "../version.js";

/** Format of all records. A program reads and writes this one alone, so each change to a record raises it. */
const FORMAT = 6;

/** The record by which a database or a backup says its format, and the program that created it. */
export interface Format {
  readonly format: number;
  readonly program: string;
}

/** The record of what this program creates. */
export const OUR_FORMAT: Format = { format: FORMAT, program: VERSION };

/**
 * Expects the format of this program.
 *
 * @param what The database or the backup, as the error names it.
 * @throws MemoryError `failed_precondition` if the record is missing or names another format.
 */
export function expectOurFormat(what: string, found: Partial<Format> | null | undefined): void {
  const { format, program } = found ?? {};
  if (format === FORMAT) return;
  const other =
    typeof format === "number" ? `of format ${format}, by recalld ${program}` : "of an earlier format";
  throw failedPrecondition(
    `${what} is ${other}; this is recalld ${VERSION}, which uses format ${FORMAT} alone: export the memories ` +
      "with the program that wrote them (recalld export), and import them into a new database (recalld import)",
  );
}
