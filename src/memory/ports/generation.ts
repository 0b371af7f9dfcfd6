/**
 * A model generation of a database: the vectors of one model. It is part of a log's id: the first model's
 * logs are named `<random>`, a later model's `<random>x<model generation>`. A log and its copies in other
 * model generations share the random part, and their entries share their numbers.
 */
export type Generation = string;

/** Model generation of a database's first model. */
export const FIRST_GENERATION: Generation = "";

/** Separator: no hexadecimal digit, and without meaning in file names and database keys. */
const MARK = "x";

export function generationOf(logId: string): Generation {
  return logId.split(MARK)[1] ?? FIRST_GENERATION;
}

/** Answers the id of the same log in another model generation. */
export function inGeneration(logId: string, generation: Generation): string {
  const base = baseOf(logId);
  return generation === FIRST_GENERATION ? base : `${base}${MARK}${generation}`;
}

/** Answers the part of a log's id that it shares with its copies. */
export function baseOf(logId: string): string {
  return logId.split(MARK, 1)[0] as string;
}
