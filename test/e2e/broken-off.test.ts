import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { scrape } from "../support/scrape.js";
import { startServer, type TestServer } from "../support/server.js";

// A whole server starts here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const MEMORY = "/recalld.v1.MemoryService";

let server: TestServer;
let caller: Caller;
beforeAll(async () => {
  server = await startServer({ env: { METRICS_PORT: "0" } });
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

interface Line {
  readonly msg: string;
  readonly code: string;
  readonly requestId: string;
}

/** Waits for the log's line about a call. */
async function lineOf(requestId: string): Promise<Line> {
  return vi.waitFor(
    () => {
      const lines = server.output().split("\n");
      const line = lines.find((each) => each.includes(`"requestId":"${requestId}"`));
      return JSON.parse(line ?? "none yet") as Line;
    },
    { timeout: 10_000 },
  );
}

/** Waits until the server has begun the call: one that its client resets before that is never served. */
async function begun(): Promise<void> {
  const inFlight = async () => (await scrape(server.metricsUrl)).sum("recalld_calls_in_flight");
  await vi.waitFor(async () => expect(await inFlight()).toBe(1), { timeout: 10_000 });
}

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const END_HEADERS = 4;

function frameOf(
  frame: { type: number; flags: number; stream: number },
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(frame.type, 3);
  head.writeUInt8(frame.flags, 4);
  head.writeUInt32BE(frame.stream, 5);
  return Buffer.concat([head, payload]);
}

/** Writes headers in HPACK without indexing or compression; each must be shorter than 127 bytes. */
function literals(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string) => [Buffer.from([value.length]), Buffer.from(value)];
  return Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), ...text(name), ...text(value)]),
  );
}

/** Ways to send the beginning of a body and disconnect. */
const WAYS: Record<
  string,
  (path: string, given: { method: string; type: string; id: string }) => Promise<void>
