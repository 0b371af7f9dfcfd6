import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { DATABASES, LOCAL_DATABASE, MONGO_DATABASE } from "../support/databases.js";
import { IMPATIENT, LONG_READ } from "../support/failing.js";
import { type Outcome, protocolsOf } from "../support/protocols.js";
import type { TestServer } from "../support/server.js";

// Machines that run many tests at once are slow. A test that must be quick sets its own limit.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LIMIT = 50;
const CALLS = 60;
const TIMEOUT_MS = 60_000;
const TEXT = "The cat sleeps on the radiator.";

const count = (outcomes: readonly Outcome[], code: string) =>
  outcomes.filter((outcome) => outcome.code === code).length;

/** Makes many stores and recalls at once, on each of the servers in turn. */
function callAtOnce(callers: readonly Caller[], times: number): Promise<Outcome[]> {
  const calls = Array.from({ length: times }, (_, i) => {
    const caller = callers[i % callers.length] as Caller;
    return i % 3 === 0 ? caller.recall(TEXT, "n") : caller.store({ text: `${TEXT} ${i}`, namespace: "n" });
  });
  return Promise.all(calls);
}

async function expectExactly50(callers: readonly Caller[]): Promise<void> {
  const outcomes = await callAtOnce(callers, CALLS);
  const refused = outcomes.filter(({ code }) => code !== "ok");
  for (const outcome of refused) {
    expect(outcome).toMatchObject({ code: "resource_exhausted", reason: "QUOTA_EXHAUSTED", status: 429 });
  }
  expect(refused).toHaveLength(CALLS - LIMIT);
  for (const caller of callers) expect(await caller.used()).toBe(LIMIT);
}

