// node scripts/production-tree.js TARGET, after `npm ci` and `npm run build`.
//
// Copies what a server on this system needs into the folder TARGET, which must not be there yet: the program,
// its portal, the bundled model, and of the packages only what is ever loaded. Says what that saves.
import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { filesOf, ownFiles } from "./production/files.js";
import { openPackages } from "./production/packages.js";
import { LEFT_OUT, STAND_INS, whyLeftOut } from "./production/rules.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** For the image. */
const HEALTH = join(ROOT, "scripts/production/health.js");

const [target] = argv.slice(2);
if (target === undefined || existsSync(target)) {
  console.error("usage: node scripts/production-tree.js TARGET (a folder that is not there yet)");
  exit(1);
}

for (const file of ownFiles(ROOT)) copy(file);
copyFileSync(HEALTH, join(target, "health.js"));
report(copyPackages());

/** Copies the packages; answers the bytes of what is left out, by reason, and of what is kept. */
function copyPackages() {
  const { dependencies, reachable } = openPackages(ROOT);
  const needed = reachable(dependencies, LEFT_OUT);
  const system = thisSystem();
  const saved = new Map();
  const tally = (why, file) => saved.set(why, (saved.get(why) ?? 0) + statSync(join(ROOT, file)).size);
  const unneeded = `packages that are never called: ${LEFT_OUT.join(", ")}, and what only they need`;
  for (const folder of reachable(dependencies)) {
    for (const file of filesOf(ROOT, folder)) {
      const why = needed.has(folder) ? whyLeftOut(file, system) : unneeded;
      if (why === undefined) copy(file);
      tally(why, file);
    }
  }
  for (const [name, code] of Object.entries(STAND_INS)) {
    const folder = join(target, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, version: "0.0.0" })}\n`);
    writeFileSync(join(folder, "index.js"), code);
  }
  return saved;
}

function copy(file) {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  copyFileSync(join(ROOT, file), join(target, file));
}

function thisSystem() {
  const { glibcVersionRuntime } = process.report.getReport().header;
  const libc = glibcVersionRuntime === undefined ? "musl" : "glibc";
  return { platform: process.platform, arch: process.arch, libc, abi: process.versions.modules };
}

function report(saved) {
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1).padStart(7)} MB`;
  const kept = saved.get(undefined);
  saved.delete(undefined);
  for (const [why, bytes] of saved) console.log(`${megabytes(bytes)} left out: ${why}`);
  console.log(`${megabytes(kept)} of packages kept`);
}
