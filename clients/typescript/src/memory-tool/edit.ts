import { MemoryToolError } from "./paths.js";
import { numbered } from "./view.js";

/** Lines that a snippet shows before and after a change. */
const AROUND = 2;

/** Replaces a text that comes once. */
export function replaceOnce(path: string, text: string, { old, by }: { old: string; by: string }): string {
  const offsets = offsetsOf(old, text);
  const [offset] = offsets;
  if (offset === undefined) {
    throw new MemoryToolError(
      `No replacement was performed, old_str \`${old}\` did not appear verbatim in ${path}.`,
    );
  }
  if (offsets.length > 1) {
    const lines = offsets.map((each) => lineOf(text, each)).join(", ");
    throw new MemoryToolError(
      `No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines}. Please ensure it is unique`,
    );
  }
  return text.slice(0, offset) + by + text.slice(offset + old.length);
}

/** Shows the lines that a replacement made, and some around them. */
export function snippet(edited: string, by: string, before: string): string {
  const changed = firstDifference(before, edited);
  const first = lineOf(edited, changed);
  const last = first + by.split("\n").length - 1;
  return numbered(edited.split("\n"), [first - AROUND, last + AROUND]);
}

/** Inserts a text behind a line; 0 is the beginning. */
export function insertAfter(text: string, line: number, inserted: string): string {
  const lines = text.split("\n");
  if (!Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new MemoryToolError(
      `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  }
  return [...lines.slice(0, line), inserted.replace(/\n$/, ""), ...lines.slice(line)].join("\n");
}

function offsetsOf(old: string, text: string): number[] {
  const offsets: number[] = [];
  // An empty text is everywhere, which is nowhere.
  if (old === "") return offsets;
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + 1)) offsets.push(at);
  return offsets;
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return Math.min(at, other.length);
}
