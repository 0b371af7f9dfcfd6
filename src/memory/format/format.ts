import { MemoryError } from "../../errors.js";

/** Format of a database without a mark. */
export const OLDEST_FORMAT = 1;

/** Format of a database's records, as all programs that share it see it. */
export interface Format {
  /** Version of all records; during a migration, some are in the next one. */
  readonly version: number;
  /** Minimum version that a program must know to read and write them. */
  readonly readersMin: number;
  /** The version of the program that raised it last. */
  readonly program: string;
  /** Progress of the migration to the next version. */
  readonly migration?: {
    readonly to: number;
    readonly begunAtMs: number;
    /** Position after which the next part begins; null at the beginning. */
    readonly cursor: string | null;
    /** The process that migrates, and the time until which it counts as alive, by the wall clock. */
    readonly lead: { readonly replica: string; readonly untilMs: number };
  };
}

/** A format and the number of its changes. */
export interface Marked {
  readonly format: Format;
  readonly revision: number;
}

/** The port to the mark of a database's format. Every adapter passes `test/contract/formats.ts`. */
export interface Formats {
  read(): Promise<Marked | undefined>;
  /** Reads the mark, after writing the given one as revision 1 if none existed. */
  mark(format: Format): Promise<Marked>;
  /** Writes `to` if the revision is still `from`; answers whether it did. */
  replace(of: { from: number; to: Format }): Promise<boolean>;
}

/** A program that reads a database. */
export interface Reader {
  /** The latest format that it reads and writes. */
  readonly known: number;
  /** Version of the program. */
  readonly program: string;
}

/**
 * Checks whether a program may use a database.
 *
 * @throws MemoryError `failed_precondition` if the database is too new for it.
 */
export async function admit(formats: Formats, reader: Reader): Promise<Format> {
  const format = await formatOf(formats, reader);
  const refusal = refusalOf(format, reader);
  if (refusal !== undefined) throw refusal;
  return format;
}

/** Reads the format of a database, and marks a database without a mark as the oldest format. */
export async function formatOf(formats: Formats, { program }: Reader): Promise<Format> {
  const oldest = { version: OLDEST_FORMAT, readersMin: OLDEST_FORMAT, program };
  return ((await formats.read()) ?? (await formats.mark(oldest))).format;
}

/** Answers why a program must not use a database of this format; undefined if it may. */
export function refusalOf(
  { version, readersMin, program: writer, migration }: Format,
  { known, program }: Reader,
): MemoryError | undefined {
  if (readersMin <= known) return undefined;
  const is =
    migration === undefined ? `is of format ${version}` : `is being raised to format ${migration.to}`;
  return new MemoryError(
    "failed_precondition",
    `the database ${is} by recalld ${writer}, and needs a program that knows format ${readersMin}; ` +
      `this is recalld ${program}, which knows format ${known}: start the newer one, or restore a backup from before`,
  );
}
