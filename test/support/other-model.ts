import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { packageRoot } from "../../src/embedding/models/locate.js";
import { program } from "./program.js";
import { newDataDir } from "./server.js";

export const OTHER_MODEL = "test/other";

/** First word of the vocabulary that differs from others only by its number. */
const WORDS_FROM = 2000;
const SHIFT = 7919;

/**
 * Makes a models folder with a model whose vectors have nothing in common with the bundled one's: the same
 * network, but each word of its vocabulary stands for another one.
 */
export function otherModelsDir(model = OTHER_MODEL): string {
  const modelsDir = newDataDir();
  const folder = join(modelsDir, model);
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(join(packageRoot(), "models", "bundled"), folder, { recursive: true });
  const path = join(folder, "tokenizer.json");
  const tokenizer = JSON.parse(readFileSync(path, "utf8"));
  const words = Object.entries(tokenizer.model.vocab as Record<string, number>);
  const count = words.length - WORDS_FROM;
  tokenizer.model.vocab = Object.fromEntries(
    words.map(([word, id]) => [
      word,
      id < WORDS_FROM ? id : WORDS_FROM + ((id - WORDS_FROM + SHIFT) % count),
    ]),
  );
  writeFileSync(path, JSON.stringify(tokenizer));
  return modelsDir;
}

/** Makes a program whose bundled model is the one in a models folder, as an earlier release has another. Returns its main.js. */
export function earlierRelease(modelsDir: string): string {
  const [root, folder] = [packageRoot(), newDataDir()];
  for (const copied of ["package.json", "dist"])
    cpSync(join(root, copied), join(folder, copied), { recursive: true });
  symlinkSync(modelsDir, join(folder, "models"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return join(folder, relative(root, program("main")));
}
