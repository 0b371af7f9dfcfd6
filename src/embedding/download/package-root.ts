import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Finds the folder of the nearest package.json above, the same one from src/ and from dist/src/. */
export function packageRoot(from = fileURLToPath(import.meta.url)): string {
  const folder = dirname(from);
  if (folder === from) throw new Error("no package.json above the program's files");
  return existsSync(join(folder, "package.json")) ? folder : packageRoot(folder);
}
