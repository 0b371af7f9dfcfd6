import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { ConnectionCounts } from "../../src/server/port/connection-counts.js";
import { createOnePortServer } from "../../src/server/port/one-port.js";
import { RENEWAL_LOOK_MS } from "../../src/server/port/tls.js";
import { runUntilExit, startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "recalld-tls-"));
const file = (name: string) => join(folder, name);
const SELF_SIGNED = [
  ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
  ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
];

let server: TestServer;
let ca: Buffer;

beforeAll(async () => {
  for (const name of ["a", "b"]) {
    const out = ["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
    execFileSync("openssl", [...SELF_SIGNED, ...out], { stdio: "pipe" });
  }
  writeFileSync(file("text"), "not PEM\n");
  writeFileSync(file("empty"), "");
  ca = readFileSync(file("a.crt"));
  server = await startServer({ env: { TLS_CERT: file("a.crt"), TLS_KEY: file("a.key") } });
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

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
    const counts = new ConnectionCounts();
    const tls = { cert: ca, key: readFileSync(file("a.key")) };
    const one = createOnePortServer(() => {}, { tls, counts, firstBytesTimeoutMs: 300 });
    onTestFinished(() => void one.close().closeAllConnections());
    await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
    const { port } = one.address() as AddressInfo;
    const silent = [connectTcp(port, "127.0.0.1"), connectTls({ port, ca })];
    await Promise.all(
      silent.map((socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve))),
    );
    expect(counts.cutOff).toMatchObject({ first_bytes: 2 });
    await vi.waitUntil(() => counts.open === 0);
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

describe("a start says what is wrong with", () => {
  it.each([
    [
      "a certificate that is not there",
      "none",
      "a.key",
      /^recalld: TLS_CERT \S*none cannot be read: there is no such file\n$/,
    ],
    [
      "a key that is not there",
      "a.crt",
      "none",
      /^recalld: TLS_KEY \S*none cannot be read: there is no such file\n$/,
    ],
    ["a folder", "", "a.key", /^recalld: TLS_CERT \S* cannot be read: it is a folder\n$/],
    [
      "a certificate that is text",
      "text",
      "a.key",
      /^recalld: TLS_CERT \S*text does not hold a certificate in PEM\n$/,
    ],
    [
      "a certificate that is a key",
      "a.key",
      "a.key",
      /^recalld: TLS_CERT \S* does not hold a certificate in PEM\n$/,
    ],
    [
      "an empty certificate",
      "empty",
      "a.key",
      /^recalld: TLS_CERT \S* does not hold a certificate in PEM\n$/,
    ],
    [
      "a key that is text",
      "a.crt",
      "text",
      /^recalld: TLS_KEY \S*text does not hold a key without a passphrase in PEM\n$/,
    ],
    [
      "an empty key",
      "a.crt",
      "empty",
      /^recalld: TLS_KEY \S* does not hold a key without a passphrase in PEM\n$/,
    ],
    [
      "another's key",
      "a.crt",
      "b.key",
      /^recalld: TLS_KEY \S*b.key is not the key of TLS_CERT's certificate\n$/,
    ],
  ])("%s", async (_, cert, key, says) => {
    const env = { DATA_DIR: folder, PORT: "0", TLS_CERT: file(cert), TLS_KEY: file(key) };
    const { code, output } = await runUntilExit(env);
    expect(output).toMatch(says);
    expect(code).toBe(1);
  });
});

describe("a certificate that is renewed", () => {
  const [cert, key] = [file("renewed.crt"), file("renewed.key")];
  const put = (name: string) => {
    writeFileSync(cert, readFileSync(file(`${name}.crt`)));
    writeFileSync(key, readFileSync(file(`${name}.key`)));
  };
  const served = (port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? "");
        socket.destroy();
      });
      socket.on("error", reject);
    });
  const fingerprintOf = (name: string) =>
    new X509Certificate(readFileSync(file(`${name}.crt`))).fingerprint256;

  it("is served without a restart, and one that does not fit its key is not", async () => {
    put("a");
    const own = await startServer({ env: { TLS_CERT: cert, TLS_KEY: key } });
    const kept = connectTls({ port: own.port, host: "127.0.0.1", rejectUnauthorized: false });
    await once(kept, "secureConnect");
    expect(await served(own.port)).toBe(fingerprintOf("a"));
    writeFileSync(cert, readFileSync(file("b.crt")));
    const wait = { timeout: 3 * RENEWAL_LOOK_MS, interval: 200 };
    await vi.waitFor(() => expect(own.output()).toMatch(/TLS_KEY .* is not the key of TLS_CERT/), wait);
    expect(await served(own.port)).toBe(fingerprintOf("a"));
    put("b");
    await vi.waitFor(async () => expect(await served(own.port)).toBe(fingerprintOf("b")), wait);
    // Who is connected stays so.
    kept.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(String((await once(kept, "data"))[0])).toMatch(/^HTTP\/1\.1 200/);
    kept.destroy();
    expect(own.output().match(/cannot be renewed/g)).toHaveLength(1);
    expect(await own.stop()).toBe(0);
  });
});
