import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { prose } from "../support/prose.js";
import type { Outcome } from "../support/protocols.js";
import { startServer, type TestServer } from "../support/server.js";

// A whole server starts here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const LONG_BYTES = 58_000;
/** Long stores at once; of these, the deadline leaves time for this many one after another. */
const LONG_STORES = 40;
const STORES_IN_TIME = 5;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Timed extends Outcome {
  readonly ms: number;
}

async function timed(call: () => Promise<Outcome>): Promise<Timed> {
  const beganMs = performance.now();
  return { ...(await call()), ms: performance.now() - beganMs };
}

const SENTENCES = prose(1200);

/** Makes a text that is unlike any other. */
function longText(number: number, bytes = LONG_BYTES): string {
  const from = (number * 7) % SENTENCES.length;
  const turned = [...SENTENCES.slice(from), ...SENTENCES.slice(0, from)];
  return `Text ${number}. ${turned.join(" ")}`.slice(0, bytes);
}

/** Stores one short text after another until it is told to stop. */
async function storeShort(caller: Caller, until: AbortSignal): Promise<Timed[]> {
  const stored: Timed[] = [];
  for (let i = 0; !until.aborted; i++) {
    stored.push(await timed(() => caller.store({ text: `Short note number ${i}.`, namespace: "notes" })));
    await sleep(50);
  }
  return stored;
}

describe("many long texts at once", () => {
  it("are stored as far as the deadline has room, the rest is refused at once, and others notice little", async () => {
    const [loud, quiet] = [await signUp(server.url), await signUp(server.url)];
    const store = (number: number, header = {}) =>
      timed(() => loud.store({ text: longText(number), namespace: "books" }, header));
    const ownMs = Math.min((await store(1000)).ms, (await store(1001)).ms);

    const timeoutMs = Math.ceil(STORES_IN_TIME * ownMs);
    const done = new AbortController();
    const notes = storeShort(quiet, done.signal);
    const all = await Promise.all(
      Array.from({ length: LONG_STORES }, (_, i) => store(i, { "connect-timeout-ms": String(timeoutMs) })),
    );
    done.abort();

    // On a busy machine, everything takes longer.
    const soonMs = Math.max(1_000, ownMs);
    const stored = all.filter(({ code }) => code === "ok");
    const refused = all.filter(({ code }) => code !== "ok");
    const nowMs = Math.max(ownMs, (await store(1002)).ms);
    expect(stored.length).toBeGreaterThanOrEqual(Math.max(1, Math.floor(timeoutMs / nowMs / 2)));
    for (const { reason, code, header } of refused) {
      expect({ reason, code }).toEqual({ reason: "MODEL_BUSY", code: "unavailable" });
      expect(Number(header.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    // A machine that becomes slower may have to give up calls that it accepted, but not more than one or two.
    expect(refused.filter(({ ms }) => ms > soonMs).length).toBeLessThanOrEqual(2);

    const short = await notes;
    expect(short.length).toBeGreaterThan(5);
    expect(new Set(short.map(({ code }) => code))).toEqual(new Set(["ok"]));
    const times = short.map(({ ms }) => ms).sort((a, b) => a - b);
    expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(soonMs);
  });

  it("of one account are finished in the order in which they came", async () => {
    const caller = await signUp(server.url);
    const finished: number[] = [];
    await Promise.all(
      [0, 1, 2].map(async (number) => {
        // The calls arrive one after another, too.
        await sleep(number * 100);
        const { code } = await caller.store({ text: longText(100 + number, 10_000), namespace: "books" });
        expect(code).toBe("ok");
        finished.push(number);
      }),
    );
    expect(finished).toEqual([0, 1, 2]);
  });
});
