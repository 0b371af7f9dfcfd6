import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect as connectTls } from "node:tls";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openTls, RENEWAL_CHECK_MS } from "../../src/server/listen/tls.js";
import { certificates } from "../support/certificates.js";
import { runUntilExit, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const { folder, file } = certificates();
const silent = { info() {}, error() {} };

beforeAll(() => {
  writeFileSync(file("text"), "not PEM\n");
  writeFileSync(file("empty"), "");
});

describe("what is wrong is said of", () => {
  it.each([
    [
      "a certificate that is not there",
      "none",
      "a.key",
      /^TLS_CERT \S*none cannot be read: ENOENT: no such file/,
    ],
    ["a key that is not there", "a.crt", "none", /^TLS_KEY \S*none cannot be read: ENOENT: no such file/],
    ["a folder", "", "a.key", /^TLS_CERT \S* cannot be read: EISDIR: /],
    ["a certificate that is text", "text", "a.key", /^TLS_CERT \S*text does not hold a certificate in PEM$/],
    ["a certificate that is a key", "a.key", "a.key", /^TLS_CERT \S* does not hold a certificate in PEM$/],
    ["an empty certificate", "empty", "a.key", /^TLS_CERT \S* does not hold a certificate in PEM$/],
    [
      "a key that is text",
      "a.crt",
      "text",
      /^TLS_KEY \S*text does not hold a key without a passphrase in PEM$/,
    ],
    ["an empty key", "a.crt", "empty", /^TLS_KEY \S* does not hold a key without a passphrase in PEM$/],
    ["another's key", "a.crt", "b.key", /^TLS_KEY \S*b.key is not the key of TLS_CERT's certificate$/],
  ])("%s", async (_, cert, key, says) => {
    const opening = openTls({ certFile: file(cert), keyFile: file(key) }, silent);
    await expect(opening).rejects.toThrow(says);
  });

  it("them in one line, at a start, which ends", async () => {
    const env = { DATA_DIR: folder, PORT: "0", TLS_CERT: file("a.crt"), TLS_KEY: file("b.key") };
    const { code, output } = await runUntilExit(env);
    expect(output).toMatch(/^recalld: TLS_KEY \S*b.key is not the key of TLS_CERT's certificate\n$/);
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

  it("is served by a server that was only starting", async () => {
    put("a");
    const { follow } = await openTls({ certFile: cert, keyFile: key }, silent);
    put("b");
    const serve = vi.fn();
    const stop = follow?.(serve);
    await vi.waitUntil(() => serve.mock.calls.length > 0, { timeout: RENEWAL_CHECK_MS, interval: 50 });
    await stop?.();
    expect(serve).toHaveBeenCalledExactlyOnceWith({
      cert: readFileSync(file("b.crt")),
      key: readFileSync(file("b.key")),
    });
  });

  it("is served without a restart, and one that does not fit its key is not", async () => {
    put("a");
    const own = await startServer({ env: { TLS_CERT: cert, TLS_KEY: key } });
    const kept = connectTls({ port: own.port, host: "127.0.0.1", rejectUnauthorized: false });
    const asksOnKept = async () => {
      kept.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
      expect(String((await once(kept, "data"))[0])).toMatch(/^HTTP\/1\.1 200/);
    };
    await once(kept, "secureConnect");
    // One that says nothing is closed before the second renewal is found.
    await asksOnKept();
    expect(await served(own.port)).toBe(fingerprintOf("a"));
    writeFileSync(cert, readFileSync(file("b.crt")));
    const wait = { timeout: 3 * RENEWAL_CHECK_MS, interval: 200 };
    await vi.waitFor(() => expect(own.output()).toMatch(/TLS_KEY .* is not the key of TLS_CERT/), wait);
    expect(await served(own.port)).toBe(fingerprintOf("a"));
    put("b");
    await vi.waitFor(async () => expect(await served(own.port)).toBe(fingerprintOf("b")), wait);
    // Existing connections stay open.
    await asksOnKept();
    kept.destroy();
    expect(own.output().match(/cannot be renewed/g)).toHaveLength(1);
    expect(await own.stop()).toBe(0);
  });
});
