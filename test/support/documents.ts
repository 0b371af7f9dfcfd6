import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** The repository's root. */
export const ROOT = join(import.meta.dirname, "../..");
export const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Text of every source file, by path. */
export const sources = new Map(
  readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .map((path) => [path, read(path)]),
);

/** Every document that is written for this repository's readers. */
export const documents = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Returns the text under a heading, down to the next heading of its level. */
export function section(path: string, heading: string): string {
  const [, rest] = read(path).split(new RegExp(`^${heading}$`, "m"));
  if (rest === undefined) throw new Error(`${path} has no "${heading}"`);
  const rank = heading.split(" ", 1)[0];
  return rest.split(new RegExp(`^${rank} `, "m"))[0] as string;
}

/** Returns the rows of the first table in a text, without its head. */
export function rows(text: string): string[][] {
  const table = /(?:^\|.*\n)+/m.exec(text)?.[0] ?? "";
  const cells = (line: string) => line.split("|").slice(1, -1);
  return table
    .trim()
    .split("\n")
    .slice(2)
    .map((line) => cells(line).map((cell) => cell.trim()));
}

/** Returns the items of a list whose subjects are code: the subject, what is in brackets after it, and what follows. */
export const items = (text: string) =>
  [...text.matchAll(/^- `([^`]+)`(?: \((.*?)\))?:? (.*)$/gm)].map(([, ...parts]) => parts);

export const unquoted = (cell = "") => cell.replaceAll("`", "");
/** Lists the texts between backticks. */
export const quoted = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);
/** Lists the code blocks of a language. */
export const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, code]) => code as string,
  );
