import { MemoryError } from "../../errors.js";

/** Of a database that says nothing about its format. */
export const OLDEST_FORMAT = 1;

/** In which form a database's records are, as all programs that share it see it. */
export interface Format {
  /** All records are in this one; while it is being raised, some are in the next. */
  readonly version: number;
  /** What a program must know at least to read and write them. */
  readonly readersMin: number;
  /** The version of the program that raised it last. */
  readonly program: string;
  /** How far the next one is. */
  readonly migration?: {
    readonly to: number;
    readonly begunAtMs: number;
    /** Behind which the next part begins; null at the beginning. */
    readonly cursor: string | null;
    /** Who does it, and until when that one is taken for alive, by the wall clock. */
    readonly lead: { readonly replica: string; readonly untilMs: number };
  };
}

/** A format and how often it was changed. */
export interface Marked {
  readonly format: Format;
  readonly revision: number;
}

/** The port to the mark of a database's format. Every adapter passes `test/contract/formats.ts`. */
export interface Formats {
  read(): Promise<Marked | undefined>;
  /** The mark, which is the given one, of revision 1, if there was none. */
  mark(format: Format): Promise<Marked>;
  /** Keeps `to` if the revision is still `from`; answers whether it did. */
  replace(of: { from: number; to: Format }): Promise<boolean>;
}

/** What a program knows. */
export interface Reader {
  /** The latest format that it reads and writes. */
  readonly known: number;
  /** Its own version. */
  readonly program: string;
}

/**
 * Whether a program may use a database.
 *
 * @throws MemoryError `failed_precondition` when the database is too new for it.
 */
export async function admit(formats: Formats, reader: Reader): Promise<Format> {
  const format = await formatOf(formats, reader);
  const refusal = refusalOf(format, reader);
  if (refusal !== undefined) throw refusal;
  return format;
}

/** The format of a database, which is the oldest, and is marked so, when it says nothing. */
export async function formatOf(formats: Formats, { program }: Reader): Promise<Format> {
  const oldest = { version: OLDEST_FORMAT, readersMin: OLDEST_FORMAT, program };
  return ((await formats.read()) ?? (await formats.mark(oldest))).format;
}

/** Why a program must not use a database of this format; undefined when it may. */
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
