import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const COMPILED = fileURLToPath(new URL("../../dist/src", import.meta.url));
/** Set by `scripts/test.js`, except for the tests that `vitest.config.ts` gives the programs as they are shipped. */
const { TEST_MAIN } = process.env;
const FOLDER = TEST_MAIN ? dirname(TEST_MAIN) : COMPILED;

/** Path of a program: in the bundle of `scripts/test.js`, or as it was compiled. */
export function program(name: "main" | "admin" | "model" | "recalld"): string {
  return join(FOLDER, `${name}.js`);
}
