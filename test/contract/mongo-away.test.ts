import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { MongoClient, MongoNetworkError } from "mongodb";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openAdminClient } from "../../src/compose/admin-client.js";
import { loadConfig } from "../../src/config/config.js";
import { connectionOf, openMongo } from "../../src/storage/mongo/open.js";
import { openTestMongo } from "../support/mongo/open.js";
import { type StandIn, startStandIn } from "../support/mongo/stand-in.js";
import { aCall } from "./calls.js";
import { aMemory, aScope, entriesOf, memoriesOf } from "./samples.js";

const TEST_TIMEOUT_MS = 60_000;
/** Maximum duration of any call while the database is unavailable. */
const CALL_MS_MAX = 6_000;

/** Parts of the driver that its types do not show: no answer of a server brings its monitor into this state on demand. */
interface Driver {
  readonly topology: { readonly s: { readonly servers: ReadonlyMap<string, { readonly monitor: Monitor }> } };
}

interface Monitor {
  readonly connection: { readonly socket: Socket };
  requestCheck(): void;
  emit(event: "resetServer", error: Error): void;
}

/** Makes the driver's monitor wait for ever for a socket that was destroyed. */
async function breakMonitorOf(client: MongoClient): Promise<void> {
  const { servers } = (client as unknown as Driver).topology.s;
  const [{ monitor }] = [...servers.values()] as [{ monitor: Monitor }];
  // The driver waits so long from one look at a server to the next.
  await sleep(600);
  monitor.connection.socket.destroy();
  monitor.requestCheck();
  monitor.emit("resetServer", new MongoNetworkError("the connections were cut"));
}

const found = await openTestMongo();
const [reason, uri] = "reason" in found ? [found.reason, ""] : ["", found.uri];

