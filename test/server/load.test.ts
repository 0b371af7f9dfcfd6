import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { LOOP_DELAY_MS_MAX, Load } from "../../src/server/load.js";

let load: Load;
afterEach(() => load.close());

const WHY_BUSY = { code: "unavailable", message: "the server is too busy", retryAfterMs: 1_000 };

/** Returns the error of a call. */
function refusal(): unknown {
  try {
    load.check();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("load", () => {
  it("turns everything away while the event loop is late, until it is not", async () => {
    load = new Load();
    for (let n = 0; n < 20 && refusal() === undefined; n++) {
      block(1_000);
      await sleep(0);
    }
    expect(refusal()).toMatchObject(WHY_BUSY);
    // On a busy machine, it takes a little longer.
    for (let n = 0; n < 100 && load.loopDelayMs > LOOP_DELAY_MS_MAX; n++) await sleep(100);
    expect(refusal()).toBeUndefined();
  }, 60_000);

  it("does not mind a single pause, such as that of a machine that slept", async () => {
    load = new Load();
    block(4_000);
    await sleep(0);
    expect(refusal()).toBeUndefined();
  }, 30_000);
});

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
