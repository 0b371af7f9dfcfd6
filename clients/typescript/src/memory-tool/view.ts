import type { MemoryFile } from "./files.js";
import { isWithin, noSuchPath, ROOT } from "./paths.js";

const NUMBER_WIDTH = 6;
const KIBI = 1024;
/** Levels below a directory that are listed. */
const LEVELS = 2;

/** Shows a file with line numbers, or what a directory holds. */
export function view(files: readonly MemoryFile[], path: string, range?: readonly number[]): string {
  const file = files.find((each) => each.path === path);
  if (file !== undefined) {
    return `Here's the content of ${path} with line numbers:\n${numbered(file.text.split("\n"), range)}`;
  }
  const inside = files.filter((each) => isWithin(each.path, path));
  if (inside.length === 0 && path !== ROOT) throw noSuchPath(path);
  const head = `Here're the files and directories up to ${LEVELS} levels deep in ${path}`;
  const entries = [...sizes(inside, path)].sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = entries.map(([name, bytes]) => `${size(bytes)}\t${name}`);
  return `${head}, excluding hidden items and node_modules:\n${lines.join("\n")}`;
}

/** Numbers lines, all or those from the first to the last of a range; -1 is the end. */
export function numbered(lines: readonly string[], [from = 1, to = -1]: readonly number[] = []): string {
  const begin = Math.max(1, from) - 1;
  const selected = lines.slice(begin, to === -1 ? lines.length : to);
  return selected.map((line, n) => `${String(begin + n + 1).padStart(NUMBER_WIDTH)}\t${line}`).join("\n");
}

/** Adds up what each file and directory holds, in bytes. */
function sizes(files: readonly MemoryFile[], root: string): Map<string, number> {
  const found = new Map([[root, 0]]);
  for (const { path, text } of files) {
    const parts = path.slice(root.length + 1).split("/");
    if (parts.some((part) => part.startsWith(".") || part === "node_modules")) continue;
    const bytes = new TextEncoder().encode(text).length;
    for (let level = 0; level <= Math.min(LEVELS, parts.length); level++) {
      // A directory has a slash at its end, but for the one that is shown.
      const isDirectory = level > 0 && level < parts.length;
      const name = [root, ...parts.slice(0, level)].join("/") + (isDirectory ? "/" : "");
      found.set(name, (found.get(name) ?? 0) + bytes);
    }
  }
  return found;
}

function size(bytes: number): string {
  if (bytes < KIBI) return `${bytes}B`;
  const [value, unit] = bytes < KIBI * KIBI ? [bytes / KIBI, "K"] : [bytes / KIBI / KIBI, "M"];
  return `${value.toFixed(1)}${unit}`;
}
