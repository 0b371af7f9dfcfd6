import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextIteration, setTimeout as sleep } from "node:timers/promises";
import { listRecentCalls, readShares } from "../src/accounts/calls/read-calls.js";
import { openCallRecorder } from "../src/accounts/calls/record-calls.js";
import { hashKey } from "../src/accounts/key.js";
import { signUp } from "../src/accounts/sign-up.js";
import { openLocal } from "../src/storage/local/open.js";
import { machine, mainThreadMs, timed } from "./machine.js";

// Measures what the record of calls costs: the main thread's processor time for each recorded recall, less
// that of the same loop without a record, and the time to read a full record.

const RECORDS = 10_000;
const CALLS_PER_TICK = 10;
const TICK_MS = 10;

const dataDir = mkdtempSync(join(tmpdir(), "recalld-bench-calls-"));
const storage = await openLocal({ dataDir });
const { accounts, names } = storage;
const { account, key } = await signUp({ accounts, signUp: "open", freeCalls: 1 }, { email: "" });
const caller = { accountId: account.id, keyHash: hashKey(key), access: "full" as const };
const [{ id: keyId } = { id: "" }] = account.keys;

async function recordAll(max: number): Promise<number> {
  const options = { accounts, names, days: 30, max, onLost: fail, onTrouble: fail };
  const recorder = openCallRecorder(storage.calls, options);
  const beforeMs = mainThreadMs(process.pid);
  for (let i = 0; i < RECORDS; i++) {
    const call = { ...caller };
    recorder.count(call, { call: "recall", tokens: 12 });
    recorder.note(call, {
      accountId: account.id,
      keyId,
      method: "recalld.v1.MemoryService/Recall",
      protocol: "json",
      namespace: `namespace-${i % 40}`,
      code: "ok",
      atMs: Date.now(),
      ms: 4.2,
      requestId: "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
    });
    if (i % CALLS_PER_TICK === 0) await sleep(TICK_MS);
  }
  await recorder.close();
  return mainThreadMs(process.pid) - beforeMs;
}

function fail(problem: unknown): void {
  throw new Error("a record was lost or not written", { cause: problem });
}

const withoutMs = await recordAll(0);
const withMs = await recordAll(RECORDS);
const recorder = openCallRecorder(storage.calls, {
  accounts,
  names,
  days: 30,
  max: RECORDS,
  onLost: fail,
  onTrouble: fail,
});
let [longestMs, isReading] = [0, true];
const watching = watchIterations();
const beforeMs = mainThreadMs(process.pid);
const shares = await timed(() => readShares(recorder, account, caller));
const sharesMs = mainThreadMs(process.pid) - beforeMs;
const errors = { caller, pageSize: 50, pageToken: "", filter: { errorsOnly: true } };
const failed = await timed(() => listRecentCalls({ accounts, calls: recorder }, errors));
isReading = false;
await watching;
await recorder.close();
await storage.close();
rmSync(dataDir, { recursive: true });

console.log(`\n${RECORDS} recalls recorded, local database\n${machine()}\n`);
const line = (name: string, ms: number) => console.log(`${name.padEnd(52)}${ms.toFixed(3).padStart(9)} ms`);
line("main thread for each recorded recall", (withMs - withoutMs) / RECORDS);
line(`usage by key and namespace, over ${shares.value.keys[0]?.recalls} records`, shares.ms);
line("main thread for that", sharesMs);
line(`failed calls, none among ${RECORDS}`, failed.ms);
line("longest piece of these on the main thread", longestMs);

/** Measures the processor time of the main thread in each iteration of the event loop. */
async function watchIterations(): Promise<void> {
  while (isReading) {
    const startMs = mainThreadMs(process.pid);
    await nextIteration();
    longestMs = Math.max(longestMs, mainThreadMs(process.pid) - startMs);
  }
}
