import { inColumns } from "../operator/show.js";
import type { Json } from "./client.js";

/** Columns of a table, with how each is shown. */
export type Columns = Readonly<Record<string, (row: Json) => string>>;

/** Characters of a text that a table shows. */
const SHOWN_MAX = 72;

export interface Output {
  readonly json?: boolean;
}

/** Prints an answer: as it is for programs, or as the lines for people. */
export function print({ json }: Output, answer: unknown, lines: () => readonly string[]): void {
  if (json) console.log(JSON.stringify(answer, null, 2));
  else for (const line of lines()) console.log(line);
}

/** Makes a table of rows, with the columns' names above. */
export function tableOf(columns: Columns, rows: readonly Json[]): string[] {
  const names = Object.keys(columns);
  return inColumns([names, ...rows.map((row) => names.map((name) => columns[name]?.(row) ?? ""))]);
}

/** Shortens a text to one line of a table. Characters that control a terminal, or turn its lines around, go. */
export function short(value: unknown): string {
  const line = String(value ?? "")
    .replace(/[\p{Cc}\p{Bidi_C}\s]+/gu, " ")
    .trim();
  const characters = [...line];
  return characters.length <= SHOWN_MAX ? line : `${characters.slice(0, SHOWN_MAX - 1).join("")}…`;
}
