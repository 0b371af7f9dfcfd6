import { once } from "node:events";
import { Agent, get, type IncomingMessage, type ServerResponse } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, onTestFinished, vi } from "vitest";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import type { ConnectionCounts } from "../../src/server/listen/one-port-limits.js";

export const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
export const SETTINGS = Buffer.from("000000040000000000", "hex");
export const REQUEST = "GET /raw HTTP/1.1\r\nHost: x\r\n\r\n";
/** Bytes of about 20 memories of the largest size. */
export const LARGE = Buffer.alloc(1_600_000);
/** More bytes than the system's buffers take for one connection. */
export const HUGE = Buffer.alloc(64_000_000);

export let running: OnePortServer | undefined;
export let counts: ConnectionCounts;
/** Calls to `/slow`, which wait here until a test ends them. */
export let slow: (() => void)[] = [];

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

/**
 * Resets calls of a session, each at once, until the server has ended it, which allows 900 at once, and 30 a second. No time
 * passes until the test ends: on a busy machine it would allow the address its next session again.
 */
export async function resetUntilEnded(session: ClientHttp2Session): Promise<void> {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  for (let call = 0; call < 5_000 && !session.destroyed; call++) {
    const stream = session.request({ ":path": "/slow" });
    stream.on("error", () => {});
    await immediate();
    stream.close(constants.NGHTTP2_CANCEL);
    await immediate();
  }
  await vi.waitUntil(() => session.destroyed, { timeout: 10_000 });
}

/** Answers with an empty message and the status OK, as gRPC writes them. */
function answerGrpc(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/grpc" }).write(Buffer.alloc(5));
  response.addTrailers({ "grpc-status": "0" });
  response.end();
}

export async function serve(
  limits: ConstructorParameters<typeof OnePortServer>[1] = {},
  handler: ConstructorParameters<typeof OnePortServer>[0] = answer,
): Promise<number> {
  running = new OnePortServer(handler, limits);
  ({ counts } = running);
  running.listen(0, "127.0.0.1");
  await once(running, "listening");
  return (running.address() as AddressInfo).port;
}

export function raw(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {}).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

export function dial(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

export function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return agent;
}

export async function ask1(port: number, path: string, agent?: Agent): Promise<string> {
  const request = get({ port, host: "127.0.0.1", path, ...(agent && { agent }) });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return text(response);
}

export const ask2 = (session: ClientHttp2Session, path: string) => text(session.request({ ":path": path }));

export async function text(stream: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += chunk.toString();
  return all;
}

/** Reads everything from a raw connection until the server ends it. */
export async function untilEnd(socket: Socket, request = ""): Promise<string> {
  let all = "";
  if (request !== "") socket.write(request);
  socket.on("data", (chunk) => {
    all += chunk.toString("latin1");
  });
  await new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  return all;
}

export const closed = (server: OnePortServer) =>
  new Promise<void>((resolve) => server.close(() => resolve()));

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}
