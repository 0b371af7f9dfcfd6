import { describe, expect, it } from "vitest";
import { simulate } from "./simulation.js";

/** Number of schedules. The long form (`npm run test:faults`) sets 100,000. */
const SCHEDULES = Number(process.env.SIMULATED_SCHEDULES ?? 1200);
const FIRST = Number(process.env.SIMULATED_FIRST ?? 1);

describe("the domain under random schedules", () => {
  it(`loses, doubles, mixes and resurrects nothing in ${SCHEDULES} schedules`, {
    timeout: 7_200_000,
  }, async () => {
    for (let seed = FIRST; seed < FIRST + SCHEDULES; seed++) {
      await simulate({ seed }).catch((error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
      });
    }
  });

  it.runIf(FIRST === 1).each([
    ["goes on after a number that was taken", { unordered: true }],
    ["answers a read with what was true before", { staleReads: true }],
  ])("is seen to fail over a database that %s", { timeout: 120_000 }, async (_, mistakes) => {
    let failure: Error | undefined;
    for (let seed = 1; seed <= 200 && failure === undefined; seed++) {
      await simulate({ seed, mistakes }).catch((error: Error) => {
        failure = error;
      });
    }
    expect(failure).toBeDefined();
  });
});
