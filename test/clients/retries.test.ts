import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type CallOptions, Recalld, RecalldError } from "../../clients/typescript/src/index.js";
import { freePort } from "../support/free-port.js";
import { portOf } from "./proxy.js";
import { QuickClock, type Scripted, scriptedFetch } from "./scripted.js";

const MEMORY = { namespace: "ana", text: "Ana plays the piano." };
const STORED = {
  status: 200,
  body: { id: "mem_1", namespace: "ana", tokens: 6, created_at: "2026-11-21T03:20:31.165Z" },
  headers: { "x-request-id": "r1" },
};
const refusal = (
  status: number,
  code: string,
  { debug, headers }: { debug?: object[]; headers?: Record<string, string> } = {},
): Scripted => ({
  status,
  body: {
    code,
    message: `it is ${code}`,
    details: (debug ?? []).map((each) => ({ type: "x", debug: each })),
  },
  ...(headers && { headers }),
});

/** Stores against scripted answers. Returns what came of it. */
async function storing(answers: readonly Scripted[], options: { retries?: number } = {}) {
  const script = scriptedFetch(...answers);
  const clock = new QuickClock();
  const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "http://memory.example", ...script, clock });
  const result = await recalld.store(MEMORY, options).catch((error: RecalldError) => error);
  return { result, requests: script.requests, pauses: clock.pauses };
}

