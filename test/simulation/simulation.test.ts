import { describe, expect, it } from "vitest";
import { type Setup, simulate } from "./simulation.js";

/** The long form (`npm run test:faults`) sets 100,000. */
const SCHEDULES = Number(process.env.SIMULATED_SCHEDULES ?? 2000);
const FAULTS = { lost: 0.03, unanswered: 0.03, late: 0.02, twice: 0.03 };
const setup = (seed: number): Setup => ({ seed, replicas: 3, operations: 24, faults: FAULTS });

describe("the log under random schedules", () => {
  it(`loses, doubles and resurrects nothing in ${SCHEDULES} schedules of three replicas`, {
    timeout: 3_600_000,
  }, async () => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      await simulate(setup(seed)).catch((error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
      });
    }
  });

  it(`loses, doubles, mixes and resurrects nothing while the model changes in ${SCHEDULES} schedules`, {
    timeout: 3_600_000,
  }, async () => {
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      await simulate({ ...setup(seed), operations: 32, moving: true }).catch((error) => {
        throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
      });
    }
  });

  it.each([
    ["goes on behind a number that was taken", { unordered: true }],
    ["answers a read with what was true before", { staleReads: true }],
  ])("is seen to fail over a database that %s", async (_, mistakes) => {
    const failures = [];
    for (let seed = 1; seed <= 200; seed++) {
      await simulate({ ...setup(seed), mistakes }).catch((error: Error) => failures.push(error.message));
    }
    expect(failures.length).toBeGreaterThan(0);
  });
});
