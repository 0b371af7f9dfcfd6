import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import SlowestFirst from "./test/support/slowest-first.js";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // On a machine that does much else, starting a linter or a model alone takes seconds.
    testTimeout: 20_000,
    // Many tests wait, for a server or a pause, as long as they work: two workers on two cores are idle a fifth of the
    // time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: SlowestFirst },
    // Starts nothing until a test asks for a MongoDB.
    globalSetup: ["test/support/mongo/setup.ts"],
  },
});
