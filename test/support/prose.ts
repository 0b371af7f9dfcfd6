import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Node's own descriptions of its modules: unlike this project's documents, they stay as they are. */
const FOLDER = join(ROOT, "node_modules/@types/node");

/** Returns different sentences that people wrote, always the same ones. */
export function prose(count: number): string[] {
  const found = new Set(documents().flatMap((path) => sentencesOf(readFileSync(path, "utf8"))));
  if (found.size < count) throw new Error(`there are only ${found.size} sentences`);
  return [...found].slice(0, count);
}

function documents(): string[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".d.ts"));
  return names.sort().map((name) => join(FOLDER, name));
}

/** Finds plain sentences: no code, tables, links or headings. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/```.*?```/gs, "\n\n")
    .replace(/^\s*\* ?(?:@\w+.*)?/gm, "")
    .split(/(?<=[.!?])\s+|\n\s*\n/)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => /^[A-Z][^<>[\]{}|=;_]{30,250}\.$/.test(sentence));
}