> = {
  "HTTP/1": async (path, { method, type, id }) => {
    const socket = connect(server.port, "127.0.0.1");
    const head = [
      `${method} ${path} HTTP/1.1`,
      "Host: x",
      `Content-Type: ${type}`,
      `Authorization: Bearer ${caller.key}`,
      `X-Request-ID: ${id}`,
      "Content-Length: 1000",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n{`);
    await begun();
    socket.destroy();
  },
  "HTTP/2": async (path, { method, type, id }) => {
    const socket = connect(server.port, "127.0.0.1");
    const headers = {
      ":method": method,
      ":scheme": "http",
      ":path": path,
      ":authority": "x",
      "content-type": type,
      authorization: `Bearer ${caller.key}`,
      "x-request-id": id,
    };
    socket.write(PREFACE);
    socket.write(frameOf({ type: 4, flags: 0, stream: 0 }));
    socket.write(frameOf({ type: 1, flags: END_HEADERS, stream: 1 }, literals(headers)));
    socket.write(frameOf({ type: 0, flags: 0, stream: 1 }, Buffer.from("{")));
    await begun();
    // It is sent alone, because otherwise Node's client would first report the body's end.
    socket.write(frameOf({ type: 3, flags: 0, stream: 1 }, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])));
    await lineOf(id);
    socket.destroy();
  },
};

describe.each(Object.keys(WAYS))("a caller that breaks off on %s", (way) => {
  it.each([
    ["/store", "application/json"],
    ["/signup", "application/json"],
    [`${MEMORY}/Recall`, "application/json"],
    [`${MEMORY}/Recall`, "application/proto"],
    [`${MEMORY}/Store`, "application/grpc"],
    [`${MEMORY}/Store`, "application/grpc-web"],
  ])("while it sends a body to %s (%s) has canceled the call: it is no fault", async (path, type) => {
    const id = `broken-${way}-${path}-${type}`.replaceAll("/", ".");
    await WAYS[way]?.(path, { method: "POST", type, id });
    expect(await lineOf(id)).toMatchObject({ msg: "call", code: "canceled" });
  });

  it("while it sends a patch leaves the line of the call in the log, and no stack", async () => {
    const id = `broken-${way}-patch`.replaceAll("/", ".");
    const path = "/namespaces/n/memories/mem_01jdh2zz00e00r0000000000v7";
    await WAYS[way]?.(path, { method: "PATCH", type: "application/json", id });
    expect(await lineOf(id)).toMatchObject({ msg: "call", code: "canceled" });
    await sleep(100);
    expect(server.output()).not.toMatch(/"level":[56]0|^\s+at /m);
  });
});

describe("callers that go away while they wait", () => {
  it("are no faults of any step", async () => {
    const gone = Array.from({ length: 30 }, (_, i) => {
      const body = JSON.stringify({ query: `${i} ${"word ".repeat(300)}`, namespace: "n" });
      const aborted = AbortSignal.timeout(20);
      const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
      return fetch(`${server.url}/recall`, { method: "POST", headers, body, signal: aborted }).then(
        () => 0,
        () => 1,
      );
    });
    const went: number[] = await Promise.all(gone);
    expect(went.filter(Boolean).length).toBeGreaterThan(10);
    await sleep(500);
    const { text } = await scrape(server.metricsUrl);
    expect(text).toMatch(/recalld_step_duration_seconds_count\{step="embed",outcome="ok"\}/);
    expect(text).not.toMatch(/recalld_step_duration_seconds_count\{step="embed",outcome="error"\} [1-9]/);
  });

  it("are none while they are sent an export", async () => {
    const { key } = await signUp(server.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const memories = Array.from({ length: 40 }, (_, i) => ({
      text: `${i}`,
      metadata: { a: "a".repeat(15_000) },
    }));
    const body = JSON.stringify({ namespace: "n", memories });
    expect((await fetch(`${server.url}/store/batch`, { method: "POST", headers, body })).status).toBe(200);
    const ids = Array.from({ length: 12 }, (_, i) => `export-left-${i}`);
    for (const id of ids) {
      const session = connectHttp2(server.url, { settings: { initialWindowSize: 1_000 } });
      session.on("error", () => {});
      const stream = session.request({
        ":method": "POST",
        ":path": `${MEMORY}/ExportMemories`,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${key}`,
        "x-request-id": id,
      });
      stream.on("error", () => {}).end(Buffer.from("\0\0\0\0\x03\n\x01n", "latin1"));
      await once(stream, "response");
      session.destroy();
      expect(await lineOf(id)).toMatchObject({ msg: "call", code: "canceled" });
    }
    expect(server.output()).not.toContain('"msg":"fault"');
  });

  it.each([
    ["GET", "/namespaces/n/export", "", ""],
    ["GET", "/namespaces/n/events", "", ""],
    ["POST", `${MEMORY}/ExportMemories`, "application/connect+json", '\0\0\0\0\x11{"namespace":"n"}'],
    ["POST", `${MEMORY}/ExportMemories`, "application/grpc-web", "\0\0\0\0\x03\n\x01n"],
  ])("are none while they are sent a stream on HTTP/1: %s %s %s", async (method, path, type, body) => {
    const { key } = await signUp(server.url);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const text = { metadata: { a: "a".repeat(15_000) } };
    // More than the system's buffers take for one connection.
    for (let batch = 0; batch < 4; batch++) {
      const memories = Array.from({ length: 90 }, (_, i) => ({ text: `${batch} ${i}`, ...text }));
      const stored = JSON.stringify({ namespace: "n", memories });
      await fetch(`${server.url}/store/batch`, { method: "POST", headers, body: stored });
    }
    for (let i = 0; i < 6; i++) {
      const id = `left-${method}-${path}-${type}-${i}`.replaceAll(/[/+]/g, ".");
      const socket = connect(server.port, "127.0.0.1").on("error", () => {});
      const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nX-Request-ID: ${id}\r\n`;
      const typed = type && `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
      socket.write(Buffer.from(`${head}${typed}\r\n${body}`, "latin1"));
      await once(socket, "readable");
      socket.destroy();
      expect(await lineOf(id)).toMatchObject({ msg: "call", code: "canceled" });
    }
    expect(server.output()).not.toContain('"msg":"fault"');
  });
});
