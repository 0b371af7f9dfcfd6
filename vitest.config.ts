import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import SlowestFirst from "./test/support/slowest-first.js";

// These compare how fast a server answers, alone and under load: the other tests' load would decide.
const TIMED = ["flood", "largest", "long-stores"].map((name) => `test/e2e/${name}.test.ts`);

export default defineConfig({
  test: {
    // On a machine that does much else, starting a linter or a model alone takes seconds.
    testTimeout: 20_000,
    // Stopping a server and removing a folder with thousands of files take seconds there, too.
    hookTimeout: 60_000,
    sequence: { sequencer: SlowestFirst },
    // Starts nothing until a test asks for a MongoDB.
    globalSetup: ["test/support/mongo/setup.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...TIMED],
          // Many tests wait, for a server or a pause, as long as they work: two workers on two cores are idle a fifth
          // of the time.
          maxWorkers: Math.max(3, availableParallelism() - 1),
        },
      },
      {
        extends: true,
        test: { name: "alone", include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
