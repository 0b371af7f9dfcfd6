import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "vite";
import { afterEach, describe, expect, it } from "vitest";
import { MISTAKES, type Mistake } from "./mistakes.js";

const ROOT = join(import.meta.dirname, "../..");
/** Number of schedules after which a mistake counts as not found. */
const SCHEDULES_MAX = 1000;

const run = promisify(execFile);
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Bundles the simulation with the mistake planted in it, and returns the program. */
async function plant({ changes }: Mistake): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "recalld-planted-"));
  folders.push(folder);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const planted = new Map<string, string>();
  for (const [file, from, to] of changes) {
    const path = join(ROOT, "src", file);
    const source = planted.get(path) ?? readFileSync(path, "utf8");
    expect(source.split(from), `${file} holds once: ${from}`).toHaveLength(2);
    planted.set(
      path,
      source.replace(from, () => to),
    );
  }
  const missing = new Set(planted.keys());
  const load = (path: string) => {
    missing.delete(path);
    return planted.get(path);
  };
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "error",
    publicDir: false,
    ssr: { target: "node" },
    plugins: [{ name: "planted", enforce: "pre", load }],
    build: {
      ssr: "test/simulation/find-fault.ts",
      target: "node20",
      minify: false,
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: "find-fault.mjs" } },
    },
  });
  expect(missing, "the simulation runs what was planted").toEqual(new Set());
  return join(folder, "find-fault.mjs");
}

describe("the simulation finds that", () => {
  it.each(MISTAKES)("$what", { timeout: 600_000 }, async (mistake) => {
    const program = await plant(mistake);
    const seeds = [SCHEDULES_MAX, ...(mistake.seed === undefined ? [] : [mistake.seed])].map(String);
    const { stdout } = await run(process.execPath, [program, ...seeds]);
    expect(stdout).toMatch(/^\d+ ./);
    console.log(`after ${stdout.trim()}: ${mistake.what}`);
  });
});
