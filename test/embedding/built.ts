import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";

const folder = new URL("../../dist/src/embedding/", import.meta.url);
const { TEST_MAIN } = process.env;

/**
 * Imports a compiled module, because Vitest does not compile worker.ts for the threads. That of the bundle of
 * `scripts/test.js` starts them in half the time.
 */
async function built(file: string): Promise<unknown> {
  if (TEST_MAIN) return createRequire(TEST_MAIN)(`./${basename(file, ".js")}.cjs`);
  const url = new URL(file, folder);
  if (!existsSync(url)) throw new Error(`${url.pathname} is not there: build first (npx tsc -p .)`);
  return import(url.href);
}

export const { openEmbedder } = (await built("open.js")) as typeof import("../../src/embedding/open.js");
export const { startThread } = (await built(
  "pool/thread.js",
)) as typeof import("../../src/embedding/pool/thread.js");
export const { pullModel } = (await built(
  "models/pull.js",
)) as typeof import("../../src/embedding/models/pull.js");
