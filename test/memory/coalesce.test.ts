import { describe, expect, it } from "vitest";
import { coalesce } from "../../src/concurrency/coalesce.js";

/** Makes a run that ends when told to. */
function scripted() {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  const call = coalesce(() => new Promise<void>((end, fail) => runs.push({ end, fail })));
  return { runs, call };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("callers that share a run", () => {
  it("share one that has not begun, never one that has", async () => {
    const { runs, call } = scripted();
    const first = [call(), call(), call()];
    expect(runs).toHaveLength(0);
    await settled();
    expect(runs).toHaveLength(1);
    const later = [call(), call()];
    await settled();
    expect(runs).toHaveLength(1);
    expect(later[0]).toBe(later[1]);
    expect(later[0]).not.toBe(first[0]);
    runs[0]?.end();
    await Promise.all(first);
    await settled();
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    await Promise.all(later);
  });

  it("see all that had happened before they asked", async () => {
    let truth = 0;
    const seen: number[] = [];
    const call = coalesce(async () => {
      const read = truth;
      await settled();
      seen.push(read);
    });
    const calls: Promise<void>[] = [];
    for (let i = 1; i <= 50; i++) {
      truth = i;
      calls.push(call().then(() => expect(seen.at(-1)).toBeGreaterThanOrEqual(i)));
      if (i % 3 === 0) await settled();
    }
    await Promise.all(calls);
    expect(seen.length).toBeLessThan(50);
  });

  it("share its failure, and the next run begins all the same", async () => {
    const { runs, call } = scripted();
    const first = call();
    await settled();
    const second = call();
    runs[0]?.fail(new Error("broken"));
    await expect(first).rejects.toThrow("broken");
    await settled();
    runs[1]?.end();
    await second;
  });
});
