import { existsSync } from "node:fs";

const folder = new URL("../../dist/src/embedding/", import.meta.url);

/** Imports a compiled module, because Vitest does not compile worker.ts for the threads. */
async function built(file: string): Promise<unknown> {
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
