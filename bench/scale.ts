import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { machine } from "./machine.js";
import { keepScale, type ScaleFigure } from "./scale/results.js";

// Measures the log and the indexes at large sizes: one namespace of many memories, and many namespaces of
// few. Vectors are those of real sentences with noise added, and texts are made up of words as unevenly common as
// those of a language; both are written straight to the log. Each phase runs in its own process, so that memory
// and start-up are its own. A run of the whole size keeps its figures in
// bench/scale.json, and docs/performance.md shows one of them the next time that it is written.
//
//   npm run bench -- scale [--memories 1000000] [--namespaces 10000] [--keep]

const PHASES = fileURLToPath(new URL("./scale-phases.ts", import.meta.url));
const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const MEMORIES = 1_000_000;
const NAMESPACES = 10_000;
const memories = option("memories", MEMORIES);
const namespaces = option("namespaces", NAMESPACES);
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-scale-"));
/** Each phase adds its figures to this file, a line of JSON for each. */
const figuresFile = join(folder, "figures");

console.log(
  `${memories.toLocaleString("en-US")} memories in one namespace; ${namespaces.toLocaleString("en-US")} namespaces of 100`,
);
console.log(`${machine()}\n`);
try {
  phase("fill", "one", memories, 1);
  phase("rebuild", "one", memories, 1);
  phase("restart", "one", memories, 1);
  // The phase ends its process as kill -9 does.
  phase("forget", "one", memories, 1, "SIGKILL");
  phase("killed", "one", memories, 1);
  phase("words", "one", memories, 1);
  phase("unbuilt", "one", memories, 1);
  phase("fill", "many", 100, namespaces);
  phase("visit", "many", 100, namespaces);
  if (memories === MEMORIES && namespaces === NAMESPACES) save();
} finally {
  if (!process.argv.includes("--keep")) rmSync(folder, { recursive: true, force: true });
}

function phase(
  name: string,
  database: string,
  perNamespace: number,
  count: number,
  endsBy?: NodeJS.Signals,
): void {
  const args = [name, join(folder, database), String(perNamespace), String(count)];
  const { status, signal } = spawnSync(
    process.execPath,
    ["--import", "tsx", "--expose-gc", PHASES, ...args],
    {
      stdio: "inherit",
      env: { ...process.env, FIGURES_FILE: figuresFile },
    },
  );
  if (endsBy ? signal !== endsBy : status !== 0) throw new Error(`${name} ended with ${status ?? signal}`);
}

function save(): void {
  const lines = readFileSync(figuresFile, "utf8").trim().split("\n");
  const figures = lines.map((line) => JSON.parse(line) as ScaleFigure);
  const date = new Date().toISOString().slice(0, 10);
  keepScale({ date, machine: machine(), memories, namespaces, figures });
}
