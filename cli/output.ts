import { LONG_FIELDS } from "../clients/typescript/src/contract.js";
import { inColumns } from "../src/admin/show.js";

/** Columns of a table, with how each is shown. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Characters of a text that a table shows. */
const CELL_CHARS_MAX = 72;

export interface Output {
  readonly json?: boolean;
}

/** Prints an answer: as the server gave it for programs, or as the lines for people. */
export function print({ json }: Output, answer: object, lines: () => readonly string[]): void {
  if (json) console.log(JSON.stringify(asGiven(answer), null, 2));
  else for (const line of lines()) console.log(line);
}

/** Takes back what the client made of an answer's JSON: other names, and numbers of what JSON has as strings. */
export function asGiven(answer: object): unknown {
  const { requestId, replayed, ...given } = answer as Record<string, unknown>;
  return toWire(given);
}

function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      if (typeof inner === "number" && LONG_FIELDS.includes(field)) return [field, String(inner)];
      // Keys of metadata are the caller's own.
      return [snakeCase(field), field === "metadata" ? inner : toWire(inner)];
    }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function tableOf<Row>(columns: Columns<Row>, rows: readonly Row[]): string[] {
  const cells = Object.values(columns);
  return inColumns([Object.keys(columns), ...rows.map((row) => cells.map((cell) => cell(row)))]);
}

/** Formats a time for people: to the second. */
export function toTheSecond(time: string): string {
  return time.slice(0, 19);
}

/** Shortens a text to one line of a table. Characters that control a terminal, or turn its lines around, go. */
export function short(value = ""): string {
  const line = value.replace(/[\p{Cc}\p{Bidi_C}\s]+/gu, " ").trim();
  const characters = [...line];
  return characters.length <= CELL_CHARS_MAX ? line : `${characters.slice(0, CELL_CHARS_MAX - 1).join("")}…`;
}
