import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Besides packages. */
const OWN = ["package.json", "LICENSE", "dist/src", "dist/cli", "dist/clients", "dist/gen", "dist/web"];
const MODEL = "models/bundled";
/** Of the model what is read, and its card, which has the licence. */
const MODEL_FILES = ["README.md", "config.json", "onnx", "tokenizer.json", "tokenizer_config.json"];
const NEVER_RUN = /^dist\/(cli|clients|gen|src)\/.*\.(map|d\.ts)$/;

/** Paths of what the repository at `root` itself gives a server, once it is built. */
export function ownFiles(root) {
  const paths = [...OWN, ...MODEL_FILES.map((name) => `${MODEL}/${name}`)];
  return paths.flatMap((path) => filesOf(root, path)).filter((file) => !NEVER_RUN.test(file));
}

/** The file itself, or all in a folder, but for `node_modules`: what is there are packages of their own. */
export function filesOf(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  const names = readdirSync(join(root, path)).filter((name) => name !== "node_modules");
  return names.flatMap((name) => filesOf(root, `${path}/${name}`));
}
