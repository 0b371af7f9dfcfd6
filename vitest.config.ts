import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // On a machine that does much else, starting a linter or a model alone takes seconds.
    testTimeout: 20_000,
    // Starts nothing until a test asks for a MongoDB.
    globalSetup: ["test/support/mongo/setup.ts"],
  },
});
