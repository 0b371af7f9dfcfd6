// node scripts/build-web.js: builds the portal into dist/web, if what it is made of has changed since.
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const BUILT = "dist/web/index.html";
const MADE_OF = ["web", "gen", "package-lock.json"];

if (!isFresh()) {
  const { status } = spawnSync("npm", ["run", "-s", "build:web"], { stdio: ["ignore", "ignore", "inherit"] });
  process.exit(status ?? 1);
}

function isFresh() {
  const built = statSync(BUILT, { throwIfNoEntry: false });
  return built !== undefined && MADE_OF.every((path) => newest(path) < built.mtimeMs);
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
