// node scripts/build-client.js: builds clients/typescript into its dist, as ES modules and as CommonJS.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGE = `${ROOT}/clients/typescript`;

rmSync(`${PACKAGE}/dist`, { recursive: true, force: true });
for (const config of ["tsconfig.json", "tsconfig.cjs.json"]) {
  const args = [`${ROOT}/node_modules/typescript/bin/tsc`, "-p", `${PACKAGE}/${config}`];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
// The package's own type is "module"; the nearest package.json says what a file is.
writeFileSync(`${PACKAGE}/dist/cjs/package.json`, `${JSON.stringify({ type: "commonjs" })}\n`);

// Bundlers that do not know "exports", such as Metro before 0.82, look for a folder with the sub-path's name.
const { exports } = JSON.parse(readFileSync(`${PACKAGE}/package.json`, "utf8"));
for (const [path, { require }] of Object.entries(exports)) {
  if (path === "." || require === undefined) continue;
  mkdirSync(`${PACKAGE}/${path}`, { recursive: true });
  writeFileSync(`${PACKAGE}/${path}/package.json`, `${JSON.stringify({ main: `.${require}` })}\n`);
}