describe.each(DATABASES)("on $name", ({ make, missing }) => {
  let server: TestServer;
  beforeAll(async () => {
    if (missing === undefined) server = await (await make()).start({ FREE_CALLS: String(LIMIT) });
  }, TIMEOUT_MS);
  afterAll(() => server?.stop());

  it.skipIf(missing !== undefined)(
    `lets exactly ${LIMIT} of ${CALLS} calls at once succeed`,
    async () => {
      for (let round = 0; round < 3; round++) await expectExactly50([await signUp(server.url)]);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "gives back what failed, also when all fail at once",
    async () => {
      const caller = await signUp(server.url);
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          i % 2 === 0
            ? caller.store({ text: LONG_READ, namespace: "n" }, IMPATIENT)
            : caller.recall(LONG_READ, "n", 5, IMPATIENT),
        ),
      );
      // Those that the model has no time for may be refused before their deadline is over.
      const busy = outcomes.filter(({ reason }) => reason === "MODEL_BUSY").length;
      expect(count(outcomes, "deadline_exceeded") + busy).toBe(40);
      // The answer waits neither for the refund nor, once the time is over, for the charge: a second is enough for both.
      await sleep(1000);
      await vi.waitFor(async () => expect(await caller.used()).toBe(0), { timeout: 10_000 });
      await expectExactly50([caller]);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "says through every protocol that the quota is used up",
    async () => {
      const caller = await signUp(server.url);
      await callAtOnce([caller], LIMIT);
      for (const protocol of protocolsOf(server.url)) {
        for (const [rpc, request] of [
          ["Store", { text: TEXT, namespace: "n" }],
          ["Recall", { query: TEXT, namespace: "n" }],
        ] as const) {
          const outcome = await protocol.call(rpc, request, { key: caller.key });
          expect(outcome, protocol.name).toMatchObject({
            code: "resource_exhausted",
            reason: "QUOTA_EXHAUSTED",
          });
          expect(outcome.message).toMatch(/50/);
        }
      }
      expect(await caller.used()).toBe(LIMIT);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "charges nothing for getting, deleting and dropping",
    async () => {
      const caller = await signUp(server.url);
      const { body } = await caller.store({ text: TEXT, namespace: "n" });
      await callAtOnce([caller], LIMIT - 1);
      expect((await caller.get("n", String(body.id))).code).toBe("ok");
      expect((await caller.forget("n", String(body.id))).code).toBe("ok");
      expect((await caller.drop("n")).code).toBe("ok");
      expect(await caller.used()).toBe(LIMIT);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "keeps accounts and namespaces of the same names apart",
    async () => {
      const [ada, bob] = [await signUp(server.url), await signUp(server.url)];
      const stored = await ada.store({ text: TEXT, namespace: "pets", metadata: { whose: "ada" } });
      const id = String(stored.body.id);
      await bob.store({ text: "Bob's dog barks.", namespace: "pets" });
      await ada.store({ text: "Interest rates rose.", namespace: "work" });
      const seen = async (caller: Caller, namespace: string) =>
        resultsOf(await caller.recall(TEXT, namespace, 20)).map(({ text }) => text);
      expect(await seen(ada, "pets")).toEqual([TEXT]);
      expect(await seen(ada, "work")).toEqual(["Interest rates rose."]);
      expect(await seen(bob, "pets")).toEqual(["Bob's dog barks."]);
      expect(await seen(bob, "work")).toEqual([]);
      // An id does not open another account's memory either.
      for (const outcome of [
        await bob.get("pets", id),
        await bob.forget("pets", id),
        await ada.get("work", id),
        await ada.forget("work", id),
        await bob.drop("work"),
      ]) {
        expect(outcome.code).toBe("not_found");
      }
      expect(await bob.drop("pets")).toMatchObject({ code: "ok", body: { deleted: 1 } });
      expect(await seen(ada, "pets")).toEqual([TEXT]);
    },
    TIMEOUT_MS,
  );

  it.skipIf(missing !== undefined)(
    "opens no account when sign-up is closed",
    async () => {
      const closed = await (await make()).start({ SIGNUP: "closed" });
      for (const protocol of protocolsOf(closed.url)) {
        expect(await protocol.call("SignUp", {}), protocol.name).toMatchObject({ code: "permission_denied" });
      }
      await closed.stop();
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(`two servers over one ${MONGO_DATABASE.name}`, () => {
  it(
    `let exactly ${LIMIT} of ${CALLS} calls at once succeed between them`,
    async () => {
      const database = await MONGO_DATABASE.make();
      const env = { FREE_CALLS: String(LIMIT) };
      const [one, two] = await Promise.all([database.start(env), database.start(env)]);
      for (let round = 0; round < 3; round++) {
        const caller = await signUp(one.url);
        await expectExactly50([caller, caller.at(two.url)]);
      }
      await Promise.all([one.stop(), two.stop()]);
    },
    TIMEOUT_MS,
  );
});

describe("the log", () => {
  it(
    "holds no text, no query, no metadata, no namespace and no key, whatever went wrong",
    async () => {
      const server = await (await LOCAL_DATABASE.make()).start({ LOG_LEVEL: "trace", FREE_CALLS: "40" });
      const caller = await signUp(server.url);
      const secret = "Zaubertrank";
      const long = `${secret} word `.repeat(2_000);
      const metadata = { [secret]: secret };
      for (const protocol of protocolsOf(server.url)) {
        const options = { key: caller.key };
        await protocol.call("Store", { text: secret, namespace: secret, metadata }, options);
        await protocol.call("Recall", { query: secret, namespace: secret }, options);
        await protocol.call("Store", { text: long, namespace: secret }, options);
        await protocol.call("Recall", { query: secret, namespace: `${secret}\n` }, options);
        await protocol.call("SignUp", { email: `${secret}@example.org` });
        await protocol.call("Recall", { query: secret, namespace: secret }, { key: `${caller.key}x` });
        if (protocol.json) await protocol.call("Store", `{"text":"${secret}"`, options);
        if (protocol.json) await protocol.call("Store", { [secret]: secret, [caller.key]: 1 }, options);
      }
      const { body } = await caller.store({ text: secret, namespace: secret }, { "idempotency-key": secret });
      await caller.store({ text: `${secret} 2`, namespace: secret }, { "idempotency-key": secret });
      await caller.get(secret, String(body.id));
      await caller.forget(secret, String(body.id));
      await caller.drop(secret);
      await fetch(`${server.url}/nothing/${secret}?key=${caller.key}`);
      await server.stop();
      const output = server.output();
      expect(output).toContain('"method":"recalld.v1.MemoryService/Store","protocol":"json"');
      expect(output).not.toContain(secret);
      expect(output).not.toContain(caller.key.slice(4, 20));
    },
    TIMEOUT_MS,
  );
});
