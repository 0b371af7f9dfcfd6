import { once } from "node:events";
import { constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  ask2,
  counts,
  dial,
  HUGE,
  LARGE,
  PREFACE,
  REQUEST,
  raw,
  running,
  SETTINGS,
  serve,
  slow,
  text,
  until,
  untilEnd,
} from "../support/one-port.js";

describe("the limits of one port", () => {
  it.each(["", "P", "PRI"])("a client that stops after %j is cut off", async (bytes) => {
    const socket = raw(await serve({ firstBytesTimeoutMs: 50 }));
    socket.write(bytes);
    await untilEnd(socket);
    expect(counts.cutOff).toMatchObject({ first_bytes: 1, request: 0 });
  });

  it("a client whose first bytes have come while the process slept is answered", async () => {
    const socket = raw(await serve({ firstBytesTimeoutMs: 300 }));
    await until(() => counts.connections.used === 1);
    // Behind an immediate the timers come, before anything is read.
    await new Promise((resolve) => setImmediate(resolve));
    socket.write("GET /raw HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    expect(await untilEnd(socket)).toContain("200 OK");
  });

  it("a client that stops inside its headers is cut off", async () => {
    const socket = raw(await serve({ headersTimeoutMs: 50 }));
    socket.write("GET / HTTP/1.1\r\n");
    expect(await untilEnd(socket)).toContain("408 Request Timeout");
  });

  it("a session that stays silent is ended", async () => {
    const socket = raw(await serve({ silenceTimeoutMs: 50 }));
    socket.write(PREFACE);
    await untilEnd(socket);
  });

  it("a silent session lives as long as its call runs and its client answers", async () => {
    const session = dial(await serve({ silenceTimeoutMs: 40, pongTimeoutMs: 40 }));
    let pings = 0;
    session.on("ping", () => {
      pings += 1;
    });
    const answered = ask2(session, "/slow");
    await until(() => pings === 3);
    for (const end of slow) end();
    expect(await answered).toBe("GET /slow over 2.0");
    await once(session, "close");
  });

  it("a session whose client is gone without a word is ended", async () => {
    const socket = raw(await serve({ silenceTimeoutMs: 40, pongTimeoutMs: 40 }));
    // This HEADERS frame has GET http://x/slow in HPACK's literals. No pong ever follows.
    const headers = Buffer.from("82860101780405" + "2f736c6f77", "hex");
    const frame = Buffer.from([0, 0, headers.length, 1, 0x4, 0, 0, 0, 1]);
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame, headers]));
    await until(() => slow.length === 1);
    await untilEnd(socket);
  });

  it.each([
    ["after its first", 1],
    ["in its first", 0],
  ])(
    "a session that never ends the headers of a call, %s, is ended, however it trickles",
    async (_, before) => {
      const socket = raw(await serve({ headersTimeoutMs: 60, pongTimeoutMs: 60 }));
      const headers = Buffer.from("82860101780401" + "2f", "hex");
      const frame = (id: number, flags: number) =>
        Buffer.concat([Buffer.from([0, 0, headers.length, 1, flags, 0, 0, 0, id]), headers]);
      socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
      if (before > 0) socket.write(frame(1, 0x5));
      // The frame lacks END_HEADERS; empty CONTINUATION frames follow.
      socket.write(frame(3, 0x1));
      const trickle = setInterval(() => socket.write(Buffer.from([0, 0, 0, 9, 0, 0, 0, 0, 3])), 20);
      onTestFinished(() => clearInterval(trickle));
      await untilEnd(socket);
    },
  );

  it("a session that idles, or sends its body slowly, is no such session", async () => {
    const session = dial(await serve({ headersTimeoutMs: 60, pongTimeoutMs: 60 }));
    expect(await ask2(session, "/a")).toBe("GET /a over 2.0");
    const stream = session.request({ ":path": "/body", ":method": "POST" });
    for (let chunk = 0; chunk < 10; chunk++) {
      stream.write("a");
      await sleep(30);
    }
    expect(await text(stream.end())).toBe("POST /body over 2.0");
    await sleep(300);
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  });

  it("a body that does not end is cut off on HTTP/2", async () => {
    const stream = dial(await serve({ requestTimeoutMs: 60, headersTimeoutMs: 60 })).request(
      { ":path": "/body", ":method": "POST" },
      { endStream: false },
    );
    stream.on("error", () => {}).write("a");
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(counts.cutOff).toMatchObject({ request: 1 });
  });

  it("a slow answer to a whole request is not cut off", async () => {
    const session = dial(await serve({ requestTimeoutMs: 60, headersTimeoutMs: 60 }));
    const answered = ask2(session, "/slow");
    await sleep(150);
    for (const end of slow) end();
    expect(await answered).toBe("GET /slow over 2.0");
  });

  it("who does not read an answer is cut off on both protocols, and only the call on HTTP/2", async () => {
    const port = await serve({ answerTimeoutMs: 50 });
    const socket = raw(port).pause();
    socket.write(REQUEST.replace("/raw", "/huge"));
    const session = dial(port);
    const stream = session.request({ ":path": "/huge" });
    stream.on("error", () => {});
    // A client that does not read does not see its end either.
    const open = () => new Promise((resolve) => running?.getConnections((_, count) => resolve(count)));
    await vi.waitUntil(async () => (await open()) === 1, { timeout: 15_000 });
    await sleep(1_500);
    expect((await text(stream).catch(() => "")).length).toBeLessThan(HUGE.length);
    expect(counts.connections.used).toBe(1);
    expect(counts.cutOff).toMatchObject({ answer: 2 });
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  }, 20_000);

  it("an answer that waits behind one that does not end is not held for ever", async () => {
    const socket = raw(await serve({ answerTimeoutMs: 50 }));
    await untilEnd(socket, REQUEST.replace("/raw", "/slow") + REQUEST.replace("/raw", "/large"));
    await until(() => counts.connections.used === 0);
    expect(counts.cutOff).toMatchObject({ answer: 1 });
  }, 20_000);

  it("who reads slowly, but to the end, is served", async () => {
    const port = await serve({ answerTimeoutMs: 3_000 });
    const stream = dial(port).request({ ":path": "/large" });
    await sleep(1_500);
    expect((await text(stream)).length).toBe(LARGE.length);
  }, 20_000);
});
