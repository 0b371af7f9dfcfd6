import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { Budget } from "../../src/concurrency/budget.js";

const open = (changes = {}) =>
  new Budget({ max: 10, waitingMax: 3, waitMs: 10_000, what: "reads", ...changes });

/** Starts work that runs until it is told to end. */
function held(budget: Budget, weight: number) {
  let end = () => {};
  let runs = false;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = budget.run(weight, () => {
    runs = true;
    return ended;
  });
  return {
    done,
    end: () => end(),
    get runs() {
      return runs;
    },
  };
}

it("work runs beside other work while all of it is light enough, and in the order it asked", async () => {
  const budget = open();
  const [a, b, c, d] = [6, 4, 5, 1].map((weight) => held(budget, weight)) as [Held, Held, Held, Held];
  expect([a, b, c, d].map(({ runs }) => runs)).toEqual([true, true, false, false]);
  b.end();
  await b.done;
  // The light one fits, and still does not overtake the one that waits longer.
  expect([c.runs, d.runs]).toEqual([false, false]);
  a.end();
  await a.done;
  await vi.waitFor(() => expect([c.runs, d.runs]).toEqual([true, true]));
});

it("work that is too heavy for any budget runs alone", async () => {
  const budget = open();
  const heavy = held(budget, 1000);
  const light = held(budget, 1);
  expect([heavy.runs, light.runs]).toEqual([true, false]);
  heavy.end();
  await heavy.done;
  await vi.waitFor(() => expect(light.runs).toBe(true));
});

it("work is refused when too much waits, or when it waits too long, and makes room when it fails", async () => {
  const budget = open({ waitMs: 50 });
  const first = held(budget, 10);
  const waiting = [1, 1, 1].map((weight) => held(budget, weight));
  await expect(budget.run(1, async () => {})).rejects.toMatchObject({ code: "unavailable" });
  for (const { done } of waiting) await expect(done).rejects.toThrow("took longer than 50 ms");
  first.end();
  await first.done;
  await expect(budget.run(10, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await budget.run(10, async () => "done")).toBe("done");
  await sleep(1);
});

type Held = ReturnType<typeof held>;
