import type { Json, Metadata } from "../clients/typescript/src/index.js";
import { UsageError } from "./failure.js";
import { lostIn, parseJson } from "./import/readers/json.js";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * Parses a value that is JSON.
 *
 * @throws UsageError if it is none, or if a number in it would come back as another.
 */
export function jsonGiven(option: string, json: string): Json {
  const value = parsed(option, json);
  const lost = lostIn(value);
  if (lost === undefined) return value as Json;
  const number = Number(lost);
  throw new UsageError(
    Number.isFinite(number)
      ? `${option} has the number ${lost}, which would come back as ${number}; give it as a string`
      : `${option} has the number ${lost}, which is not finite`,
  );
}

function parsed(option: string, json: string): unknown {
  try {
    return parseJson(json);
  } catch (error) {
    throw new UsageError(`${option} is not JSON: ${(error as Error).message}`);
  }
}

/** Parses a filter, which is a JSON object. */
export function filterGiven(json: string): Metadata {
  const filter = jsonGiven("--filter", json);
  if (typeof filter === "object" && filter !== null && !Array.isArray(filter)) return filter as Metadata;
  throw new UsageError('--filter must be a JSON object, such as \'{"source": "mail"}\'');
}

/** Parses a duration, such as `90s`, `1h30m` or `7d`, as the API takes it: in seconds. */
export function durationGiven(given: string): string {
  const parts = [...given.matchAll(/(\d+(?:\.\d{1,9})?)([smhdw])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== given) {
    throw new UsageError(`${JSON.stringify(given)} is no duration: give one such as 90s, 1h or 7d`);
  }
  const seconds = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit as string] ?? 0),
    0,
  );
  return `${Number(seconds.toFixed(9))}s`;
}

/** Makes a parser of an option that takes one of some words, in any letter case. */
export function choiceOf(option: string, choices: readonly string[]) {
  return (given: string): string => {
    const choice = choices.find((each) => each === given.toLowerCase());
    if (choice !== undefined) return choice.toUpperCase();
    throw new UsageError(
      `${option} ${given}: it must be ${choices.join(", ").replace(/, (\w+)$/, " or $1")}`,
    );
  };
}

/** Makes a parser of an option that takes a number. */
export function numberOf(option: string) {
  return (given: string): number => {
    const value = Number(given);
    if (given.trim() === "" || !Number.isFinite(value))
      throw new UsageError(`${option} ${given}: it must be a number`);
    return value;
  };
}
