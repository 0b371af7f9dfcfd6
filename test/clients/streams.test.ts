import { describe, expect, test } from "vitest";
import { type Clock, type Fetch, Recalld, type WatchEvent } from "../../clients/typescript/src/index.js";

const GOOD = { apiKey: "rcl_x", baseUrl: "http://memory.example" };
const HEARTBEAT = ": heartbeat\nretry: 1000\nid: p1\n\n";
const stored = (position: string, text: string) =>
  `event: stored\nid: ${position}\ndata: ${JSON.stringify({ id: "mem_1", text, created_at: "t", metadata: { a_b: 1 } })}\n\n`;

/** Answers each call with the next stream of bytes, cut into chunks; one without an end stays open. */
function streaming(...streams: readonly { text: string; chunk?: number; stays?: boolean }[]) {
  const urls: string[] = [];
  const fetch: Fetch = async (url) => {
    const { text, chunk = 1_000, stays = false } = streams[urls.length] ?? { text: "", stays: true };
    urls.push(url);
    const bytes = new TextEncoder().encode(text);
    return new Response(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.length; at += chunk) controller.enqueue(bytes.slice(at, at + chunk));
          if (!stays) controller.close();
        },
      }),
    );
  };
  return { fetch, urls };
}

/** A clock on which pauses are over at once, and so is each time in `over`, whose times then come no more. */
function clockWhere(over: number[] = []): Clock {
  return {
    now: () => 0,
    after(ms, run) {
      const index = over.indexOf(ms);
      if (index !== -1) over.splice(index, 1);
      else if (ms > 10_000) return () => {};
      const timer = setTimeout(run, 10);
      return () => clearTimeout(timer);
    },
  };
}

async function take(events: AsyncGenerator<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const taken: WatchEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

test("what has come already is not given once the caller gives up", async () => {
  const { fetch } = streaming({ text: HEARTBEAT + stored("p2", "One") + stored("p3", "Two") });
  const stopping = new AbortController();
  const events = new Recalld({ ...GOOD, fetch }).watch({ namespace: "ana" }, { signal: stopping.signal });
  expect((await events.next()).value).toMatchObject({ type: "heartbeat" });
  stopping.abort();
  await expect(events.next()).rejects.toMatchObject({ code: "canceled" });
});

describe("a watch", () => {
  test.each([1, 2, 3, 7, 1_000])("reads events however they are cut: %i bytes at a time", async (chunk) => {
    const text = `${HEARTBEAT}event: later\nid: p2\ndata: {}\n\n${stored("p3", "Größe 😀\n")}event: dropped\nid: p4\ndata: {}\n\n`;
    const recalld = new Recalld({ ...GOOD, ...streaming({ text, chunk, stays: true }) });
    const [first, second, third] = await take(recalld.watch({ namespace: "a/b" }), 3);
    expect(first).toEqual({ type: "heartbeat", position: "p1" });
    const memory = { id: "mem_1", text: "Größe 😀\n", createdAt: "t", metadata: { a_b: 1 } };
    expect(second).toEqual({ type: "stored", position: "p3", memory });
    expect(third).toEqual({ type: "dropped", position: "p4" });
  });

  test("tells no event whose end did not come, and goes on after the last one that was told", async () => {
    const cut = { text: HEARTBEAT + stored("p2", "one") + stored("p3", "two").slice(0, -1) };
    const { fetch, urls } = streaming(cut, { text: stored("p3", "two"), stays: true });
    const recalld = new Recalld({ ...GOOD, fetch, clock: clockWhere() });
    const events = await take(recalld.watch({ namespace: "a/b" }), 3);
    expect(events.map(({ position }) => position)).toEqual(["p1", "p2", "p3"]);
    expect(urls).toEqual([
      "http://memory.example/namespaces/a%2Fb/events",
      "http://memory.example/namespaces/a%2Fb/events?position=p2",
    ]);
  });

  test("takes a silent connection for a broken one", async () => {
    const { fetch, urls } = streaming(
      { text: HEARTBEAT, stays: true },
      { text: stored("p2", "one"), stays: true },
    );
    // The first wait is for the heartbeat, which is there already; the second is in vain.
    const recalld = new Recalld({ ...GOOD, fetch, clock: clockWhere([45_000, 45_000]) });
    const events = await take(recalld.watch({ namespace: "a" }), 2);
    expect(events.map(({ type }) => type)).toEqual(["heartbeat", "stored"]);
    expect(urls).toHaveLength(2);
  });

  test("ends with the error that the server tells, if it lasts", async () => {
    const failure = 'event: failure\ndata: {"code":"unauthenticated","message":"the key was revoked"}\n\n';
    const { fetch, urls } = streaming({ text: HEARTBEAT + failure });
    const recalld = new Recalld({ ...GOOD, fetch, clock: clockWhere() });
    await expect(take(recalld.watch({ namespace: "a" }), 2)).rejects.toMatchObject({
      code: "unauthenticated",
      message: "the key was revoked",
    });
    expect(urls).toHaveLength(1);
  });
});

describe("an export", () => {
  const head = '{"format":"recalld-export"}\n';
  const memory = '{"id":"mem_1","text":"One","metadata":{},"created_at":"t","tokens":1}\n';
  const read = async (text: string) => {
    const recalld = new Recalld({ ...GOOD, ...streaming({ text }) });
    const texts: string[] = [];
    for await (const each of recalld.export({ namespace: "a", includeVectors: true })) texts.push(each.text);
    return texts;
  };

  test("is complete with its last line, and else an error", async () => {
    expect(await read(`${head}${memory}{"count":1,"sha256":"x"}\n`)).toEqual(["One"]);
    await expect(read(head + memory)).rejects.toMatchObject({ code: "unavailable" });
    await expect(read(`${head}{"count":1,"sha256":"x"}\n`)).rejects.toMatchObject({ code: "data_loss" });
    const gone = '{"error":{"code":"failed_precondition","message":"it was dropped"}}\n';
    await expect(read(head + gone)).rejects.toMatchObject({ code: "failed_precondition" });
  });
});

test("a stream that is answered without a body is an error of the client, once", async () => {
  let calls = 0;
  const fetch: Fetch = async () => {
    calls++;
    return new Response(null, { status: 204 });
  };
  const recalld = new Recalld({ ...GOOD, fetch });
  const error = await take(recalld.watch({ namespace: "a" }), 1).catch((error: unknown) => error);
  expect(error).toMatchObject({ name: "RecalldError", code: "unknown", status: 204 });
  expect(calls).toBe(1);
});
