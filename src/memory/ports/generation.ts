/**
 * The vectors of one model are an edition of the database. Which one a log holds is in its name: an
 * incarnation of the first model is `<random>`, one of a later model `<random>x<edition>`. A log and
 * its copies in other editions share the random part, and their entries share their numbers.
 */
export type Edition = string;

/** Of the model that a database began with. */
export const FIRST_EDITION: Edition = "";

/** No hexadecimal digit, and nothing that means something in a file's name or a database's key. */
const MARK = "x";

export function editionOf(incarnation: string): Edition {
  return incarnation.split(MARK)[1] ?? FIRST_EDITION;
}

/** The name of the same log in another edition. */
export function inEdition(incarnation: string, edition: Edition): string {
  const base = baseOf(incarnation);
  return edition === FIRST_EDITION ? base : `${base}${MARK}${edition}`;
}

/** What a log has in common with its copies. */
export function baseOf(incarnation: string): string {
  return incarnation.split(MARK, 1)[0] as string;
}
