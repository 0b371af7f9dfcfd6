/**
 * The vectors of one model are a model generation of the database. Which one a log holds is in its name: an
 * log of the first model is `<random>`, one of a later model `<random>x<model generation>`. A log and
 * its copies in other model generations share the random part, and their entries share their numbers.
 */
export type Generation = string;

/** Of the model that a database began with. */
export const FIRST_GENERATION: Generation = "";

/** No hexadecimal digit, and nothing that means something in a file's name or a database's key. */
const MARK = "x";

export function generationOf(logId: string): Generation {
  return logId.split(MARK)[1] ?? FIRST_GENERATION;
}

/** The name of the same log in another model generation. */
export function inGeneration(logId: string, generation: Generation): string {
  const base = baseOf(logId);
  return generation === FIRST_GENERATION ? base : `${base}${MARK}${generation}`;
}

/** What a log has in common with its copies. */
export function baseOf(logId: string): string {
  return logId.split(MARK, 1)[0] as string;
}
