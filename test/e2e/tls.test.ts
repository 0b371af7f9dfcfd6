import { readFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import { certificates } from "../support/certificates.js";
import { startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const { file } = certificates();

let server: TestServer;
let ca: Buffer;

beforeAll(async () => {
  ca = readFileSync(file("a.crt"));
  server = await startServer({ env: { TLS_CERT: file("a.crt"), TLS_KEY: file("a.key") } });
});
afterAll(() => server?.stop());

function get(path: string): Promise<{ status: number | undefined; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { ca }, (answer) => {
      answer.resume().on("end", () => resolve({ status: answer.statusCode, headers: answer.headers }));
    });
    sent.on("error", reject).end();
  });
}

describe("over TLS", () => {
  it("the banner says https", () => {
    expect(server.output()).toContain(`address   ${server.url}`);
    expect(server.url).toMatch(/^https:/);
  });

  it("HTTP/1.1 is answered, and told to stay with HTTPS", async () => {
    const { status, headers } = await get("/livez");
    expect(status).toBe(200);
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  it.each([
    ["gRPC", () => createGrpcTransport({ baseUrl: server.url, nodeOptions: { ca } })],
    [
      "Connect over HTTP/2",
      () => createConnectTransport({ baseUrl: server.url, httpVersion: "2", nodeOptions: { ca } }),
    ],
    [
      "Connect over HTTP/1.1",
      () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1", nodeOptions: { ca } }),
    ],
  ])("%s is answered", async (_, transport) => {
    expect((await createClient(AccountService, transport()).signUp({})).plan).toBe("free");
  });

  it("a foreign gRPC client gets its answer", async () => {
    const { Client, credentials } = await import("@grpc/grpc-js");
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createSsl(ca));
    const bytes = (value: Buffer) => value;
    const answer = await new Promise<Buffer>((resolve, reject) =>
      client.makeUnaryRequest(
        "/grpc.health.v1.Health/Check",
        bytes,
        bytes,
        Buffer.alloc(0),
        (error, value) => (error === null ? resolve(value as Buffer) : reject(error)),
      ),
    );
    expect([...answer]).toEqual([8, 1]); // SERVING
    client.close();
  });

  it.each([
    [["h2", "http/1.1"], "h2"],
    [["http/1.1"], "http/1.1"],
    [undefined, false],
  ])("a client that offers %j gets %j", async (ALPNProtocols, agreed) => {
    const socket = connectTls({ port: server.port, ca, ...(ALPNProtocols && { ALPNProtocols }) });
    await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    expect(socket.alpnProtocol).toBe(agreed);
    socket.destroy();
  });

  it("plain HTTP and noise are turned away, and others are still served", async () => {
    for (const bytes of [
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "\u0016\u0003\u0001",
      "PRI * HTTP/2.0\r\n\r\n",
    ]) {
      const socket = connectTcp(server.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(bytes);
      await new Promise((resolve) =>
        socket
          .once("data", resolve)
          .once("close", resolve)
          .setTimeout(300, () => resolve(0)),
      );
      socket.destroy();
    }
    expect((await get("/livez")).status).toBe(200);
  });

  it("who does not end its handshake, or says nothing behind it, is cut off and counted", async () => {
    const tls = { cert: ca, key: readFileSync(file("a.key")) };
    const one = new OnePortServer(() => {}, { tls, firstBytesTimeoutMs: 300 });
    onTestFinished(() => void one.close().closeAllConnections());
    await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
    const { port } = one.address() as AddressInfo;
    const silent = [connectTcp(port, "127.0.0.1"), connectTls({ port, ca })];
    await Promise.all(
      silent.map((socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve))),
    );
    expect(one.counts.cutOff).toMatchObject({ first_bytes: 2 });
    await vi.waitUntil(() => one.counts.connections.used === 0);
  });

  it("a close does not wait for strangers", async () => {
    const other = await startServer({ env: { TLS_CERT: file("a.crt"), TLS_KEY: file("a.key") } });
    const silent = connectTcp(other.port, "127.0.0.1");
    const secured = connectTls({ port: other.port, ca });
    const idle = createClient(
      AccountService,
      createGrpcTransport({ baseUrl: other.url, nodeOptions: { ca } }),
    );
    for (const socket of [silent, secured]) socket.on("error", () => {});
    await Promise.all([
      new Promise((resolve) => silent.once("connect", resolve)),
      new Promise((resolve) => secured.once("secureConnect", resolve)),
      idle.signUp({}),
    ]);
    const start = performance.now();
    expect(await other.stop()).toBe(0);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
