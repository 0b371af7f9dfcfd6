import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

test.skipIf(process.platform !== "linux")(
  "the bench of recalls compares with the bare server, and shows what took the main thread's time (Linux only: it reads /proc)",
  async () => {
    const small = ["--memories", "60", "--callers", "4", "--seconds", "0.5", "--rounds", "1", "--profile"];
    const { stdout } = await run(process.execPath, ["--import", "tsx", "bench/recall.ts", ...small], {
      cwd: ROOT,
      timeout: 150_000,
    });
    const FIGURE = String.raw`([\d.,]+) \([^)]+\)`;
    const [ours, bare, over] = ["recalld", "bare", "recalld over bare"].map((name) =>
      new RegExp(`^${name} +${FIGURE} +${FIGURE}$`, "m").exec(stdout)?.slice(1).map(Number),
    ) as [number[], number[], number[]];
    for (const [i, ratio] of over.entries())
      expect(ratio / ((ours[i] as number) / (bare[i] as number)), stdout).toBeCloseTo(1, 1);
    const [parts = "", functions = ""] = stdout.split("Heaviest functions");
    for (const part of ["Node", "Fastify", "Protobuf", "src/server/listen"])
      expect(parts).toMatch(new RegExp(String.raw`^ +[\d.]+ %  ${part}$`, "m"));
    const shares = [...parts.matchAll(/^ +([\d.]+) % {2}/gm)].map(([, share]) => Number(share));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, -1);
    expect(functions.match(/ % {2}/g)).toHaveLength(25);
    expect(stdout).not.toContain("(idle)");
  },
  180_000,
);

test.skipIf(process.platform !== "linux")("the bench of recalls refuses a wrong number", async () => {
  const wrong = run(process.execPath, ["--import", "tsx", "bench/recall.ts", "--callers", "none"], {
    cwd: ROOT,
  });
  await expect(wrong).rejects.toThrow("--callers is none; it must be a number above 0");
});
