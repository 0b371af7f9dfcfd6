import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { STREAM_LIMITS } from "../../src/memory/operations/stream/open-streams.js";
import { type Caller, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";
import { eventsIn, OpenWatch, StreamError, streamProtocolsOf, type Told } from "../support/streams.js";

// Machines that run many tests at once are slow.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Number of changes. The long form is `npm run test:faults -- watching`. */
const CHANGES = Number(process.env.WATCHED_CHANGES ?? 400);
const CALLERS = 8;

const protocolOf = (server: TestServer, name: string) => {
  const protocol = streamProtocolsOf(server.url).find((each) => each.name === name);
  if (protocol === undefined) throw new Error(`there is no protocol ${name}`);
  return protocol;
};

/** Opens a watch that the test leaves at its end. */
async function watched(server: TestServer, { key }: Caller, name = "gRPC"): Promise<OpenWatch> {
  const watch = new OpenWatch(protocolOf(server, name).watch({ namespace: "n", key }));
  onTestFinished(() => watch.leave());
  await watch.next();
  return watch;
}

async function failure(work: Promise<unknown>): Promise<StreamError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StreamError);
  return error as StreamError;
}

it.each(["plain paths", "Connect JSON", "gRPC", "gRPC-Web"])(
  "a watch through %s ends with its position when the server stops, and holds it up no longer",
  async (name) => {
    const server = await startServer({ env: { DRAIN_NOTICE_MS: "0" } });
    const ana = await signUp(server.url);
    await ana.store({ namespace: "n", text: "before" });
    const watch = await watched(server, ana, name);
    const beganMs = performance.now();
    const stopped = server.stop();
    expect(await watch.next()).toMatchObject({ kind: "heartbeat", position: expect.stringMatching(/./) });
    await expect(watch.next()).rejects.toThrow("the watch ended");
    expect(await stopped).toBe(0);
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  },
);

