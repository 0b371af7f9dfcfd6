import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { grpcClient } from "../faults/retrying.js";
import { Fleet, rollUnderLoad } from "../faults/rolling.js";
import { envoy, haproxy } from "../support/balancer.js";
import { type Caller, signUp } from "../support/caller.js";
import { MONGO_DATABASE, type TestDatabase } from "../support/databases.js";
import { protocolsOf } from "../support/protocols.js";

// The notice is shorter than by default, because balancers with the shipped configuration notice after 1.25
// s.
const env = { DRAIN_NOTICE_MS: "3000" };
const ROLLING_MS = 15_000;
/** Each client calls ten times a second: more would keep the cores from the other tests for as long as it takes. */
const PAUSE_MS = 100;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.each([haproxy(), envoy()])("three replicas behind $name", (balancer) => {
  const missing = balancer.missing ?? MONGO_DATABASE.missing;
  const over = missing === undefined ? MONGO_DATABASE.name : `MongoDB (${missing})`;
  describe.skipIf(missing !== undefined)(`over one ${over}`, () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await MONGO_DATABASE.make();
    });

    it("are balanced as in the file that is shipped, which the balancer finds valid", () => {
      const { status, output } = balancer.check();
      expect(output).not.toMatch(/\bwarning\b|\balert\b|\berror\b/i);
      expect(status).toBe(0);
    });

    it("restart one after the other under load: no call fails, nothing is lost, no recall is stale", async () => {
      const figures = await rollUnderLoad({
        start: (own) => database.start(own),
        balancer,
        restarts: 1,
        durationMs: ROLLING_MS,
        pauseMs: PAUSE_MS,
        env,
        seed: 3,
      });
      expect(figures).toMatchObject({ restarts: 3, failed: 0, recallsAtOnce: figures.acknowledged });
      expect(figures.acknowledged).toBeGreaterThan(20);
      expect(figures.elsewhere).toBeGreaterThan(5);
    });

    describe("with affinity", () => {
      const ACCOUNTS = 24;
      let fleet: Fleet;
      let url: string;
      let callers: Caller[];

      beforeAll(async () => {
        // These are its own: at their start, replicas open what was used last, even if it belongs to another
        // replica.
        const own = await MONGO_DATABASE.make();
        fleet = new Fleet({ start: (settings) => own.start(settings), balancer, env });
        ({ url } = await fleet.start());
        callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => signUp(url)));
      });
      afterAll(() => fleet.kill());

      /** Calls once for each account and returns the replica that answered each call. */
      async function visit(round: string, header: Record<string, string> = {}): Promise<number[]> {
        const idOf = (i: number) => `${round}-${i}`;
        for (const [i, caller] of callers.entries()) {
          const headers = { ...header, "x-request-id": idOf(i) };
          const { code } = await caller.recall("Where does Ada live?", "n", 3, headers);
          expect(code).toBe("ok");
        }
        return callers.map((_, i) => fleet.replicaOf(idOf(i)));
      }

      it("each replica answers for a part of the keys, always the same", async () => {
        for (const caller of callers) {
          expect((await caller.store({ text: "Ada lives in Lisbon.", namespace: "n" })).code).toBe("ok");
        }
        const first = await visit("first");
        expect(await visit("second")).toEqual(first);
        for (const replica of [0, 1, 2]) {
          expect(first.filter((each) => each === replica).length).toBeGreaterThan(1);
        }
      });

      it("each replica holds its part of the indexes, and no other", async () => {
        const routed = await visit("held");
        const parts = [0, 1, 2].map((replica) => routed.filter((each) => each === replica).length);
        expect(await fleet.namespaces()).toEqual(parts);
      });

      it("one key's namespaces are spread where the client names them", async () => {
        const [caller] = callers as [Caller];
        const names = Array.from({ length: 24 }, (_, i) => `n-${i}`);
        const ask = async (round: string) => {
          for (const name of names) {
            const header = { "recalld-namespace": name, "x-request-id": `${round}-${name}` };
            expect((await caller.recall("Ada", name, 1, header)).code).toBe("ok");
          }
          return names.map((name) => fleet.replicaOf(`${round}-${name}`));
        };
        const first = await ask("named");
        expect(new Set(first)).toEqual(new Set([0, 1, 2]));
        expect(await ask("again")).toEqual(first);
      });

      it("a stopped replica's part moves, and the others' stay", async () => {
        const before = await visit("before");
        await fleet.stop(1);
        const after = await visit("after");
        expect(after.filter((replica) => replica === 1)).toEqual([]);
        const others = after.filter((_, i) => before[i] !== 1);
        const moved = after.filter((replica, i) => before[i] !== 1 && replica !== before[i]);
        expect(moved.length / others.length).toBeLessThanOrEqual(balancer.movesOthersMax);
      });

      it("without any replica, calls are unavailable in every protocol, and those of gRPC are tried again", async () => {
        await Promise.all([fleet.stop(0), fleet.stop(2)]);
        const [{ key }] = callers as [Caller];
        for (const protocol of protocolsOf(url).filter(({ json }) => !json)) {
          const { code } = await protocol.call("Recall", { query: "Ada", namespace: "n" }, { key });
          expect(code, protocol.name).toBe("unavailable");
        }
        const { status } = await fetch(`${url}/recall`, { method: "POST", body: "{}" });
        expect(status).toBe(503);
        const client = grpcClient(new URL(url).host);
        const begunMs = performance.now();
        const header = { authorization: `Bearer ${key}` };
        const call = client.call("Recall", { query: "Ada", namespace: "n" }, header);
        await expect(call).rejects.toThrow("UNAVAILABLE");
        // Four pauses take at least half of their length on average. A single attempt takes no time.
        expect(performance.now() - begunMs).toBeGreaterThan(200);
        client.close();
      });
    });
  });
});
