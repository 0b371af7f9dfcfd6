import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate as nextIteration } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import { readInSlices } from "../../src/server/listen/read-in-slices.js";

const LONG = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));

/** A connection that nobody is at the other side of; what it still has is not read after the test. */
function socketOf(): Socket {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as Socket;
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Reads a connection of a stranger. */
function flood(socket: Socket, parse: (slice: Buffer) => void): void {
  readInSlices(socket, { owner: "stranger", parse });
}

/** Floods so many connections of a stranger, and counts the slices that are parsed, which take a millisecond each. */
function floodMany(connections: number): { readonly slices: number } {
  const parsed = { slices: 0 };
  for (let i = 0; i < connections; i++) {
    const socket = socketOf();
    flood(socket, () => {
      parsed.slices += 1;
      work(1);
    });
    socket.push(LONG);
  }
  return parsed;
}

function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {}
}

test("all that is sent reaches the parser in its order, whoever pauses and resumes", async () => {
  const socket = socketOf();
  const slices: Buffer[] = [];
  flood(socket, (slice) => {
    slices.push(slice);
    work(0.1);
    // As Node does while a client does not take its answers, and when a reader of a body asks for more.
    if (slices.length % 7 === 0) {
      socket.pause();
      setImmediate(() => socket.resume());
    } else if (slices.length % 3 === 0) setImmediate(() => socket.resume());
  });
  for (let from = 0; from < LONG.length; from += 30_000) socket.push(LONG.subarray(from, from + 30_000));
  while (slices.reduce((sum, { length }) => sum + length, 0) < LONG.length) await nextIteration();
  expect(Buffer.concat(slices).equals(LONG)).toBe(true);
});

test("other work runs while a connection sends what takes long", async () => {
  const socket = socketOf();
  let bytes = 0;
  flood(socket, (slice) => {
    bytes += slice.length;
    work(0.5);
  });
  socket.push(LONG.subarray(0, 32_768));
  let iterations = 0;
  for (; bytes < 32_768; iterations++) await nextIteration();
  expect(iterations).toBeGreaterThan(5);
});

test("nothing reaches the parser once our side has ended", async () => {
  const socket = socketOf();
  let slices = 0;
  flood(socket, () => {
    slices += 1;
    socket.end();
  });
  socket.push(LONG);
  for (let i = 0; i < 100; i++) await nextIteration();
  expect(slices).toBe(1);
});

test("a connection waits for one of those that a stranger floods, and not for all", async () => {
  const floods = floodMany(200);
  const socket = socketOf();
  const done = new Promise<void>((resolve) => {
    readInSlices(socket, { owner: "another", parse: () => resolve() });
  });
  // It comes behind the others of this iteration of the event loop, which have used the time up.
  socket.push(Buffer.from("GET / HTTP/1.1"));
  await done;
  expect(floods.slices).toBeLessThan(20);
});

test("a request waits for few of those that its own address floods", async () => {
  const floods = floodMany(100);
  const socket = socketOf();
  const done = new Promise<void>((resolve) => flood(socket, () => resolve()));
  socket.push(Buffer.from("GET / HTTP/1.1"));
  await done;
  expect(floods.slices).toBeLessThan(20);
});

test("a connection that has closed waits for no turn, which would hold all that it had asked for", async () => {
  const socket = socketOf();
  flood(socket, () => work(1));
  socket.push(LONG);
  while (!socket.isPaused()) await nextIteration();
  const resume = vi.spyOn(socket, "resume");
  socket.destroy();
  for (let i = 0; i < 20; i++) await nextIteration();
  expect(resume).not.toHaveBeenCalled();
});

/** Sends bytes to a server, and resolves once it has closed the connection. */
async function send(bytes: Buffer, handler: RequestListener, onServer = (_server: OnePortServer) => {}) {
  const server = new OnePortServer(handler);
  onServer(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {}).resume();
  socket.write(bytes);
  await once(socket, "close");
}

test("requests behind the hundred that a connection may pipeline are not even parsed", async () => {
  let requests = 0;
  const bytes = Buffer.from("GET /livez HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2_000));
  // Nothing is answered, so that all wait.
  await send(
    bytes,
    () => {},
    (server) => server.on("request", () => requests++),
  );
  expect(requests).toBeGreaterThan(100);
  // Pieces double, and the one in which the hundredth stands is parsed as a whole.
  expect(requests).toBeLessThan(400);
});

test("chunks of a byte are not even parsed once hundreds were dropped behind an answer", async () => {
  let chunks = 0;
  const head = "POST /signup HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
  await send(Buffer.from(head + "1\r\n \r\n".repeat(10_000)), (request: IncomingMessage, response) => {
    const push = request.push.bind(request);
    request.push = (chunk) => {
      chunks += 1;
      return push(chunk);
    };
    response.end("refused");
  });
  expect(chunks).toBeGreaterThan(250);
  expect(chunks).toBeLessThan(1_500);
});
