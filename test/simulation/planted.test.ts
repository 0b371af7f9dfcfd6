import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { MISTAKES, type Mistake } from "./mistakes.js";

const ROOT = join(import.meta.dirname, "../..");
/** Number of schedules after which a mistake counts as not found. */
const SCHEDULES_MAX = 1000;

const run = promisify(execFile);
const copies: string[] = [];
afterEach(() => {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true });
});

/** Copies the code of the simulation and plants the mistake in it. */
function plant({ changes }: Mistake): string {
  const copy = mkdtempSync(join(tmpdir(), "recalld-planted-"));
  copies.push(copy);
  for (const folder of [
    "src",
    "test/simulation",
    "test/memory/plain-index.ts",
    "test/memory/unsaved-indexes.ts",
    "test/support/seen.ts",
    "package.json",
  ]) {
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  for (const [file, from, to] of changes) {
    const path = join(copy, "src", file);
    const source = readFileSync(path, "utf8");
    expect(source.split(from), `${file} holds once: ${from}`).toHaveLength(2);
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
  }
  return copy;
}

describe("the simulation finds that", () => {
  it.each(MISTAKES)("$what", { timeout: 600_000 }, async (mistake) => {
    const copy = plant(mistake);
    const seeds = [SCHEDULES_MAX, ...(mistake.seed === undefined ? [] : [mistake.seed])].map(String);
    const program = [join(copy, "test/simulation/find-fault.ts"), ...seeds];
    const { stdout } = await run(process.execPath, ["--import", "tsx", ...program], { cwd: copy });
    expect(stdout).toMatch(/^\d+ ./);
    console.log(`after ${stdout.trim()}: ${mistake.what}`);
  });
});
