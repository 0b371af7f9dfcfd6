/** Writes to the given folder until the disk is full, then frees space, and reports the outcomes. */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { openLocal } from "../../../src/storage/local/open.js";
import { aMemory, entriesOf } from "../samples.js";

/** Size below the database's at that time. A larger file is a full disk to this process. */
const FULL_BYTES = 300_000;
const MORE_WRITES = 500;
const SPACE_TIMEOUT_MS = 20_000;

const { log, check, close } = await openLocal({ dataDir: process.argv[2] as string });
const logId = "full";
const text = "x".repeat(20_000);
const append = (from: number) => log.append({ logId, from, entries: [aMemory({ text })] });
const limit = (bytes: string) =>
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);

let kept = 0;
while (kept < 50) kept += await append(kept + 1);
limit(String(FULL_BYTES));
const error = await untilRefused();
const wellWhileFull = await isWell();
const begunMs = performance.now();
let refused = 0;
for (let i = 0; i < MORE_WRITES; i++) await append(kept + 1).catch(() => refused++);
const refusedMs = performance.now() - begunMs;
const read = await entriesOf(log, { logId, from: 1, limit: kept + 9 });
limit("unlimited");
for (const fromMs = performance.now(); !(await isWell()); await sleep(50)) {
  if (performance.now() - fromMs > SPACE_TIMEOUT_MS) throw new Error("it did not notice that there is room");
}
const after = await append(kept + 1);
await close();
const { code, message } = error;
console.log(
  JSON.stringify({ code, message, kept, read: read.length, wellWhileFull, refused, refusedMs, after }),
);

async function untilRefused(): Promise<Error & { code?: string }> {
  try {
    for (;;) kept += await append(kept + 1);
  } catch (error) {
    return error as Error;
  }
}

function isWell(): Promise<boolean> {
  return check().then(
    () => true,
    () => false,
  );
}
