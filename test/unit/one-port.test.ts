import { once } from "node:events";
import { Agent, get, type IncomingMessage, type ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import Fastify from "fastify";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ConnectionCounts } from "../../src/server/port/connection-counts.js";
import { protocolOf } from "../../src/server/port/first-bytes.js";
import { createOnePortServer, type OnePortServer } from "../../src/server/port/one-port.js";
import { ONE_PORT_LIMITS } from "../../src/server/port/one-port-limits.js";
import { whenTaken } from "../../src/server/port/slow-readers.js";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS = Buffer.from("000000040000000000", "hex");
const REQUEST = "GET /raw HTTP/1.1\r\nHost: x\r\n\r\n";
/** About 20 memories of the largest size. */
const LARGE = Buffer.alloc(1_600_000);
/** More than the system's buffers take of one connection. */
const HUGE = Buffer.alloc(64_000_000);

let running: OnePortServer | undefined;
let counts: ConnectionCounts;
/** Calls to `/slow` wait here until a test lets them go. */
let slow: (() => void)[] = [];

afterEach(() => {
  running?.closeAllConnections();
  running?.close();
  running = undefined;
  slow = [];
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const end = () => response.end(`${request.method} ${request.url} over ${request.httpVersion}`);
  if (request.headers["content-type"] === "application/grpc") answerGrpc(response);
  else if (request.url === "/slow") slow.push(end);
  else if (request.url === "/large") response.end(LARGE);
  else if (request.url === "/huge") response.end(HUGE);
  else if (request.url === "/body") request.on("data", () => {}).on("end", end);
  else end();
}

/** An empty message and the status OK, as gRPC writes them. */
function answerGrpc(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/grpc" }).write(Buffer.alloc(5));
  response.addTrailers({ "grpc-status": "0" });
  response.end();
}

async function serve(limits: Parameters<typeof createOnePortServer>[1] = {}): Promise<number> {
  counts = new ConnectionCounts();
  running = createOnePortServer(answer, { counts, ...limits });
  running.listen(0, "127.0.0.1");
  await once(running, "listening");
  return (running.address() as AddressInfo).port;
}

function raw(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

function dial(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return agent;
}

async function ask1(port: number, path: string, agent?: Agent): Promise<string> {
  const request = get({ port, host: "127.0.0.1", path, ...(agent && { agent }) });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return text(response);
}

const ask2 = (session: ClientHttp2Session, path: string) => text(session.request({ ":path": path }));

async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += chunk.toString();
  return all;
}

/** What a raw connection is sent until the server ends it. */
async function untilEnd(socket: Socket, request = ""): Promise<string> {
  let all = "";
  if (request !== "") socket.write(request);
  socket.on("data", (chunk) => {
    all += chunk.toString("latin1");
  });
  await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  return all;
}

const closed = (server: OnePortServer) => new Promise<void>((resolve) => server.close(() => resolve()));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

describe("the first bytes", () => {
  it.each(["P", "PR", "PRI"])("%j may still become either protocol", (head) => {
    expect(protocolOf(Buffer.from(head))).toBeUndefined();
  });

  it.each(["PRI ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0"])("%j is HTTP/2", (head) => {
    expect(protocolOf(Buffer.from(head))).toBe("http2");
  });

  it.each(["G", "PU", "POST", "PRO", "PRINT", "\x16\x03\x01", "\0"])("%j is left to HTTP/1", (head) => {
    expect(protocolOf(Buffer.from(head))).toBe("http1");
  });
});

describe("one port", () => {
  it("answers HTTP/1 and HTTP/2", async () => {
    const port = await serve();
    expect(await ask1(port, "/a")).toBe("GET /a over 1.1");
    expect(await ask2(dial(port), "/b")).toBe("GET /b over 2.0");
  });

  it("answers a client of grpc-js", async () => {
    const port = await serve();
    const grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    onTestFinished(() => grpc.close());
    const bytes = (value: Buffer) => value;
    const reply = await new Promise((resolve, reject) => {
      grpc.makeUnaryRequest("/a.B/C", bytes, bytes, Buffer.alloc(0), (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(reply).toEqual(Buffer.alloc(0));
  });

  it("answers as Fastify's server, and closes with it", async () => {
    const app = Fastify({ serverFactory: (handler) => createOnePortServer(handler) });
    app.get("/", (request) => request.raw.httpVersion);
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    expect(await ask1(port, "/", keepAlive())).toBe("1.1");
    expect(await ask2(dial(port), "/")).toBe("2.0");
    await app.close();
  });

  it("waits for a preface that comes in pieces", async () => {
    const socket = raw(await serve());
    for (const piece of ["P", "R", "I * HTTP/2.0\r\n", "\r\nSM\r\n\r\n"]) {
      socket.write(piece);
      await sleep(20);
    }
    socket.write(SETTINGS);
    const [frame] = (await once(socket, "data")) as [Buffer];
    expect(frame[3]).toBe(4); // the type of a SETTINGS frame
  });

  it("uses no processor time while it waits for more of a preface", async () => {
    const socket = raw(await serve());
    socket.write("PR");
    await sleep(50);
    const before = process.cpuUsage();
    await sleep(300);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(150);
  });

  it.each(["PUT", "POST", "PATCH", "PROPFIND"])("takes %s for HTTP/1, byte by byte", async (method) => {
    const socket = raw(await serve());
    const request = `${method} /raw HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const answered = untilEnd(socket);
    for (const byte of request.slice(0, 6)) {
      socket.write(byte);
      await sleep(5);
    }
    socket.write(request.slice(6));
    expect(await answered).toContain(`${method} /raw over 1.1`);
  });

  it.each([
    ["bytes of no protocol", "\0\xff\x7f garbage\r\n\r\n"],
    ["a TLS hello", "\x16\x03\x01\x02\0\x01\0"],
    ["a method like the preface", "PRINT / HTTP/1.1\r\n\r\n"],
    ["a broken preface", "PRI * HTTP/9.9\r\n\r\nNO\r\n\r\n"],
  ])("ends a connection of %s and serves others", async (_, bytes) => {
    const port = await serve();
    const socket = raw(port);
    socket.write(Buffer.from(bytes, "latin1"));
    await untilEnd(socket);
    expect(await ask1(port, "/a")).toBe("GET /a over 1.1");
  });
});

describe("the limits of one port", () => {
  it.each(["", "P", "PRI"])("a client that stops after %j is cut off", async (bytes) => {
    const socket = raw(await serve({ firstBytesTimeoutMs: 50 }));
    socket.write(bytes);
    await untilEnd(socket);
    expect(counts.cutOff).toMatchObject({ first_bytes: 1, request: 0 });
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
    // The headers of GET http://x/slow in HPACK's literals, in a HEADERS frame; then never a pong.
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
      // Without END_HEADERS; then empty CONTINUATION frames.
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
    for (let piece = 0; piece < 10; piece++) {
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

  it("connections beyond the limit are refused", async () => {
    const port = await serve({ connectionsMax: 1 });
    const first = raw(port);
    await once(first, "connect");
    await untilEnd(raw(port));
    expect(counts).toMatchObject({ open: 1, refused: { total: 1, address: 0 } });
    first.destroy();
    await until(() => counts.open === 0);
  });

  it("connections of one address beyond its limit are refused, and again admitted when one has closed", async () => {
    const port = await serve({ connectionsPerAddressMax: 2 });
    const first = raw(port);
    const second = dial(port);
    await Promise.all([once(first, "connect"), ask2(second, "/a")]);
    await untilEnd(raw(port));
    expect(counts).toMatchObject({ open: 2, refused: { total: 0, address: 1 } });
    expect(await ask2(second, "/b")).toBe("GET /b over 2.0");
    first.destroy();
    await vi.waitFor(() => ask1(port, "/c"), { timeout: 5_000 });
  });

  it("a proxy stands for many clients, and may have as many connections as there are", async () => {
    const port = await serve({ connectionsPerAddressMax: 1, isProxy: (address) => address === "127.0.0.1" });
    const agents = [keepAlive(), keepAlive(), keepAlive()];
    const answers = await Promise.all(agents.map((agent) => ask1(port, "/a", agent)));
    expect(answers).toEqual(Array(3).fill("GET /a over 1.1"));
  });

  it("who does not read an answer is cut off on both protocols, and only the call on HTTP/2", async () => {
    const port = await serve({ answerTimeoutMs: 50 });
    const socket = raw(port).pause();
    socket.write(REQUEST.replace("/raw", "/huge"));
    const session = dial(port);
    const stream = session.request({ ":path": "/huge" });
    stream.on("error", () => {});
    // Whoever does not read does not see its end either.
    const open = () => new Promise((resolve) => running?.getConnections((_, count) => resolve(count)));
    await vi.waitUntil(async () => (await open()) === 1, { timeout: 15_000 });
    await sleep(1_500);
    expect((await text(stream).catch(() => "")).length).toBeLessThan(HUGE.length);
    expect(counts).toMatchObject({ open: 1, cutOff: { answer: 2 } });
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  }, 20_000);

  it("who sends request upon request without waiting is cut off, and all that waited is told", async () => {
    const taken: Promise<void>[] = [];
    counts = new ConnectionCounts();
    running = createOnePortServer((request) => void taken.push(whenTaken(request) as Promise<void>), {
      pipelinedMax: 4,
      counts,
    });
    running.listen(0, "127.0.0.1");
    await once(running, "listening");
    const { port } = running.address() as AddressInfo;
    const patient = raw(port);
    patient.write(REQUEST.repeat(4));
    await until(() => taken.length === 4);
    await untilEnd(raw(port), REQUEST.repeat(9));
    expect(taken).toHaveLength(8);
    expect(counts.cutOff).toEqual({ first_bytes: 0, request: 0, answer: 0, pipelining: 1 });
    await Promise.all(taken.slice(4));
    expect(patient.destroyed).toBe(false);
    patient.destroy();
    await Promise.all(taken);
  });

  it("who reads slowly, but to the end, is served", async () => {
    const port = await serve({ answerTimeoutMs: 3_000 });
    const stream = dial(port).request({ ":path": "/large" });
    await sleep(1_500);
    expect((await text(stream)).length).toBe(LARGE.length);
  }, 20_000);

  it("more headers than it may have end an HTTP/2 call", async () => {
    const session = dial(await serve({ headerLinesMax: 16 }));
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-${n}`, "1"]));
    const stream = session.request({ ":path": "/", ...many });
    await expect(once(stream, "close")).rejects.toThrow();
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(await ask2(session, "/b")).toBe("GET /b over 2.0");
  });

  it("a session that resets calls in a flood is ended", async () => {
    const session = dial(await serve());
    await ask2(session, "/a");
    let goaway: number | undefined;
    session.once("goaway", (code) => {
      goaway = code;
    });
    // 900 at once are allowed, and 30 a second.
    for (let call = 0; call < 5_000 && !session.destroyed; call++) {
      const stream = session.request({ ":path": "/slow" });
      stream.on("error", () => {});
      await immediate();
      stream.close(constants.NGHTTP2_CANCEL);
      await immediate();
    }
    await vi.waitUntil(() => session.destroyed, { timeout: 10_000 });
    expect(goaway).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }, 30_000);

  it("a session that sends calls and their resets all in one go is ended too", async () => {
    const port = await serve();
    const frame = (type: number, { flags, id, payload }: { flags: number; id: number; payload: Buffer }) => {
      const head = Buffer.alloc(9);
      head.writeUIntBE(payload.length, 0, 3);
      head.writeUInt8(type, 3);
      head.writeUInt8(flags, 4);
      head.writeUInt32BE(id, 5);
      return Buffer.concat([head, payload]);
    };
    // HPACK: GET, http, /, by their numbers in the static table, and no name for the host.
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

describe("closing one port", () => {
  it("lets running calls of both protocols end, and no connection outlives them", async () => {
    const port = await serve();
    const session = dial(port);
    const answers = [ask1(port, "/slow", keepAlive()), ask2(session, "/slow")];
    await until(() => slow.length === 2);
    let done = false;
    const end = closed(running as OnePortServer).then(() => {
      done = true;
    });
    await sleep(150);
    expect(done).toBe(false);
    for (const go of slow) go();
    expect(await Promise.all(answers)).toEqual(["GET /slow over 1.1", "GET /slow over 2.0"]);
    await end;
    expect(session.closed).toBe(true);
  });

  it("ends connections that are idle, silent or inside a preface", async () => {
    const port = await serve();
    await ask1(port, "/a", keepAlive());
    await ask2(dial(port), "/b");
    for (const bytes of ["", "PR", "PRI * HTTP/2", PREFACE]) raw(port).write(bytes);
    await sleep(50);
    const begin = performance.now();
    await closed(running as OnePortServer);
    expect(performance.now() - begin).toBeLessThan(3000);
  });

  it.each([
    ["close gives up on", 3000, () => {}],
    ["closeAllConnections ends", 500, () => running?.closeAllConnections()],
  ])("%s an HTTP/2 client that does not end its side", async (_, withinMs, then) => {
    const socket = raw(await serve());
    socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS]));
    await once(socket, "data");
    const end = closed(running as OnePortServer);
    await once(socket, "end");
    const begin = performance.now();
    then();
    await end;
    expect(performance.now() - begin).toBeLessThan(withinMs);
  });

  it("takes no new connections and no new calls", async () => {
    const port = await serve();
    const session = dial(port);
    const answered = ask2(session, "/slow");
    await until(() => slow.length === 1);
    const end = closed(running as OnePortServer);
    await once(session, "goaway");
    // Some versions of Node refuse at once, some when the session is gone.
    const late = (async () => ask2(session, "/late"))().catch(() => "refused");
    await expect(ask1(port, "/late")).rejects.toThrow("ECONNREFUSED");
    for (const go of slow) go();
    expect(await answered).toBe("GET /slow over 2.0");
    expect(await late).toBe("refused");
    await end;
  });

  it("closeAllConnections ends stuck calls of both protocols", async () => {
    const port = await serve();
    const answers = [ask1(port, "/slow"), ask2(dial(port), "/slow")].map((call) => call.catch(() => "cut"));
    await until(() => slow.length === 2);
    const end = closed(running as OnePortServer);
    running?.closeAllConnections();
    await end;
    expect((await Promise.all(answers))[0]).toBe("cut");
  });
});
