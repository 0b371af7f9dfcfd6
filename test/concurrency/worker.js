import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { handleCalls, Transferred } from "../../dist/src/concurrency/worker-handlers.js";

// The thread of the tests of `WorkerClient`.
let calls = 0;
handleCalls({
  add: ({ a, b }) => a + b,
  count: () => ++calls,
  data: () => workerData,
  after: async ({ ms }) => {
    await sleep(ms);
    return ms;
  },
  block: ({ ms }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  },
  fail: ({ code }) => {
    throw Object.assign(new Error("no space left"), { code });
  },
  die: () => {
    setImmediate(() => {
      throw new Error("a fault of the thread");
    });
    return sleep(60_000);
  },
  give: ({ length }) => {
    const array = new Float32Array(length).fill(1);
    return new Transferred(array, [array.buffer]);
  },
  take: ({ array }) => array.length,
});
