import { once } from "node:events";
import { get, type IncomingMessage, type ServerResponse } from "node:http";
import { type ClientHttp2Stream, constants, connect as http2Connect } from "node:http2";
import { connect, Socket } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { refuseMethod } from "../../src/server/errors.js";
import { TrustedProxies } from "../../src/server/listen/client-address.js";
import { Http2Sessions } from "../../src/server/listen/http2-sessions.js";
import { HTTP2_STREAMS_MAX, ONE_PORT_LIMITS } from "../../src/server/listen/one-port-limits.js";
import { onTaken } from "../../src/server/listen/open-requests.js";
import { noteRefusal, REFUSALS_RATE } from "../../src/server/listen/refusals.js";
import {
  ask1,
  ask2,
  counts,
  dial,
  keepAlive,
  LARGE,
  PREFACE,
  REQUEST,
  raw,
  resetUntilEnded,
  running,
  SETTINGS,
  serve,
  text,
  until,
  untilEnd,
} from "../support/one-port.js";

describe("the limits of one port", () => {
  it("headers beyond the limit are refused on both protocols", async () => {
    const port = await serve({ headerBytesMax: 2048 });
    const long = { "x-long": "a".repeat(4096) };
    const request = get({ port, host: "127.0.0.1", headers: long });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(431);
    const session = dial(port);
    await once(session, "remoteSettings"); // the limit holds from here on
    const stream = session.request({ ":path": "/", ...long });
    await expect(once(stream, "close")).rejects.toThrow();
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("lets other work run between connections whose first bytes come at once", async () => {
    const port = await serve();
    const sockets = Array.from({ length: 60 }, () => raw(port));
    await until(() => counts.connections.used === sockets.length);
    let opened = 0;
    // Node sets this of each connection that it opens.
    const setTimeout = vi.spyOn(Socket.prototype, "setTimeout").mockImplementation(function (this: Socket) {
      opened += 1;
      for (const endMs = performance.now() + 1; performance.now() < endMs; );
      return this;
    });
    onTestFinished(() => setTimeout.mockRestore());
    for (const socket of sockets) socket.write("GET /");
    // All have come when the next iteration of the event loop begins.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    let most = 0;
    for (let before = 0; before < sockets.length; ) {
      await immediate();
      most = Math.max(most, opened - before);
      before = opened;
    }
    expect(most).toBeLessThan(20);
  });

  it("connections beyond the limit are refused", async () => {
    // One address gets a third.
    const port = await serve({ connectionsMax: 3 });
    const first = raw(port);
    await once(first, "connect");
    await untilEnd(raw(port));
    expect(counts).toMatchObject({ connections: { used: 1 }, refused: { total: 0, address: 1 } });
    counts.connections.take("another address");
    first.destroy();
    await until(() => counts.connections.used === 1);
    counts.connections.take("a third one");
    await untilEnd(raw(port));
    expect(counts).toMatchObject({ connections: { used: 2 }, refused: { total: 1, address: 1 } });
    counts.connections.give("another address");
    counts.connections.give("a third one");
    first.destroy();
    await until(() => counts.connections.used === 0);
  });

  it("connections of one address beyond its limit are refused, and again accepted when one has closed", async () => {
    const port = await serve({ connectionsPerAddressMax: 2 });
    const first = raw(port);
    const second = dial(port);
    await Promise.all([once(first, "connect"), ask2(second, "/a")]);
    await untilEnd(raw(port));
    expect(counts).toMatchObject({ connections: { used: 2 }, refused: { total: 0, address: 1 } });
    expect(await ask2(second, "/b")).toBe("GET /b over 2.0");
    first.destroy();
    await vi.waitFor(() => ask1(port, "/c"), { timeout: 5_000 });
  });

  it("a proxy stands for many clients, and may have as many connections as there are", async () => {
    const port = await serve({ connectionsPerAddressMax: 1, proxies: new TrustedProxies(["127.0.0.1"]) });
    const agents = [keepAlive(), keepAlive(), keepAlive()];
    const answers = await Promise.all(agents.map((agent) => ask1(port, "/a", agent)));
    expect(answers).toEqual(Array(3).fill("GET /a over 1.1"));
  });

  it("who sends request upon request without waiting is cut off, and all that waited is told", async () => {
    const taken: Promise<void>[] = [];
    const port = await serve(
      { pipelinedMax: 4 },
      (request) => void taken.push(new Promise((resolve) => onTaken(request, resolve))),
    );
    const patient = raw(port);
    patient.write(REQUEST.repeat(4));
    await until(() => taken.length === 4);
    await untilEnd(raw(port), REQUEST.repeat(9));
    expect(taken).toHaveLength(8);
    expect(counts.cutOff).toEqual({ first_bytes: 0, request: 0, answer: 0, pipelining: 1, refusals: 0 });
    await Promise.all(taken.slice(4));
    expect(patient.destroyed).toBe(false);
    patient.destroy();
    await Promise.all(taken);
  });

  it("more headers than it may have end an HTTP/2 call", async () => {
    const session = dial(await serve({ headerLinesMax: 16 }));
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-${n}`, "1"]));
    const stream = session.request({ ":path": "/", ...many });
    await expect(once(stream, "close")).rejects.toThrow();
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  });

  it("a session that resets calls in a flood is ended, and its address begins no other for a while", async () => {
    const port = await serve();
    const session = dial(port);
    await ask2(session, "/a");
    let goaway: number | undefined;
    session.once("goaway", (code) => {
      goaway = code;
    });
    await resetUntilEnded(session);
    expect(goaway).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // A fresh session would only go on; another address is served, and so is HTTP/1.
    const refused = counts.refused.address;
    await untilEnd(raw(port), PREFACE);
    expect(counts.refused.address).toBe(refused + 1);
    expect(await ask1(port, "/b")).toBe("GET /b over 1.1");
    const other = http2Connect(`http://127.0.0.1:${port}`, { localAddress: "127.0.0.2" } as object);
    expect(await ask2(other, "/c")).toBe("GET /c over 2.0");
    other.destroy();
  }, 30_000);

  const frame = (type: number, { flags, id, payload }: { flags: number; id: number; payload: Buffer }) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(id, 5);
    return Buffer.concat([head, payload]);
  };

  it.each([
    ["NO_ERROR", constants.NGHTTP2_NO_ERROR],
    ["PROTOCOL_ERROR", constants.NGHTTP2_PROTOCOL_ERROR],
    ["CANCEL", constants.NGHTTP2_CANCEL],
  ])("a call that is reset in one go with %s does no harm", async (_, code) => {
    const port = await serve();
    const socket = raw(port);
    const reset = { flags: 0, id: 1, payload: Buffer.from([0, 0, 0, code]) };
    // HPACK writes GET, http and / by their numbers in the static table, and x as the host's name.
    const payload = Buffer.from("828684" + "010178", "hex");
    const call = frame(1, { flags: 4, id: 1, payload });
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, call, frame(3, reset)]));
    await once(socket, "data");
    // What is thrown where nobody listens ends the process, and here the test run.
    expect(await ask1(port, "/b")).toBe("GET /b over 1.1");
    await until(() => counts.http2Streams.used === 0);
  });

  it.each(["/slow", "/body"])("a call of %s that is reset without an error ends at once", async (path) => {
    const session = dial(await serve());
    await ask2(session, "/a");
    const stream = session.request({ ":path": path, ":method": "POST" }, { endStream: false });
    stream.on("error", () => {}).write("a");
    await until(() => counts.http2Streams.used === 1);
    stream.close(constants.NGHTTP2_NO_ERROR);
    await until(() => counts.http2Streams.used === 0);
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  });

  it("a session that sends calls and their resets all in one go is ended too", async () => {
    const port = await serve();
    // HPACK writes GET, http and / by their numbers in the static table. The host has no name.
    const headers = Buffer.from([0x82, 0x86, 0x84]);
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
    const bytes = [Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")];
    bytes.push(frame(4, { flags: 0, id: 0, payload: Buffer.alloc(0) }));
    for (let id = 1; id < 5_000; id += 2) {
      bytes.push(frame(1, { flags: 5, id, payload: headers }), frame(3, { flags: 0, id, payload: cancel }));
    }
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    const closed = once(socket, "close");
    socket.write(Buffer.concat(bytes));
    await closed;
  }, 10_000);

  it("a session that sends frames for nothing is ended, and its address begins no other for a while", async () => {
    const port = await serve();
    const priority = frame(2, { flags: 0, id: 1, payload: Buffer.from([0, 0, 0, 0, 1]) });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, ...Array(120_000).fill(priority)]));
    await once(socket, "close");
    const refused = counts.refused.address;
    await untilEnd(raw(port), PREFACE);
    expect(counts.refused.address).toBe(refused + 1);
    expect(await ask1(port, "/b")).toBe("GET /b over 1.1");
  });

  it("calls that many sessions send together are taken of one session after another, and all answered", async () => {
    let [inThis, most] = [0, 0];
    const port = await serve({ streamsMax: 10 }, (_request, response) => {
      for (const endMs = performance.now() + 4; performance.now() < endMs; );
      most = Math.max(most, ++inThis);
      setImmediate(() => {
        inThis = 0;
      });
      response.end("done");
    });
    const sessions = Array.from({ length: 10 }, () => dial(port));
    await Promise.all(sessions.map((session) => ask2(session, "/a")));
    most = 0;
    const answers = sessions.flatMap((session) => Array.from({ length: 10 }, () => ask2(session, "/b")));
    expect(await Promise.all(answers)).toEqual(answers.map(() => "done"));
    // What one has sent is read in one go.
    expect(most).toBeLessThanOrEqual(10 + 1);
  });

  it("a request by HTTP/1 waits for few sessions that open with many calls, and not for one of each address", async () => {
    const accept = vi.spyOn(Http2Sessions.prototype, "accept");
    onTestFinished(() => accept.mockRestore());
    let opened = 0;
    const port = await serve({}, (request, response) => {
      if (request.url === "/raw") opened = accept.mock.calls.length;
      response.end("done");
    });
    const open = async (n: number) => {
      const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.1.${n}` });
      onTestFinished(() => void socket.destroy());
      await once(socket.on("error", () => {}).resume(), "connect");
      return socket;
    };
    const untilAccepted = (n: number) =>
      vi.waitUntil(async () => {
        const accepted = await new Promise<number>((resolve) =>
          running?.getConnections((_, n) => resolve(n)),
        );
        return accepted === n;
      });
    const sockets = await Promise.all(Array.from({ length: 40 }, (_, n) => open(n + 1)));
    const own = await open(100);
    await untilAccepted(41);
    const payload = Buffer.from("828684" + "010178", "hex");
    const calls = Array.from({ length: 100 }, (_, n) => frame(1, { flags: 5, id: 2 * n + 1, payload }));
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, ...calls]));
    own.write(REQUEST);
    await until(() => opened > 0);
    expect(opened).toBeLessThan(20);
  });

  it("calls that a session sends together are served in turns, with the bodies that have ended meanwhile", async () => {
    let [inThis, most] = [0, 0];
    const port = await serve({}, (request, response) => {
      for (const endMs = performance.now() + 1; performance.now() < endMs; );
      most = Math.max(most, ++inThis);
      setImmediate(() => {
        inThis = 0;
      });
      request.resume().on("end", () => response.end("done"));
    });
    const session = dial(port);
    await ask2(session, "/a");
    const answers = Array.from({ length: 100 }, () => {
      const stream = session.request({ ":method": "POST" }, { endStream: false });
      return text(stream.end());
    });
    expect(await Promise.all(answers)).toEqual(answers.map(() => "done"));
    // Three begin before the time of an iteration is over, and two in turns.
    expect(most).toBeLessThanOrEqual(3 + 1 + 2 + 1);
  });

  it("of calls that a session opens behind its resets of others, few are begun together and the rest refused", async () => {
    let [inThis, most] = [0, 0];
    const port = await serve({ streamsMax: 10 }, () => {
      for (const endMs = performance.now() + 1; performance.now() < endMs; );
      most = Math.max(most, ++inThis);
      setImmediate(() => {
        inThis = 0;
      });
    });
    const socket = raw(port);
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
    await once(socket, "data");
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
    const calls = Array.from({ length: 100 }, (_, n) => 2 * n + 1).flatMap((id) => [
      frame(1, { flags: 5, id, payload: Buffer.from("828684" + "010178", "hex") }),
      frame(3, { flags: 0, id, payload: cancel }),
    ]);
    socket.write(Buffer.concat(calls));
    await until(() => most > 0 && counts.http2Streams.used === 0);
    // Three begin before the time of an iteration is over.
    expect(most).toBeLessThanOrEqual(3 + 1 + 10);
    expect(socket.closed).toBe(false);
  });

  it("a session that has made many calls may send no more frames for nothing later", async () => {
    const port = await serve();
    const socket = connect(port, "127.0.0.1");
    let told = "";
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        told += bytes.toString("latin1");
      });
    const closed = once(socket, "close");
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
    const answered = () => told.split("GET /b over 2.0").length - 1;
    for (let call = 0; call < 300; await until(() => answered() === call))
      for (const end = call + 50; call < end; call++)
        socket.write(
          frame(1, { flags: 5, id: 2 * call + 1, payload: Buffer.from("828604022f62010178", "hex") }),
        );
    // Longer than the time between two looks.
    await new Promise((done) => setTimeout(done, 300));
    const priority = frame(2, { flags: 0, id: 1, payload: Buffer.from([0, 0, 0, 0, 16]) });
    socket.write(Buffer.concat(Array(110_000).fill(priority)));
    await closed;
    expect(counts.cutOff.request).toBe(1);
  });

  it.each([
    { flags: 5, where: "calls", header: "a", name: "400161" },
    { flags: 5, where: "calls", header: "set-cookie", name: "77" },
    { flags: 5, where: "calls", header: "user-agent", name: "7a" },
    { flags: 4, where: "trailers", header: "a", name: "400161" },
    { flags: 4, where: "trailers", header: "user-agent", name: "7a" },
  ])(
    "a session whose $where say megabytes by references to one $header is ended",
    async ({ flags, name }) => {
      const port = await serve();
      // HPACK keeps the header of 3,900 bytes as number 62, so that a byte says it again.
      const get = Buffer.from("828684" + "010178", "hex");
      const first = Buffer.concat([get, Buffer.from(`${name}7fbd1d`, "hex"), Buffer.alloc(3_900, "v")]);
      const again = Buffer.concat([get, Buffer.alloc(100, 0x80 | 62)]);
      const calls = Array.from({ length: 5 }, (_, n) => {
        const id = 2 * n + 3;
        if (flags === 5) return frame(1, { flags, id, payload: again });
        const trailers = frame(1, { flags: 5, id, payload: again.subarray(get.length) });
        return Buffer.concat([frame(1, { flags, id, payload: get }), trailers]);
      });
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {}).resume();
      const closed = once(socket, "close");
      socket.write(
        Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(1, { flags: 5, id: 1, payload: first })]),
      );
      await once(socket, "data");
      expect(counts.cutOff.request).toBe(0);
      socket.write(Buffer.concat(calls));
      await closed;
      expect(counts.cutOff.request).toBe(1);
    },
  );

  it("a session whose body comes in thousands of tiny frames is ended", async () => {
    const port = await serve();
    // HPACK writes POST, http and the name of the path by their numbers in the static table.
    const headers = Buffer.from("8386" + "04052f626f6479" + "010178", "hex");
    const call = frame(1, { flags: 4, id: 1, payload: headers });
    const tiny = frame(0, { flags: 0, id: 1, payload: Buffer.from("a") });
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    const closed = once(socket, "close");
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, call, ...Array(20_000).fill(tiny)]));
    await closed;
    expect(counts.cutOff.request).toBe(1);
  });

  it("many new sessions that send a body along with their first bytes are no flood", async () => {
    const port = await serve();
    const headers = Buffer.from("8386" + "04052f626f6479" + "010178", "hex");
    const part = frame(0, { flags: 0, id: 1, payload: Buffer.alloc(16_000) });
    const end = frame(0, { flags: 1, id: 1, payload: Buffer.alloc(16_000) });
    const call = Buffer.concat([frame(1, { flags: 4, id: 1, payload: headers }), part, end]);
    const sockets = Array.from({ length: 60 }, () => raw(port));
    for (const socket of sockets) socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, call]));
    await Promise.all(sockets.map((socket) => once(socket, "data")));
    // Longer than the time between two looks.
    await new Promise((done) => setTimeout(done, 300));
    expect(counts.cutOff.request).toBe(0);
    expect(await ask2(dial(port), "/b")).toBe("GET /b over 2.0");
  });

  it("a stream beyond an address's share is refused before it is served, and another follows when one ends", async () => {
    let served = 0;
    const held: ServerResponse[] = [];
    const port = await serve({}, (_request, response) => {
      served += 1;
      held.push(response);
    });
    // Another address leaves so few that this one gets two.
    counts.http2Streams.tryTake("another address", HTTP2_STREAMS_MAX / 3);
    let others = 0;
    while (counts.http2Streams.total - counts.http2Streams.used > 6) {
      counts.http2Streams.tryTake(`network ${others++}`, 1);
    }
    const session = dial(port);
    const streams = [1, 2].map(() => session.request({ ":path": "/held" }));
    await until(() => served === 2);
    const third = session.request({ ":path": "/held" });
    await expect(once(third, "close")).rejects.toThrow();
    expect(third.rstCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    for (const response of held.splice(0)) response.end("ok");
    for (const stream of streams) expect(await text(stream)).toBe("ok");
    const fourth = session.request({ ":path": "/held" });
    await until(() => served === 3);
    held[0]?.end("ok");
    expect(await text(fourth)).toBe("ok");
  });

  it("after many refusals of an address each one ends its connection, with its answer, on both protocols", async () => {
    const port = await serve({}, (request, response) => {
      response.statusCode = 429;
      response.end("no");
      noteRefusal(request);
    });
    const session = dial(port);
    let [answers, goaway] = [0, 0];
    session.once("goaway", (code) => {
      goaway = code;
    });
    while (goaway === 0 && !session.destroyed && answers < 5_000) {
      if ((await ask2(session, "/").catch(() => "")) === "no") answers += 1;
    }
    expect(goaway).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(answers).toBeGreaterThanOrEqual(REFUSALS_RATE.burst);
    // A fresh connection goes on no further.
    const socket = raw(port);
    let told = "";
    socket.on("data", (chunk) => {
      told += chunk;
    });
    let asked = 0;
    while (asked < 500 && !socket.destroyed && !socket.readableEnded) {
      socket.write(REQUEST);
      asked += 1;
      await until(
        () => socket.destroyed || socket.readableEnded || told.split("HTTP/1.1 429").length > asked,
      );
    }
    expect(told.split("HTTP/1.1 429").length - 1).toBe(asked);
    expect(asked).toBeLessThan(500);
    expect(counts.cutOff.refusals).toBe(2);
    // Others are not: their address has its own.
    const other = http2Connect(`http://127.0.0.1:${port}`, { localAddress: "127.0.0.2" } as object);
    for (let asked = 0; asked < 90; asked++) expect(await ask2(other, "/")).toBe("no");
    other.destroy();
  }, 20_000);

  it("a method that there is not counts as a refusal", async () => {
    // On a busy machine, as many refusals would be made up for meanwhile as are asked for.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    let spent = false;
    const port = await serve({}, (request, response) => {
      for (let refusal = 0; !spent && refusal < REFUSALS_RATE.burst; refusal++) noteRefusal(request);
      spent = true;
      if (!refuseMethod(request, response)) response.end();
    });
    const session = dial(port);
    const ended = once(session, "goaway");
    session.request({ ":method": "FOO" }, { endStream: true }).on("error", () => {});
    expect((await ended)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("a proxy's connection stays, whatever its clients are refused", async () => {
    const port = await serve({ proxies: new TrustedProxies(["127.0.0.1"]) }, (request, response) => {
      response.end("no");
      for (let refusal = 0; refusal <= REFUSALS_RATE.burst; refusal++) noteRefusal(request);
    });
    const session = dial(port);
    expect([await ask2(session, "/"), await ask2(session, "/")]).toEqual(["no", "no"]);
  });

  it("a session runs no more calls at a time than it may", async () => {
    const session = dial(await serve({ streamsMax: 3 }));
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
  });

  it("a session may leave as many large answers unread as it runs calls", async () => {
    const session = dial(await serve());
    const streams: ClientHttp2Stream[] = [];
    while (streams.length < ONE_PORT_LIMITS.streamsMax) {
      const stream = session.request({ ":path": "/large" });
      await once(stream, "response"); // calls that come at once would all be taken
      streams.push(stream);
    }
    for (const stream of streams) expect((await text(stream)).length).toBe(LARGE.length);
  });

  it.each([
    ["nothing", ""],
    ["half a preface", "PRI"],
    ["a preface", PREFACE],
    ["a whole request", REQUEST],
  ])("a client that half-closes after %s is let go", async (_, bytes) => {
    const socket = raw(await serve());
    const ended = untilEnd(socket);
    socket.end(bytes);
    await ended;
    await until(() => socket.destroyed || socket.readableEnded);
  });
});
