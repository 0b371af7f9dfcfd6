import { expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { matchingIn, parseTargets } from "../../src/memory/operations/matching.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import { aMemory } from "../contract/samples.js";

// Another process may hold this one for long, but hardly every time.
it("memories are compared with the largest filter in slices, between which other work runs", {
  retry: 4,
}, async () => {
  const $or = Array.from({ length: 200 }, (_, i) => ({ a: { $contains: `z${i}` } }));
  const filter = parseFilter({ $or });
  if (filter === undefined) throw new Error("there is no filter");
  const metadata = JSON.stringify({ a: "x".repeat(16_000) });
  const some = Array.from({ length: 64 }, (_, i) => {
    return { sequence: i + 1, entry: aMemory({ id: `m${i}`, metadata: i === 5 ? '{"a":"z7"}' : metadata }) };
  });
  const startMs = performance.now();
  let [longestMs, lastMs] = [0, startMs];
  const poll = () => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  const timer = setInterval(poll, 1);
  const matching = await matchingIn(systemClock, some, filter);
  clearInterval(timer);
  poll();
  expect(matching.map(({ sequence }) => sequence)).toEqual([6]);
  expect(longestMs / (performance.now() - startMs)).toBeLessThan(1 / 2);
});

it("a change of nothing says that it could have ids or a filter", () => {
  expect(() => parseTargets({ ids: [] })).toThrow("ids is missing, and so is filter");
});