describe("an attempt that failed", () => {
  const html = "<html>Bad gateway</html>";
  const passing: Record<string, Scripted> = {
    "503 of the server": refusal(503, "unavailable"),
    "504 of the server": refusal(504, "deadline_exceeded"),
    "502 of a proxy": { status: 502, body: html },
    "429 of a proxy": { status: 429, body: "slow down" },
    "a rate that is used up": refusal(429, "resource_exhausted", { debug: [{ reason: "KEY_RATE_LIMITED" }] }),
    "a connection that cannot be had": new TypeError("fetch failed"),
  };
  test.each(Object.entries(passing))("is made again after %s, with the same key", async (_, answer) => {
    const { result, requests, pauses } = await storing([answer, answer, STORED]);
    expect(result).toMatchObject({ id: "mem_1", createdAt: STORED.body.created_at, requestId: "r1" });
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    const [first = 0, second = 0] = pauses;
    expect(first).toBeGreaterThanOrEqual(125);
    expect(first).toBeLessThanOrEqual(250);
    expect(second).toBeGreaterThanOrEqual(250);
    expect(second).toBeLessThanOrEqual(500);
  });

  const lasting: Record<string, [Scripted, object]> = {
    "a wrong field": [
      refusal(400, "invalid_argument", {
        debug: [{ field_violations: [{ field: "memories[3].external_id" }] }],
      }),
      { code: "invalid_argument", field: "memories[3].externalId", status: 400 },
    ],
    "a plan that is used up": [
      refusal(429, "resource_exhausted", { debug: [{ reason: "QUOTA_EXHAUSTED" }] }),
      { code: "resource_exhausted", reason: "QUOTA_EXHAUSTED" },
    ],
    "a taken id": [
      refusal(409, "already_exists", { debug: [{ reason: "EXTERNAL_ID_TAKEN", metadata: { id: "mem_7" } }] }),
      { code: "already_exists", metadata: { id: "mem_7" } },
    ],
    "a page in place of an answer": [{ status: 200, body: html }, { code: "unknown" }],
    "a path that is not recalld's": [{ status: 404, body: html }, { code: "unimplemented" }],
    "a pause that is too long to wait": [
      refusal(503, "unavailable", { headers: { "retry-after": "3600" } }),
      { code: "unavailable", retryAfterMs: 3_600_000 },
    ],
  };
  test.each(Object.entries(lasting))("is not made again after %s", async (_, [answer, error]) => {
    const { result, requests } = await storing([answer, STORED]);
    expect(result).toBeInstanceOf(RecalldError);
    expect(result).toMatchObject({ ...error, attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  test("waits as long as Retry-After says, in seconds or as a date, and not much longer", async () => {
    const inTwoSeconds = new Date(Date.now() + 3_000).toUTCString();
    for (const [after, leastMs] of [
      ["2", 2_000],
      [inTwoSeconds, 1_000],
    ] as const) {
      const { result, pauses } = await storing([
        refusal(503, "unavailable", { headers: { "retry-after": after } }),
        STORED,
      ]);
      expect(result).toMatchObject({ id: "mem_1" });
      expect(pauses).toHaveLength(1);
      expect(pauses[0]).toBeGreaterThanOrEqual(leastMs);
      expect(pauses[0]).toBeLessThan(leastMs + 2_500);
    }
  });

  test("waits as RetryInfo says where a browser hides Retry-After", async () => {
    const { pauses } = await storing([
      refusal(503, "unavailable", { debug: [{ retryDelay: "1.5s" }] }),
      STORED,
    ]);
    expect(pauses[0]).toBeGreaterThanOrEqual(1_500);
  });

  test("is the caller's after two more, or as many as the call allows", async () => {
    const answer = refusal(503, "unavailable", { headers: { "x-request-id": "r9" } });
    expect((await storing([answer])).result).toMatchObject({ attempts: 3, requestId: "r9" });
    expect((await storing([answer], { retries: 0 })).requests).toHaveLength(1);
    expect((await storing([answer], { retries: 4 })).requests).toHaveLength(5);
  });
});

describe("each call", () => {
  test("has a key and an id of its own, and no key if it only reads", async () => {
    const script = scriptedFetch(STORED, STORED, STORED, { status: 200, body: { results: [] } });
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "https://memory.example/sub/", ...script });
    await recalld.store(MEMORY);
    await recalld.store(MEMORY);
    await recalld.store(MEMORY, { idempotencyKey: "mine", requestId: "my-id", headers: { "x-own": "1" } });
    await recalld.recall({ namespace: "ana", query: "music?" });
    const [one, two, three, four] = script.requests.map(({ headers }) => headers);
    expect(one?.["idempotency-key"]).toMatch(/^[0-9a-f]{32}$/);
    expect(one?.["idempotency-key"]).not.toBe(two?.["idempotency-key"]);
    expect(one?.["x-request-id"]).not.toBe(two?.["x-request-id"]);
    expect(three).toMatchObject({ "idempotency-key": "mine", "x-request-id": "my-id", "x-own": "1" });
    expect(four).not.toHaveProperty("idempotency-key");
    expect(four).toMatchObject({ authorization: "Bearer rcl_x", "connect-timeout-ms": "35000" });
    expect(script.requests[0]?.url).toBe("https://memory.example/sub/recalld.v1.MemoryService/Store");
  });

  test("may override every option of the client", async () => {
    const script = scriptedFetch(STORED);
    const recalld = new Recalld({
      apiKey: "rcl_x",
      baseUrl: "http://memory.example",
      headers: { a: "1", b: "1" },
    });
    const own = { apiKey: "rcl_y", baseUrl: "http://other.example", timeoutMs: 7, headers: { b: "2" } };
    await recalld.store(MEMORY, { ...own, fetch: script.fetch, clock: new QuickClock(7) });
    expect(script.requests[0]).toMatchObject({ url: expect.stringMatching(/^http:\/\/other\.example\//) });
    expect(script.requests[0]?.headers).toMatchObject({
      authorization: "Bearer rcl_y",
      "connect-timeout-ms": "7",
      a: "1",
      b: "2",
    });
  });

  test("that is given up is canceled, in a pause as well", async () => {
    const gone = AbortSignal.abort(new Error("enough"));
    const script = scriptedFetch(refusal(503, "unavailable", { headers: { "retry-after": "50" } }));
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "http://memory.example", ...script });
    await expect(recalld.store(MEMORY, { signal: gone })).rejects.toMatchObject({
      code: "canceled",
      cause: gone.reason,
    });
    const controller = new AbortController();
    const waiting = recalld.store(MEMORY, { signal: controller.signal });
    await expect.poll(() => script.requests.length).toBeGreaterThan(0);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: "canceled" });
  });

  test("takes dates and lists of fields, and leaves metadata alone both ways", async () => {
    const body = { memory: { id: "mem_1", metadata: { snake_case: { inner_key: 1 } }, created_at: "t" } };
    const script = scriptedFetch({ status: 200, body });
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "http://memory.example", ...script });
    const expireTime = new Date("2030-01-01T00:00:00Z");
    const { memory } = await recalld.update({
      namespace: "ana",
      id: "mem_1",
      expireTime,
      metadata: { own_key: 1 },
      updateMask: ["metadata.own_key", "expireTime"],
    });
    expect(memory).toEqual({ id: "mem_1", metadata: { snake_case: { inner_key: 1 } }, createdAt: "t" });
    expect(JSON.parse(script.requests[0]?.body ?? "")).toMatchObject({
      expireTime: "2030-01-01T00:00:00.000Z",
      metadata: { own_key: 1 },
      updateMask: "metadata.own_key,expireTime",
    });
  });

  test("a delete that finds nothing after a lost answer has done its work", async () => {
    const gone = refusal(404, "not_found");
    const clock = new QuickClock();
    const options = { apiKey: "rcl_x", baseUrl: "http://memory.example", clock };
    const lost = new Recalld({ ...options, ...scriptedFetch(new TypeError("fetch failed"), gone) });
    expect(await lost.delete({ namespace: "ana", id: "mem_1" })).toMatchObject({ id: "mem_1" });
    const never = new Recalld({ ...options, ...scriptedFetch(gone) });
    await expect(never.delete({ namespace: "ana", id: "mem_1" })).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("options that cannot be meant", () => {
  const good = { apiKey: "rcl_x", baseUrl: "http://memory.example" };
  test.each([
    ["apiKey", { ...good, apiKey: "" }],
    ["apiKey", { ...good, apiKey: "rcl_x\n" }],
    ["baseUrl", { ...good, baseUrl: "memory.example" }],
    ["baseUrl", { ...good, baseUrl: "file:///etc" }],
    ["timeoutMs", { ...good, timeoutMs: 0 }],
    ["timeoutMs", { ...good, timeoutMs: Number.POSITIVE_INFINITY }],
    ["retries", { ...good, retries: -1 }],
  ])("are refused at once: %s", (field, options) => {
    expect(() => new Recalld(options)).toThrowError(
      expect.objectContaining({ code: "invalid_argument", field }),
    );
  });
});

test("an option that no call has is refused, and nothing is sent", async () => {
  const { fetch, requests } = scriptedFetch();
  const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "http://memory.example", fetch });
  const misspelt = { timeout: 1 } as CallOptions;
  await expect(recalld.recall({ namespace: "ana", query: "tea" }, misspelt)).rejects.toMatchObject({
    code: "invalid_argument",
    field: "timeout",
  });
  expect(requests).toEqual([]);
});

describe("a server that", () => {
  let close = () => {};
  afterEach(() => close());

  test("is not there is unavailable, and the error says why", async () => {
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: `http://127.0.0.1:${await freePort()}` });
    await expect(recalld.store(MEMORY)).rejects.toMatchObject({
      code: "unavailable",
      attempts: 3,
      status: undefined,
      ...{
        message: expect.stringContaining("ECONNREFUSED"),
        requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
  });

  test("never answers is given up after the timeout, each time", async () => {
    let requests = 0;
    const silent = createServer((socket) => {
      // Node 24 connects once more for nothing when a request is broken off.
      socket.once("data", () => requests++).on("error", () => {});
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    close = () => silent.close();
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: `http://127.0.0.1:${portOf(silent)}` });
    await expect(recalld.store(MEMORY, { timeoutMs: 200 })).rejects.toMatchObject({
      code: "deadline_exceeded",
      attempts: 3,
    });
    expect(requests).toBe(3);
  });

  test("is asked by a fetch that knows no signal is given up all the same", async () => {
    const deaf = { fetch: () => new Promise<Response>(() => {}) };
    const recalld = new Recalld({ apiKey: "rcl_x", baseUrl: "http://memory.example", retries: 0, ...deaf });
    await expect(recalld.store(MEMORY, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
  });
});
