import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { SIZES } from "../faults/sizes.js";

it("starts the fault tests outside of the test runner, and lists all parts", { timeout: 30_000 }, () => {
  const usage = execFileSync(process.execPath, ["--import", "tsx", "test/faults/run.ts", "--help"], {
    encoding: "utf8",
  });
  for (const part of Object.keys(SIZES)) expect(usage).toContain(part);
});