it("a browser that comes again begins after the last event that it has", async () => {
  const server = await sharedServer();
  const ana = await signUp(server.url);
  const path = `${server.url}/namespaces/n/events`;
  const authorization = `Bearer ${ana.key}`;
  const first = new OpenWatch(eventsIn(await fetch(path, { headers: { authorization } })));
  const { position: start } = await first.next();
  for (const text of ["one", "two", "three"]) await ana.store({ namespace: "n", text });
  const [one] = await first.changes(1);
  await first.leave();
  const headers = { authorization, "last-event-id": one?.position as string };
  // The query is that of its first request.
  const response = await fetch(`${path}?position=${start}`, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const again = new OpenWatch(eventsIn(response));
  onTestFinished(() => again.leave());
  const told = await again.changes(2);
  expect(told.map(({ data }) => data.text)).toEqual(["two", "three"]);
});

it("the last event of a browser replaces the query's position, and changes nothing else of the query", async () => {
  const server = await sharedServer();
  const ana = await signUp(server.url);
  const authorization = `Bearer ${ana.key}`;
  const asked = async (query: string, last: string) => {
    const headers = { authorization, "last-event-id": last };
    const response = await fetch(`${server.url}/namespaces/n/events${query}`, { headers });
    return { status: response.status, body: (await response.json()) as object };
  };
  const first = new OpenWatch(
    eventsIn(await fetch(`${server.url}/namespaces/n/events`, { headers: { authorization } })),
  );
  const { position } = await first.next();
  await first.leave();
  for (const [query, named] of [
    ["?position=a&position=b", /^position is given twice/],
    ["?other=1", /other/],
  ] as const) {
    const told = await asked(query, String(position));
    expect(told).toMatchObject({ status: 400, body: { message: expect.stringMatching(named) } });
  }
  const message = "Last-Event-ID is none that a watch or an export gave; leave it out to begin now";
  for (const query of ["", `?position=${position}`])
    expect(await asked(query, "none")).toMatchObject({ status: 400, body: { message } });
});

it("a watch ends when its key is revoked", async () => {
  const server = await sharedServer();
  const ana = await signUp(server.url);
  const call = async (rpc: string, body: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${ana.key}` };
    const url = `${server.url}/recalld.v1.AccountService/${rpc}`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as { api_key: string; key: { id: string } };
  };
  const { api_key, key } = await call("CreateKey", { name: "watcher", namespace: "n" });
  const watches = [];
  for (const name of ["plain paths", "gRPC"])
    watches.push(await watched(server, { ...ana, key: api_key }, name));
  const elsewhere = protocolOf(server, "gRPC").watch({ namespace: "m", key: api_key });
  const refused = await failure(elsewhere[Symbol.asyncIterator]().next());
  expect(refused.code).toBe("permission_denied");
  await call("RevokeKey", { id: key.id });
  await sleep(1_100);
  await ana.store({ namespace: "n", text: "not for a revoked key" });
  for (const watch of watches) expect((await failure(watch.changes(1))).code).toBe("unauthenticated");
});

it("an account has so many watches, and leaves room for others when it leaves", async () => {
  const server = await sharedServer();
  const ana = await signUp(server.url);
  const { perAccount } = STREAM_LIMITS.watch;
  const watches: OpenWatch[] = [];
  for (let i = 0; i < perAccount; i++)
    watches.push(await watched(server, ana, i % 2 === 0 ? "gRPC" : "plain paths"));
  const more = await fetch(`${server.url}/namespaces/n/events`, {
    headers: { authorization: `Bearer ${ana.key}` },
  });
  expect(more.status).toBe(429);
  expect(more.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await more.text()).toContain("STREAMS_LIMITED");
  for (const watch of watches) await watch.leave();
  await vi.waitFor(async () => watches.push(await watched(server, ana)), { timeout: 5_000 });
});

it("a watcher that does not read holds nobody up, and misses nothing when it reads again", async () => {
  const server = await sharedServer();
  const ana = await signUp(server.url);
  const session = connectHttp2(server.url);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  const call = session.request({ ":path": "/namespaces/n/events", authorization: `Bearer ${ana.key}` });
  await once(call, "response");
  const quick = await watched(server, ana);
  // More than the connection holds.
  const metadata = { long: "x".repeat(16_000) };
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  for (const text of texts) await ana.store({ namespace: "n", text, metadata });
  expect((await quick.changes(100)).map(({ data }) => data.text)).toEqual(texts);
  let read = "";
  for await (const chunk of call.setEncoding("utf8")) {
    read += chunk;
    if (read.endsWith("\n\n") && read.includes('"text 99"')) break;
  }
  const told = [...read.matchAll(/"text":"(text \d+)"/g)].map(([, text]) => text);
  expect(told).toEqual(texts);
});

describe.skipIf(MONGO_DATABASE.missing !== undefined)(`two servers over one ${MONGO_DATABASE.name}`, () => {
  it(
    `a watcher on one or the other, and over a restart, sees each of ${CHANGES} changes once and in order`,
    async () => {
      const database = await MONGO_DATABASE.make();
      const env = { FREE_CALLS: "1000000", DRAIN_NOTICE_MS: "0" };
      const servers = await Promise.all([database.start(env), database.start(env)]);
      onTestFinished(async () => void (await Promise.all(servers.map((each) => each.stop()))));
      const ana = await signUp(servers[0]?.url as string);
      const told: Told[] = [];
      const watcher = watchAnywhere(servers, ana, { told, count: CHANGES });
      const writers = Array.from({ length: CALLERS }, (_, i) => write(servers, ana, i));
      await sleep(1_000);
      // The first server goes away in the midst of it, and comes back on another port.
      await servers[0]?.stop();
      servers[0] = await database.start(env);
      const written = await Promise.all(writers);
      const watches = await watcher;
      expect(watches).toBeGreaterThan(1);
      const words = told.map(({ kind, data }) => `${kind} ${data.id}`);
      expect(new Set(words).size).toBe(words.length);
      const isLeftOut = (word: string) => isStored(word) && !words.includes(word);
      // A memory that was deleted before the watch came to it is told as its deletion alone.
      for (const word of written.flat().filter(isLeftOut)) expect(words).toContain(deletionOf(word));
      expect([...words].sort()).toEqual(
        written
          .flat()
          .filter((word) => !isLeftOut(word))
          .sort(),
      );
      // The order of the log is that in which each caller's changes happened.
      for (const own of written) {
        const mine = new Set(own);
        expect(words.filter((word) => mine.has(word))).toEqual(own.filter((word) => !isLeftOut(word)));
      }
    },
    120_000 + CHANGES * 100,
  );
});

const isStored = (word: string) => word.startsWith("stored ");
const deletionOf = (word: string) => word.replace("stored ", "deleted ");

/** Stores and deletes, one after the other, on any server that answers; returns what it did. */
async function write(servers: readonly TestServer[], ana: Caller, caller: number): Promise<string[]> {
  const chance = chanceOf(caller + 1);
  const done: string[] = [];
  const stored: string[] = [];
  const count = Math.floor(CHANGES / CALLERS) + (caller < CHANGES % CALLERS ? 1 : 0);
  for (let i = 0; done.length < count; i++) {
    const id = chance.next() < 0.1 ? stored.shift() : undefined;
    const on = () => ana.at((servers[Math.floor(chance.next() * 2)] as TestServer).url);
    if (id !== undefined) {
      await persist(() => on().forget("n", id));
      done.push(`deleted ${id}`);
    } else {
      const header = { "idempotency-key": `${caller} ${i}` };
      const { body } = await persist(() => on().store({ namespace: "n", text: `${caller} ${i}` }, header));
      stored.push(String(body.id));
      done.push(`stored ${body.id}`);
    }
  }
  return done;
}

/** Repeats a call until it is answered; a delete that was done before is done. */
async function persist<T extends { code: string }>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await call().catch(() => undefined);
    if (outcome?.code === "ok" || outcome?.code === "not_found") return outcome;
    await sleep(20);
  }
}

/** Counts the changes that were told, and those of which only a later deletion is. */
function countOf(told: readonly Told[]): number {
  const stored = new Set(told.filter(({ kind }) => kind === "stored").map(({ data }) => data.id));
  const alone = told.filter(({ kind, data }) => kind === "deleted" && !stored.has(data.id));
  return told.length + alone.length;
}

/** Watches until it was told so many changes, on another server each time that a watch ends or is left. */
async function watchAnywhere(
  servers: readonly TestServer[],
  { key }: Caller,
  { told, count }: { told: Told[]; count: number },
): Promise<number> {
  let position: string | undefined;
  let watches = 0;
  for (; countOf(told) < count; watches++) {
    const server = servers[watches % servers.length] as TestServer;
    const protocol = streamProtocolsOf(server.url)[watches % 5];
    // The first watch begins before the first store.
    const asked = { namespace: "n", key, position: position ?? NOTHING };
    let taken = 0;
    try {
      for await (const each of protocol?.watch(asked) ?? []) {
        position = each.position;
        if (each.kind === "heartbeat") continue;
        told.push(each);
        if (countOf(told) === count || ++taken === Math.ceil(count / 7)) break;
      }
    } catch {
      // It is resumed where it broke off.
    }
    await sleep(20);
  }
  return watches;
}

/** Position before a namespace's first log. */
const NOTHING = Buffer.from('["","end"]').toString("base64url");
