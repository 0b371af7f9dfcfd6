// node scripts/build-web.js: builds the portal and the docs into dist/web, if what they are made of has changed since.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const PORTAL = "dist/web/index.html";
const PORTAL_MADE_OF = [
  "web",
  "gen",
  "clients/typescript/src",
  "clients/typescript/package.json",
  "package-lock.json",
];
const DOCS = "dist/web/docs/index.html";
const DOCS_MADE_OF = ["scripts/docs", ...JSON.parse(readFileSync("scripts/docs/made-of.json", "utf8"))];

if (!isFresh(PORTAL, PORTAL_MADE_OF)) run("build:web");
else if (!isFresh(DOCS, DOCS_MADE_OF)) run("build:docs");

function run(script) {
  const { status } = spawnSync("npm", ["run", "-s", script], { stdio: ["ignore", "ignore", "inherit"] });
  process.exit(status ?? 1);
}

function isFresh(file, madeOf) {
  const built = statSync(file, { throwIfNoEntry: false });
  return built !== undefined && madeOf.every((path) => newest(path) < built.mtimeMs);
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
