import { setImmediate as nextIteration } from "node:timers/promises";
import { expect, it } from "vitest";
import { Pace } from "../../src/server/port/pace.js";

/** Time above that of one iteration of the event loop. */
const LONG_MS = 12;

function busyFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

it("what comes while there is time begins at once", () => {
  const pace = new Pace();
  const begun: number[] = [];
  for (const i of [1, 2, 3]) pace.begin(() => begun.push(i));
  expect(begun).toEqual([1, 2, 3]);
});

it("what comes when an iteration's time is over begins in the iterations that follow, in order", async () => {
  const pace = new Pace();
  const begun: number[] = [];
  for (const i of [1, 2, 3, 4]) {
    pace.begin(() => {
      begun.push(i);
      busyFor(LONG_MS);
    });
  }
  expect(begun).toEqual([1]);
  const perIteration: number[] = [];
  for (let before = 1; before < 4; before = begun.length) {
    await nextIteration();
    perIteration.push(begun.length - before);
  }
  expect(begun).toEqual([1, 2, 3, 4]);
  expect(Math.max(...perIteration)).toBe(1);
});

it("what the beginning sets off in the same iteration counts as well", async () => {
  const pace = new Pace();
  const begun: number[] = [];
  const begin = (i: number) =>
    pace.begin(() => {
      begun.push(i);
      void Promise.resolve().then(() => busyFor(LONG_MS));
    });
  pace.begin(() => busyFor(LONG_MS));
  for (const i of [1, 2, 3]) begin(i);
  await nextIteration();
  expect(begun).toEqual([1]);
  while (begun.length < 3) await nextIteration();
  expect(begun).toEqual([1, 2, 3]);
});

it("one that comes while others wait begins behind them", async () => {
  const pace = new Pace();
  const begun: string[] = [];
  pace.begin(() => busyFor(LONG_MS));
  pace.begin(() => begun.push("waited"));
  await nextIteration();
  pace.begin(() => begun.push("came later"));
  await nextIteration();
  expect(begun).toEqual(["waited", "came later"]);
});

it("what is urgent begins before what waits", async () => {
  const pace = new Pace();
  const begun: string[] = [];
  pace.begin(() => busyFor(LONG_MS));
  pace.begin(() => begun.push("waited"));
  pace.begin(() => begun.push("urgent"), { urgent: true });
  await nextIteration();
  expect(begun).toEqual(["urgent", "waited"]);
});
