import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { ROOT } from "../support/documents.js";

/** Packing and installing take minutes on a machine that does much else. */
const TIMEOUT_MS = 400_000;
/** The most that one package may have. */
const PACKAGE_BYTES_MAX = 40e6;
const READY = /address +(http:\S+)/;
const FACT = "Ada keeps the spare key under the blue flowerpot.";

const folder = mkdtempSync(join(tmpdir(), "recalld-empty-"));
const env: NodeJS.ProcessEnv = { ...process.env, RECALLD_PROFILE: join(folder, "profile.json") };
/** Durations of the steps in seconds, in the order in which they were taken. */
const steps = new Map<string, number>();
const started: ChildProcess[] = [];

/** The package's dependencies are npm's to fetch, and nothing stands in for them. */
const registry = spawnSync("npm", ["view", "lmdb", "version"], { cwd: folder });
const because = registry.status === 0 ? "" : " (npm reaches no registry)";

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const begunMs = performance.now();
  const done = await work();
  steps.set(name, (performance.now() - begunMs) / 1000);
  return done;
}

/** Runs a program in the folder, or another one, to its end. Returns its output. */
async function run(command: string, args: readonly string[], cwd = folder): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${out}${err}`);
  return out;
}

/** Runs the installed program, and no other. */
const recalld = (...args: string[]) => run("npx", ["--no-install", "recalld", ...args]);

/** Starts the server by the same name. Returns its address once it is ready. */
async function serve(): Promise<string> {
  const own = { PORT: "0", DATA_DIR: join(folder, "data"), EMBED_WORKERS: "1" };
  // In a group of its own: npx is between this process and the server.
  const options = { cwd: folder, env: { ...env, ...own }, detached: true } as const;
  const child = spawn("npx", ["--no-install", "recalld"], options);
  started.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  return new Promise((resolve, reject) => {
    child.stdout.on("data", () => {
      const [, address] = READY.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once("close", () => reject(new Error(said)));
  });
}

afterAll(async () => {
  for (const { pid } of started) if (pid !== undefined) process.kill(-pid, "SIGKILL");
  await rm(folder, { recursive: true, force: true });
}, TIMEOUT_MS);

describe.skipIf(because !== "")(`the package in an empty folder${because}`, () => {
  test("is packed, installed and served, and recalls what it is told", { timeout: TIMEOUT_MS }, async () => {
    const packed = join(folder, "packages");
    await step("`node scripts/pack.js`", () => run("node", ["scripts/pack.js", packed], ROOT));
    const files = readdirSync(packed).filter((name) => name.endsWith(".tgz"));
    expect(files).toEqual([
      expect.stringMatching(/^recalld-[\d.]+\.tgz$/),
      expect.stringMatching(/^recalld-onnxruntime-\w+-\w+-[\d.]+\.tgz$/),
    ]);
    for (const file of files) expect(statSync(join(packed, file)).size).toBeLessThan(PACKAGE_BYTES_MAX);
    const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
    await step("`npm install`", () => run("npm", [...install, ...files.map((file) => join(packed, file))]));
    // Whose scripts download at install, and what is never called.
    const installed = readdirSync(join(folder, "node_modules"));
    expect(installed.filter((name) => /^(onnxruntime-(node|web)|sharp)$/.test(name))).toEqual([]);
    env.RECALLD_URL = await step("`npx recalld`", serve);
    await step("`npx recalld signup`", () => recalld("signup"));
    await step("`npx recalld store`", () => recalld("store", FACT));
    const found = await step("`npx recalld recall`", () => recalld("recall", "Where is the spare key?"));
    expect(found).toContain(FACT);
    expect(await recalld("mcp", "--help")).toContain("recalld mcp");
    const told = [...steps].map(([name, seconds]) => `${name.replaceAll("`", "")} ${seconds.toFixed(1)} s`);
    console.log(`from an empty folder: ${told.join(", ")}`);
  });
});