describe.skipIf(reason !== "")(
  `MongoDB that is away or shared (${reason || "a stand-in of its own"})`,
  () => {
    /**
     * Takes the database away: every port's call fails in time, and afterwards all that was answered is
     * there.
     */
    const takeAway = async (away: (server: StandIn) => unknown, back: (server: StandIn) => unknown) => {
      const server = await startStandIn();
      const storage = await openMongo(server);
      const { log, names, accounts, systemRecords } = storage;
      const scope = aScope();
      const logId = await names.create(scope);
      const entry = aMemory();
      await log.append({ logId, from: 1, entries: [entry] });
      await away(server);
      const begunMs = performance.now();
      const calls = await Promise.allSettled([
        names.find(scope),
        names.create(scope),
        log.append({ logId, from: 2, entries: [aMemory({ text: "private words" })] }),
        entriesOf(log, { logId, from: 1, limit: 10 }),
        memoriesOf(log, { logId, sequences: [1] }),
        accounts.findByKey("none"),
        accounts.charge({ accountId: "acc_none", keyHash: "none" }),
        accounts.refund("acc_none"),
        storage.calls.add([aCall()]),
        systemRecords.pin({
          after: undefined,
          to: { modelVersion: "", model: { id: "m", revision: "r", dtype: "q8", dimensions: 8 } },
        }),
        storage.check(),
      ]);
      expect(performance.now() - begunMs).toBeLessThan(CALL_MS_MAX);
      for (const call of calls) {
        expect(call).toMatchObject({
          status: "rejected",
          reason: { code: "unavailable", retryAfterMs: 1000 },
        });
        expect(inspect(call, { depth: 9 })).not.toContain("private words");
      }
      await back(server);
      await vi.waitFor(() => storage.check(), { timeout: 20_000 });
      expect(await memoriesOf(log, { logId, sequences: [1] })).toEqual([{ sequence: 1, entry }]);
      await storage.close();
      await server.stop();
    };

    const killed = "killed and started again";
    it.concurrent(
      `fails every call in time and loses nothing when it is ${killed}`,
      async () => {
        await takeAway(
          (server) => server.kill(),
          (server) => server.restart(),
        );
      },
      TEST_TIMEOUT_MS,
    );

    it.concurrent(
      "fails every call in time and loses nothing when it stops answering",
      async () => {
        await takeAway(
          (server) => server.pause(),
          (server) => server.resume(),
        );
      },
      TEST_TIMEOUT_MS,
    );

    it.concurrent(
      "says at the start that it cannot be reached",
      async () => {
        const opening = openMongo({ uri: "mongodb://user:S3cret@127.0.0.1:1/x" });
        await expect(opening).rejects.toMatchObject({ code: "unavailable" });
        await expect(opening).rejects.toThrow("MongoDB does not answer: connect ECONNREFUSED 127.0.0.1:1");
      },
      TEST_TIMEOUT_MS,
    );

    it.concurrent.each([
      "mongodb://user:S3cret@127.0.0.1:1/x?serverSelectionTimeoutMS=1",
      "mongodb://user:S3cret@@127.0.0.1/x",
      "mongodb://user:S3cret/S3cret@127.0.0.1/x",
      "mongodb://user:S3cret%@127.0.0.1/x",
      "mongodb://user:S3cret@127.0.0.1/x?nonsense=S3cret",
      "mongodb+srv://user:S3cret@127.0.0.1:27017/x",
    ])(
      "never shows a password: %#",
      async (withPassword) => {
        const error = await openMongo({ uri: withPassword }).catch((error) => error);
        expect(error.message).toMatch(/^MONGODB_URI/);
        expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("S3cret");
      },
      TEST_TIMEOUT_MS,
    );

    it.concurrent(
      "is connected to anew if the driver's monitor waits for ever for a socket that was destroyed",
      async () => {
        const client = new MongoClient(uri, { serverSelectionTimeoutMS: 100 });
        await vi.waitFor(() => client.connect(), { timeout: 20_000 });
        let aheadMs = 0;
        const opened = { client, db: client.db() };
        const { check, close } = connectionOf(opened, () => performance.now() + aheadMs);
        await vi.waitFor(check, { timeout: 20_000 });
        await breakMonitorOf(client);
        await sleep(1_000);
        await expect(check()).rejects.toMatchObject({ code: "unavailable" });
        aheadMs = 20_000;
        await expect(check()).rejects.toMatchObject({ code: "unavailable" });
        await vi.waitFor(check, { timeout: 20_000 });
        await close();
      },
      TEST_TIMEOUT_MS,
    );

    it(
      "is connected to anew by the operator's commands, too",
      async () => {
        const connecting = vi.spyOn(MongoClient.prototype, "connect");
        const { ask, close } = await openAdminClient(loadConfig({ MONGODB_URI: uri }), { creates: true });
        const clients = connecting.mock.contexts as MongoClient[];
        const client = clients.find(
          ({ options: { appName, dbName } }) => appName === "recalld" && uri.endsWith(`/${dbName}`),
        ) as MongoClient;
        connecting.mockRestore();
        const readStatus = () => ask({ operation: "reembed status", given: {} });
        await readStatus();
        await breakMonitorOf(client);
        const nowMs = performance.now();
        const ahead = vi.spyOn(performance, "now").mockReturnValue(nowMs + 20_000);
        onTestFinished(() => ahead.mockRestore());
        await vi.waitFor(readStatus, { timeout: 20_000 });
        await close();
      },
      TEST_TIMEOUT_MS,
    );

    it("lets two processes write to one log", async () => {
      const [one, other] = await Promise.all([openMongo({ uri }), openMongo({ uri })]);
      const scope = aScope();
      const created = await Promise.all([one.names.create(scope), other.names.create(scope)]);
      expect(created[0]).toBe(created[1]);
      const logId = created[0];
      const write = async ({ log }: typeof one) => {
        for (let from = 1, left = 20; left > 0; from++) {
          left -= await log.append({ logId, from, entries: [aMemory()] });
        }
      };
      await Promise.all([write(one), write(other), write(one), write(other)]);
      const read = await entriesOf(other.log, { logId, from: 1, limit: 100 });
      expect(read.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
      await Promise.all([one.close(), other.close()]);
    });
  },
);
