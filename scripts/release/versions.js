// node scripts/release/versions.js [VERSION]: checks that all that is released has this version, or else package.json's.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path) => readFileSync(join(ROOT, path), "utf8");
const field = (path, ...keys) => keys.reduce((value, key) => value?.[key], JSON.parse(read(path)));
const line = (path, pattern) => pattern.exec(read(path))?.[1];

const { version } = JSON.parse(read("package.json"));
const wanted = argv[2] ?? version;
const found = {
  "package.json": version,
  "src/version.ts": line("src/version.ts", /VERSION = "(.*)"/),
  "clients/typescript/package.json": field("clients/typescript/package.json", "version"),
  "clients/python/pyproject.toml": line("clients/python/pyproject.toml", /^version = "(.*)"$/m),
  "deploy/helm/recalld/Chart.yaml, version": line("deploy/helm/recalld/Chart.yaml", /^version: (.*)$/m),
  "deploy/helm/recalld/Chart.yaml, appVersion": line(
    "deploy/helm/recalld/Chart.yaml",
    /^appVersion: "(.*)"$/m,
  ),
  "deploy/mcpb/manifest.json": field("deploy/mcpb/manifest.json", "version"),
  "server.json": field("server.json", "version"),
  "server.json, its package": field("server.json", "packages", 0, "version"),
  "plugins/recalld/.claude-plugin/plugin.json": field(
    "plugins/recalld/.claude-plugin/plugin.json",
    "version",
  ),
  "plugins/recalld/.codex-plugin/plugin.json": field("plugins/recalld/.codex-plugin/plugin.json", "version"),
  Dockerfile: line("Dockerfile", /image\.version="(.*)"/),
};
const others = Object.entries(found).filter(([, each]) => each !== wanted);
for (const [where, each] of others) console.error(`${where} has the version ${each}, not ${wanted}`);
if (others.length > 0) exit(1);
console.log(wanted);
