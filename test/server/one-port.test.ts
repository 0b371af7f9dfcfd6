import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, credentials } from "@grpc/grpc-js";
import Fastify from "fastify";
import { describe, expect, it, onTestFinished } from "vitest";
import { OnePortServer, protocolOf } from "../../src/server/listen/one-port.js";
import { ask1, ask2, dial, keepAlive, raw, SETTINGS, serve, text, untilEnd } from "../support/one-port.js";

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

  it("leaves an expectation that Node does not know to its handler, on both protocols", async () => {
    const port = await serve();
    const head = "GET /raw HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n";
    expect(await untilEnd(raw(port), head)).toContain("GET /raw over 1.1");
    expect(await text(dial(port).request({ ":path": "/b", expect: "tea" }))).toBe("GET /b over 2.0");
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
    const app = Fastify({ serverFactory: (handler) => new OnePortServer(handler) });
    app.get("/", (request) => request.raw.httpVersion);
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    expect(await ask1(port, "/", keepAlive())).toBe("1.1");
    expect(await ask2(dial(port), "/")).toBe("2.0");
    await app.close();
  });

  it("waits for a preface that comes in chunks", async () => {
    const socket = raw(await serve());
    for (const chunk of ["P", "R", "I * HTTP/2.0\r\n", "\r\nSM\r\n\r\n"]) {
      socket.write(chunk);
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
