import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { driftsOf, slope } from "../../bench/soak/drift.js";
import { type SoakResults, withSoak } from "../../bench/soak/page.js";
import type { Sample } from "../../bench/soak/subject.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const run = promisify(execFile);

/** Makes samples of a server that holds this much at each second, plus a constant amount. */
function samplesOf(partAt: (second: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 361 }, (_, i) => ({
    seconds: i * 5,
    ownBytes: 200e6,
    heapUsedBytes: 50e6,
    descriptors: 40,
    resources: 20,
    delayP99Ms: 10,
    delayMaxMs: 20,
    ...partAt(i * 5),
  }));
}

const rising = (samples: readonly Sample[]) =>
  driftsOf(samples)
    .filter(({ flat }) => !flat)
    .map(({ name }) => name);

describe("what is flat", () => {
  test("is what stays, whatever noise there is, and how it began", () => {
    const noise = (i: number) => ((i * 7919) % 13) - 6;
    const samples = samplesOf((second) => ({
      ownBytes: 200e6 + noise(second) * 5e6 - (second < 300 ? (300 - second) * 3e5 : 0),
      descriptors: 40 + (second % 35 === 0 ? 12 : 0),
      delayP99Ms: second % 50 === 0 ? 500 : 10 + noise(second),
    }));
    expect(rising(samples)).toEqual([]);
  });

  test("is not memory that rises by a tenth in half an hour", () => {
    expect(rising(samplesOf((second) => ({ ownBytes: 200e6 + (second / 1800) * 30e6 })))).toEqual([
      "Memory (its own)",
    ]);
  });

  test("is not one descriptor that leaks every five minutes", () => {
    expect(rising(samplesOf((second) => ({ descriptors: 40 + Math.floor(second / 300) })))).toEqual([
      "File descriptors",
    ]);
  });

  test("is not a delay that grows with the time", () => {
    expect(rising(samplesOf((second) => ({ delayP99Ms: 10 + second / 100 })))).toEqual([
      "Event-loop delay, p99",
    ]);
  });

  test("is judged by a slope that peaks do not move", () => {
    expect(slope([0, 1, 2, 3, 4, 5].map((x) => [x, x === 3 ? 1000 : 2 * x] as const))).toBeCloseTo(2, 5);
  });
});

describe("the soak", () => {
  test.skipIf(process.platform !== "linux")(
    "runs for half a minute, fails no call, and finds no handle left over (Linux only: it reads /proc)",
    async () => {
      const soak = run("npx", ["tsx", "bench/soak.ts", "--minutes", "0.5"], { cwd: ROOT, timeout: 150_000 });
      const { stdout, stderr, code } = await soak.then(
        (said) => ({ ...said, code: 0 }),
        (error) => error as { stdout: string; stderr: string; code: number },
      );
      expect(code, `${stdout}\n${stderr}`).toBe(0);
      expect(stdout).toMatch(/^flat {2}File descriptors/m);
      expect(stdout).toMatch(/^flat {2}Active resources/m);
    },
    180_000,
  );

  test.skipIf(!existsSync(join(ROOT, "bench/soak.json")))("is shown as bench/soak.json has it", () => {
    const results = JSON.parse(read("bench/soak.json")) as SoakResults;
    const page = read("docs/performance.md");
    expect(withSoak(page, results)).toBe(page);
    expect(results.minutes).toBeGreaterThanOrEqual(30);
    expect(driftsOf(results.samples).every(({ flat }) => flat)).toBe(true);
    expect(withSoak(page, { ...results, calls: results.calls + 1 })).not.toBe(page);
  });
});
