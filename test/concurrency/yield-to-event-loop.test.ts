import { setImmediate as nextIteration } from "node:timers/promises";
import { expect, test } from "vitest";
import { FairQueue, yieldToEventLoop } from "../../src/concurrency/yield-to-event-loop.js";

/** Holds the thread for some time. */
function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {}
}

/** Counts the iterations of the event loop until some callers that wait have all worked. */
async function iterationsOf(callers: number, ms: number): Promise<{ iterations: number; order: number[] }> {
  let iterations = 0;
  let isOver = false;
  const count = () => {
    iterations++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const order: number[] = [];
  const waiting = Array.from({ length: callers }, async (_, i) => {
    await yieldToEventLoop();
    work(ms);
    order.push(i);
  });
  await Promise.all(waiting);
  isOver = true;
  return { iterations, order };
}

test("short pieces of work share an iteration, in their order", async () => {
  const { iterations, order } = await iterationsOf(200, 0.01);
  expect(iterations).toBeLessThan(20);
  expect(order).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

test("long pieces of work have an iteration each", async () => {
  const { iterations, order } = await iterationsOf(20, 6);
  expect(iterations).toBeGreaterThanOrEqual(19);
  expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test("who yields again and again leaves the others their turns", async () => {
  let turns = 0;
  let isOver = false;
  const busy = (async () => {
    while (!isOver) {
      await yieldToEventLoop();
      work(1);
      turns++;
    }
  })();
  await yieldToEventLoop();
  const before = turns;
  for (let i = 0; i < 10; i++) await yieldToEventLoop();
  isOver = true;
  await busy;
  expect(turns - before).toBeLessThan(15);
});

test("long pieces of work that yield again and again leave the others their turns", async () => {
  const turns = [0, 0];
  let isOver = false;
  const busy = turns.map(async (_, i) => {
    while (!isOver && (turns[i] as number) < 100) {
      await yieldToEventLoop();
      work(6);
      turns[i] = (turns[i] as number) + 1;
    }
  });
  await yieldToEventLoop();
  for (let i = 0; i < 10; i++) await yieldToEventLoop();
  isOver = true;
  await Promise.all(busy);
  for (const each of turns) expect(each).toBeLessThan(15);
});

test("brief work does not wait behind all slices of long work", async () => {
  let slices = 0;
  const long = Array.from({ length: 30 }, async () => {
    await yieldToEventLoop();
    work(3);
    slices++;
  });
  await yieldToEventLoop("brief");
  expect(slices).toBeLessThan(5);
  await Promise.all(long);
});

/** Lets callers of one owner wait, and returns the names of those that have gone on, in their order. */
function waiting(queue: FairQueue, callers: readonly { name: string; size: number }[]): string[] {
  const order: string[] = [];
  for (const { name, size } of callers) queue.ask("router", size, () => order.push(name));
  return order;
}

test("who asks for little does not wait for all of its owner that ask for much", async () => {
  const much = Array.from({ length: 100 }, (_, i) => ({ name: "much", size: 1_000 + i * 600 }));
  const order = waiting(new FairQueue(2), [...much, { name: "little", size: 0 }]);
  while (order.length < 101) await nextIteration();
  expect(order.indexOf("little")).toBeLessThan(10);
});

test("who asks for much does not wait for all of its owner that ask for little", async () => {
  const little = Array.from({ length: 100 }, () => ({ name: "little", size: 0 }));
  const order = waiting(new FairQueue(2), [...little, { name: "much", size: 1_000 }]);
  while (order.length < 101) await nextIteration();
  expect(order.indexOf("much")).toBeLessThan(10);
});
