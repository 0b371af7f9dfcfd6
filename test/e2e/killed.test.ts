import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { killUnderLoad } from "../faults/kills.js";
import { DATABASES } from "../support/databases.js";
import { accountWith, onDatabase, openAccountAt, restart } from "../support/on-database.js";
import type { Outcome, RpcName } from "../support/protocols.js";

// Machines that run many tests at once are slow.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Number of stores. The long form sets 1,000. */
const STORES = Number(process.env.DURABILITY_STORES ?? 150);
const TIMEOUT_MS = 60_000 + STORES * 500;
const BATCH = 256;
const namespace = "n";

describe.each(DATABASES)("a server that is killed with -9, on $name", ({ make, missing }) => {
  it.skipIf(missing !== undefined)(
    `loses nothing of ${STORES} stores with two kills -9 among them, and charges fairly`,
    async () => {
      const database = await make();
      const storesBefore = () => STORES / 2;
      const limits = { callsLimit: 1_000_000, recallAll: true };
      const figures = await killUnderLoad({ ...database, ...limits, kills: 2, storesBefore, seed: 2 });
      expect(figures.acknowledged).toBeGreaterThanOrEqual(STORES);
      expect(figures.paidUnanswered).toBeLessThanOrEqual(figures.unanswered);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "never charges above the limit, whenever it is killed",
    async () => {
      const database = await make();
      const storesBefore = () => 40;
      const figures = await killUnderLoad({ ...database, kills: 2, storesBefore, callsLimit: 12, seed: 3 });
      expect(figures.acknowledged).toBeLessThanOrEqual(2 * 3 * 12);
    },
    TIMEOUT_MS,
  );
});

const resultsOf = ({ body }: Outcome) => body.results as { stored?: JsonObject; error?: JsonObject }[];
const idsOf = (outcome: Outcome) => resultsOf(outcome).map(({ stored }) => stored?.id as string);

describe.each(DATABASES)("a call in the midst of which the server is killed with -9, on $name", (kind) => {
  const here = onDatabase(kind);
  const { test } = here;

  test("a batch does again only what the first try had not done", async () => {
    const { key } = await openAccountAt(here.protocol);
    const call = (rpc: RpcName, request: JsonObject = {}, header: Record<string, string> = {}) =>
      here.protocol.call(rpc, request, { key, header });
    const stored = async () => (await call("CountMemories", { namespace })).body.memories as number;
    const memories = Array.from({ length: BATCH }, (_, i) => ({ text: `text number ${i}`, metadata: { i } }));
    const store = () => call("StoreBatch", { namespace, memories }, { "idempotency-key": "k" });
    const first = store().catch((error) => error);
    await vi.waitFor(async () => expect(await stored()).not.toBe(0), { timeout: 20_000, interval: 5 });
    await here.server.kill();
    await first;
    await restart(here);
    const before = await stored();
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(BATCH);
    // With MongoDB, another process's attempt counts as dead after half a minute.
    const retried = await vi.waitFor(
      async () => {
        const outcome = await store();
        expect(outcome.code).toBe("ok");
        return outcome;
      },
      { timeout: 60_000 },
    );
    expect(resultsOf(retried).every(({ stored }) => stored !== undefined)).toBe(true);
    expect(await stored()).toBe(BATCH);
    const ids = idsOf(retried);
    expect(new Set(ids).size).toBe(BATCH);
    const got = await call("GetMemories", { namespace, ids });
    expect((got.body.memories as JsonObject[]).map(({ text }) => text)).toEqual(
      memories.map(({ text }) => text),
    );
    expect((await store()).body).toEqual(retried.body);
    // The first try paid for all; the second one for what was left.
    const { calls_used } = (await call("GetAccount")).body;
    expect(calls_used).toBeLessThanOrEqual(2 * BATCH - before);
    expect(calls_used).toBeGreaterThanOrEqual(BATCH);
  });

  test("a delete by a filter is finished by another one, and takes nothing else", async () => {
    const { key, call: callFirst } = await openAccountAt(here.protocol);
    const memories = Array.from({ length: 120 }, (_, i) => ({
      text: `text ${i}`,
      metadata: { old: i % 3 !== 0 },
    }));
    await callFirst("StoreBatch", { namespace, memories });
    const call = (rpc: RpcName, request: JsonObject = {}) =>
      accountWith(here.protocol, key).call(rpc, { ...request, namespace });
    const count = async (filter?: JsonObject) =>
      (await call("CountMemories", filter && { filter })).memories as number;
    const filter = { old: true };
    for (const delayMs of [5, 20, 40]) {
      const dying = call("DeleteMemories", { filter }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await here.server.kill();
      await dying;
      await restart(here);
      expect(await count({ old: false })).toBe(40);
    }
    for (let more = true; more; ) more = Boolean((await call("DeleteMemories", { filter })).more);
    expect(await count()).toBe(40);
    expect(await count(filter)).toBe(0);
    expect((await call("Recall", { query: "text 1", filter })).results).toEqual([]);
  });
});
