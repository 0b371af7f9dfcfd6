import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { LOOP_DELAY_MS_MAX, Load, QUEUE_SHARE_MAX } from "../../src/server/load.js";

let load: Load;
afterEach(() => load.close());

const WHY_BUSY = { code: "unavailable", message: "the server is too busy", retryAfterMs: 1_000 };
const WHY_FULL = { code: "unavailable", message: "too many calls are waiting for the model" };

/** Returns the error of a call whose text or query, or neither, the model reads. */
function refusalOf(field: "text" | "query" | undefined): unknown {
  try {
    load.check(field);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("load", () => {
  it("turns away calls whose queue is nearly full, and no others", () => {
    const shares = { text: 0, query: 0 };
    load = new Load(() => shares);
    shares.text = QUEUE_SHARE_MAX;
    expect(refusalOf("text")).toBeUndefined();
    shares.text = QUEUE_SHARE_MAX + 0.01;
    expect(refusalOf("text")).toMatchObject(WHY_FULL);
    expect(refusalOf("query")).toBeUndefined();
    expect(refusalOf(undefined)).toBeUndefined();
    shares.query = 1;
    expect(refusalOf("query")).toMatchObject(WHY_FULL);
  });

  it("turns everything away while the event loop is late, until it is not", async () => {
    load = new Load(() => ({ text: 0, query: 0 }));
    for (let n = 0; n < 20 && refusalOf(undefined) === undefined; n++) {
      block(1_000);
      await sleep(0);
    }
    expect(refusalOf(undefined)).toMatchObject(WHY_BUSY);
    // On a busy machine, it takes a little longer.
    for (let n = 0; n < 100 && load.loopDelayMs > LOOP_DELAY_MS_MAX; n++) await sleep(100);
    expect(refusalOf(undefined)).toBeUndefined();
  }, 60_000);

  it("does not mind a single pause, such as that of a machine that slept", async () => {
    load = new Load(() => ({ text: 0, query: 0 }));
    block(4_000);
    await sleep(0);
    expect(refusalOf(undefined)).toBeUndefined();
  }, 30_000);
});

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
