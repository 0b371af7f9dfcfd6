import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { OnePortServer } from "../../src/server/listen/one-port.js";

/** Number of calls, above a session's streams: after 100 that are never freed, Node refuses all calls. */
const CALLS = 120;
const BODY = Buffer.alloc(200_000);

/** Ways in which a handler uses a body before it answers. */
const READERS: Record<string, (request: IncomingMessage) => Promise<void>> = {
  "nothing of it": async () => {},
  "its first piece": async (request) => {
    for await (const _ of request) break;
  },
  "a part, and fails": async (request) => {
    const read = async () => {
      let bytes = 0;
      for await (const chunk of request) {
        bytes += chunk.length;
        if (bytes > BODY.length / 2) throw new Error("enough");
      }
    };
    await read().catch(() => {});
  },
  "all of it": async (request) => {
    for await (const _ of request);
  },
};

async function serve(
  read: (request: IncomingMessage) => Promise<void>,
  limits: ConstructorParameters<typeof OnePortServer>[1] = {},
): Promise<{ port: number; server: OnePortServer }> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    await read(request);
    response.writeHead(200, { trailer: "x-end" });
    response.write("answered");
    response.addTrailers({ "x-end": "1" });
    response.end();
  };
  const server = new OnePortServer((request, response) => void answer(request, response), limits);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

function dial(port: number): ClientHttp2Session {
  // Node's client counts unsent data against its session, which is not tested here.
  const session = connectHttp2(`http://127.0.0.1:${port}`, { maxSessionMemory: 4_000 });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Posts a body on a session. Returns the answer with the code of the stream's end. */
async function post(session: ClientHttp2Session, body: Buffer, { ends = true } = {}) {
  const stream = session.request({ ":path": "/", ":method": "POST" });
  let text = "";
  let trailer: unknown;
  stream.on("data", (chunk) => (text += chunk)).on("trailers", (found) => (trailer = found["x-end"]));
  stream.on("error", () => {});
  if (ends) stream.end(body);
  else stream.write(body);
  await once(stream, "close");
  return { text, trailer, code: stream.rstCode };
}

/** Returns everything received on a connection until the text has come, or it has closed. */
function received(socket: Socket, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk;
      if (pattern.test(text)) resolve(text);
    });
    socket.once("close", () => resolve(`${text}[closed]`));
  });
}

function raw(port: number): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\n";
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

describe.each(Object.entries(READERS))("a handler that reads %s", (_, read) => {
  it("leaves its HTTP/2 session as good as new", async () => {
    const session = dial((await serve(read)).port);
    for (let call = 0; call < CALLS; call++) {
      expect(await post(session, BODY)).toEqual({ text: "answered", trailer: "1", code: 0 });
    }
  }, 20_000);

  it.each([
    ["in chunks", `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, [chunk(BODY), "0\r\n\r\n"]],
    ["of a length", `${HEAD}Content-Length: ${BODY.length}\r\n\r\n`, [BODY]],
  ])("leaves an HTTP/1 connection to be used after a body %s", async (_, head, body) => {
    const socket = raw((await serve(read)).port);
    const answers = received(socket, /answered[\s\S]*answered/);
    for (const bytes of [head, ...body, `${HEAD}Content-Length: 0\r\n\r\n`]) socket.write(bytes);
    expect(await answers).not.toContain("[closed]");
  });
});

describe("a body that does not end after its answer", () => {
  const read = READERS["its first piece"] as (request: IncomingMessage) => Promise<void>;
  const limits = { unreadTimeoutMs: 300 };

  it.each([
    ["large", BODY],
    ["slow", Buffer.alloc(100)],
  ])("ends its HTTP/2 call alone, without an error, when it is %s", async (_, body) => {
    const session = dial((await serve(read, limits)).port);
    expect(await post(session, body, { ends: false })).toEqual({ text: "answered", trailer: "1", code: 0 });
    expect(await post(session, Buffer.alloc(0))).toMatchObject({ text: "answered" });
  });

  it.each([
    ["large", BODY],
    ["slow", Buffer.alloc(100)],
  ])("ends its HTTP/1 connection, after the answer, when it is %s", async (_, body) => {
    const socket = raw((await serve(read, limits)).port);
    const answer = received(socket, /\[closed\]/);
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    socket.write(chunk(body));
    expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*answered[\s\S]*\[closed\]$/);
  });

  it("ends its HTTP/1 connection at once, after the answer, when it comes in thousands of chunks of a byte", async () => {
    const socket = raw((await serve(read, { unreadTimeoutMs: 60_000 })).port);
    const answer = received(socket, /\[closed\]/);
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(60_000)}`);
    expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*answered[\s\S]*\[closed\]$/);
  });

  it("keeps its HTTP/2 call open as long as it is within the limits", async () => {
    const session = dial((await serve(read)).port);
    const stream = session.request({ ":path": "/", ":method": "POST" });
    stream.on("error", () => {}).write(BODY);
    await once(stream.resume(), "end");
    await sleep(100);
    expect(stream.closed).toBe(false);
    stream.end(BODY);
    await once(stream, "close");
    expect(stream.rstCode).toBe(0);
  });
});
