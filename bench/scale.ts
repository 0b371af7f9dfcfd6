import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { machine } from "./machine.js";

// Measures the log and the indexes at large sizes: one namespace of many memories, and many namespaces of
// few. Vectors are those of real sentences with noise added, written straight to the log. Each phase runs in
// its own process, so that memory and start-up are its own.
//
//   npm run bench:scale -- [--memories 1000000] [--namespaces 10000] [--keep]

const PHASES = fileURLToPath(new URL("./scale-phases.ts", import.meta.url));
const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const memories = option("memories", 1_000_000);
const namespaces = option("namespaces", 10_000);
const folder = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "recalld-scale-"));

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
  phase("unbuilt", "one", memories, 1);
  phase("fill", "many", 100, namespaces);
  phase("visit", "many", 100, namespaces);
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
    },
  );
  if (endsBy ? signal !== endsBy : status !== 0) throw new Error(`${name} ended with ${status ?? signal}`);
}
