import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { retryStores, storeHereRecallThere } from "../faults/replicas.js";
import { randomSequences } from "../faults/sequences/run.js";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { LOCAL_DATABASE, MONGO_DATABASE } from "../support/databases.js";
import type { TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Number of stores. The long form (`npm run test:faults`) sets 10,000. */
const TIMES = Number(process.env.REPLICA_TIMES ?? 100);
const TIMEOUT_MS = 60_000 + TIMES * 500;
const FREE_CALLS = "1000000";

describe.skipIf(MONGO_DATABASE.missing !== undefined)(`three servers over one ${MONGO_DATABASE.name}`, () => {
  let servers: TestServer[];
  let urls: string[];
  let everywhere: Caller[];

  beforeAll(async () => {
    const database = await MONGO_DATABASE.make();
    servers = await Promise.all([1, 2, 3].map(() => database.start({ FREE_CALLS })));
    urls = servers.map(({ url }) => url);
    const caller = await signUp(urls[0] as string);
    everywhere = urls.map((url) => caller.at(url));
  }, TIMEOUT_MS);
  afterAll(async () => void (await Promise.all(servers.map(({ stop }) => stop()))));

  it(
    `misses none of ${TIMES} memories stored on one and recalled on another`,
    async () => {
      expect(await storeHereRecallThere({ urls, times: TIMES, seed: 1 })).toEqual({ stored: TIMES });
    },
    TIMEOUT_MS,
  );

  it(
    `stores once what is sent three times with one key, ${TIMES} times`,
    async () => {
      const { replayed } = await retryStores({ urls, times: TIMES, seed: 2 });
      expect(replayed).toBeGreaterThanOrEqual(2 * TIMES);
    },
    TIMEOUT_MS,
  );

  it(
    `agrees with a simple model through ${TIMES} random sequences on any of them`,
    async () => {
      expect(await randomSequences({ urls, sequences: TIMES, seed: 3 })).toMatchObject({ sequences: TIMES });
    },
    TIMEOUT_MS,
  );

  it("makes one memory of a text that is stored on all at once, if it is asked to keep similar ones", async () => {
    for (let i = 0; i < 10; i++) {
      const body = {
        namespace: "similar",
        text: `Ana has cat number ${i} at home, in room ${i * 7}.`,
        similar_above: 0.9999,
        on_similar: "KEEP",
      };
      const stored = await Promise.all(
        [...everywhere, ...everywhere].map((each) => each.call("POST /store", { body })),
      );
      expect(new Set(stored.map((each) => each.body.id)).size).toBe(1);
      expect(stored.filter((each) => each.body.outcome === "CREATED")).toHaveLength(1);
    }
  });

  it("recalls nowhere what was deleted on one", async () => {
    const [one, ...others] = everywhere as [Caller, ...Caller[]];
    for (let i = 0; i < 10; i++) {
      const text = `The cat sleeps ${i}.`;
      const { body } = await one.store({ text, namespace: "deleted" });
      for (const other of others) expect(resultsOf(await other.recall(text, "deleted"))).toHaveLength(1);
      expect((await one.forget("deleted", String(body.id))).code).toBe("ok");
      for (const other of others) {
        expect(resultsOf(await other.recall(text, "deleted"))).toEqual([]);
        expect((await other.get("deleted", String(body.id))).code).toBe("not_found");
      }
    }
  });

  it("recalls nowhere what was dropped on one, and stores to the new namespace on any", async () => {
    for (let i = 0; i < 10; i++) {
      const [one, two, three] = [0, 1, 2].map((j) => everywhere[(i + j) % 3]) as [Caller, Caller, Caller];
      await two.store({ text: "old", namespace: "dropped" });
      expect(resultsOf(await three.recall("old", "dropped"))).toHaveLength(1);
      expect(await one.drop("dropped")).toMatchObject({ code: "ok", body: { deleted: 1 } });
      expect(resultsOf(await three.recall("old", "dropped"))).toEqual([]);
      await three.store({ text: "new", namespace: "dropped" });
      for (const each of [one, two, three]) {
        expect(resultsOf(await each.recall("old", "dropped")).map(({ text }) => text)).toEqual(["new"]);
      }
      expect(await two.drop("dropped")).toMatchObject({ code: "ok", body: { deleted: 1 } });
    }
  });

  it("tells the loser of two stores with one key, wherever they arrive", async () => {
    const header = { "idempotency-key": "one for both" };
    const outcomes = await Promise.all(
      ["a", "b"].map((text, i) => (everywhere[i] as Caller).store({ text, namespace: "key" }, header)),
    );
    expect(outcomes.map(({ code }) => code).sort()).toEqual(["already_exists", "ok"]);
  });
});

describe("one server over the local database", () => {
  it(
    `agrees with a simple model through ${TIMES} random sequences`,
    async () => {
      const server = await (await LOCAL_DATABASE.make()).start({ FREE_CALLS });
      const figures = await randomSequences({ urls: [server.url], sequences: TIMES, seed: 4 });
      expect(figures.sequences).toBe(TIMES);
      await server.stop();
    },
    TIMEOUT_MS,
  );
});
