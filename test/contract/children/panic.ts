/** Makes a write of the header fail while others wait, and reports what they and the next ones are told. */
import { join } from "node:path";
import { MemoryError } from "../../../src/errors.js";
import { openLocal } from "../../../src/storage/local/open.js";
import { breakHeaderWrites } from "../../support/break-header-writes.js";
import { aMemory } from "../samples.js";

const WAITING = 20;
const dataDir = process.argv[2] as string;
const { log, close } = await openLocal({ dataDir });
const append = (logId: string) => log.append({ logId, from: 1, entries: [aMemory()] });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error) => (error instanceof MemoryError ? error.code : String(error)),
  );
await append("before");
breakHeaderWrites(join(dataDir, "recalld.mdb"));
const begunMs = performance.now();
const waiting: Promise<string>[] = [];
for (let i = 0; i < WAITING; i++) {
  waiting.push(codeOf(append(`waiting-${i}`)));
  // Others are on their way when the first one fails.
  await new Promise(setImmediate);
}
const codes = await Promise.all(waiting);
const next = await codeOf(append("next"));
const closed = await codeOf(close());
console.log(JSON.stringify({ codes, next, closed, ms: performance.now() - begunMs }));
