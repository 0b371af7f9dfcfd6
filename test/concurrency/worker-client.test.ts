import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished, vi } from "vitest";
// Worker threads run compiled code only, which `npm test` builds first.
import { WorkerClient } from "../../dist/src/concurrency/worker-client.js";
import type { WorkerOptions } from "../../src/concurrency/worker-client.js";
import type { Transferred } from "../../src/concurrency/worker-handlers.js";

// Threads start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

interface Message {
  add: (input: { a: number; b: number }) => number;
  count: () => number;
  data: () => unknown;
  after: (input: { ms: number }) => Promise<number>;
  block: (input: { ms: number }) => void;
  fail: (input: { code: string }) => void;
  die: () => Promise<void>;
  give: (input: { length: number }) => Transferred<Float32Array>;
  take: (input: { array: Float32Array }) => number;
}

const script = new URL("./worker.js", import.meta.url);

function open(options: Partial<WorkerOptions> = {}) {
  const client = new WorkerClient<{ [N in keyof Message]: Message[N] }>({ script, name: "test", ...options });
  onTestFinished(() => client.close());
  return client;
}

it("a call gets the result of its own handler, whatever the order of the results", async () => {
  const client = open({ workerData: { input: "the test" } });
  expect(await client.call("data", undefined)).toEqual({ input: "the test" });
  const slow = client.call("after", { ms: 50 });
  const order: string[] = [];
  void slow.then(() => order.push("slow"));
  expect(await client.call("add", { a: 1, b: 2 })).toBe(3);
  order.push("quick");
  expect(await slow).toBe(50);
  expect(order).toEqual(["quick", "slow"]);
  expect(client.pending).toBe(0);
});

it("memory is handed over in place of being copied, in both directions", async () => {
  const client = open();
  const array = new Float32Array(1000);
  expect(await client.call("take", { array }, { transfer: [array.buffer] })).toBe(1000);
  expect(array.length).toBe(0);
  expect(await client.call("give", { length: 3 })).toEqual(Float32Array.of(1, 1, 1));
});

it("an error of a handler reaches its call with message and code, and the thread goes on", async () => {
  const client = open();
  const failed = client.call("fail", { code: "ENOSPC" });
  await expect(failed).rejects.toMatchObject({ message: "no space left", code: "ENOSPC" });
  expect(await client.call("add", { a: 1, b: 2 })).toBe(3);
});

it("a message that cannot be sent fails alone", async () => {
  const client = open();
  const unsendable = { array: (() => {}) as unknown as Float32Array };
  await expect(client.call("take", unsendable)).rejects.toThrow("could not be cloned");
  expect(client.pending).toBe(0);
  expect(await client.call("add", { a: 1, b: 2 })).toBe(3);
});

it("a thread that dies takes every pending call with it, and says why; its state is not replaced", async () => {
  const onLost = vi.fn();
  const client = open({ onLost });
  const calls = [client.call("die", undefined), client.call("after", { ms: 60_000 })];
  for (const { reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({
      name: "WorkerLostError",
      message: "the test thread was lost: a fault of the thread",
    });
  }
  expect(onLost).toHaveBeenCalledOnce();
  await expect(client.call("count", undefined)).rejects.toThrow("the test thread was lost");
});

it("a thread without state is replaced after a loss, whose late end harms no later call", async () => {
  const client = open({ idleMs: 60_000 });
  expect(await client.call("count", undefined)).toBe(1);
  const calls: Promise<number>[] = [];
  // The first thread has failed then and has not ended yet.
  await client.call("die", undefined).catch(() => calls.push(client.call("count", undefined)));
  expect(await calls[0]).toBe(1);
  expect(await client.call("count", undefined)).toBe(2);
});

it("a thread without state ends when it is idle, and the next call starts another", async () => {
  const client = open({ idleMs: 20 });
  expect(await client.call("count", undefined)).toBe(1);
  await client.ended;
  expect(await client.call("count", undefined)).toBe(1);
});

it("calls beyond the limit are unavailable, and those below it are not", async () => {
  const client = open({ callsMax: 2 });
  const waiting = [client.call("after", { ms: 20 }), client.call("after", { ms: 20 })];
  await expect(client.call("count", undefined)).rejects.toMatchObject({
    code: "unavailable",
    message: "2 calls wait for the test thread already",
  });
  await Promise.all(waiting);
  expect(await client.call("count", undefined)).toBe(1);
});

it("a stuck thread is lost after its time, and ends when it replies; the time begins when a call is the oldest", async () => {
  const client = open();
  await client.call("count", undefined);
  const before = Array.from({ length: 4 }, () => client.call("block", { ms: 300 }, { timeoutMs: 1000 }));
  await Promise.all(before);
  let hasEnded = false;
  const stuck = client.call("block", { ms: 600 }, { timeoutMs: 100 });
  void client.ended.then(() => {
    hasEnded = true;
  });
  await expect(stuck).rejects.toThrow("the test thread was lost: it did not answer within 100 ms");
  await sleep(50);
  expect(hasEnded).toBe(false);
  await client.ended;
});

it("closing fails what is pending and every later call, and starts no thread again", async () => {
  const client = open({ idleMs: 60_000 });
  const pending = client.call("after", { ms: 60_000 });
  const failed = expect(pending).rejects.toThrow("the test thread was closed");
  await client.close();
  await failed;
  await expect(client.call("count", undefined)).rejects.toThrow("the test thread was closed");
});

it("a pending call keeps the process alive, an idle thread does not", () => {
  const program = fileURLToPath(new URL("./alone.js", import.meta.url));
  const ran = spawnSync(process.execPath, [program], { timeout: 50_000 });
  expect(String(ran.stdout)).toBe("200");
  expect(ran.status).toBe(0);
});
