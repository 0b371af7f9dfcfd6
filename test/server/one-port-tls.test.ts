import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as immediate } from "node:timers/promises";
import { type ConnectionOptions, connect, type TLSSocket, Server as TlsServer } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Http2Sessions } from "../../src/server/listen/http2-sessions.js";
import type { OnePortServer } from "../../src/server/listen/one-port.js";
import { Overhead } from "../../src/server/listen/overhead.js";
import {
  joinWaiting,
  readHello,
  TlsRecords,
  takenGroups,
  wouldAskAgain,
} from "../../src/server/listen/tls.js";
import { certificates } from "../support/certificates.js";
import {
  ask2,
  closed,
  counts,
  PREFACE,
  REQUEST,
  resetUntilEnded,
  running,
  serve,
  until,
  untilEnd,
} from "../support/one-port.js";

const { file } = certificates();
const tls = (name = "a") => ({
  cert: readFileSync(file(`${name}.crt`)),
  key: readFileSync(file(`${name}.key`)),
});

async function raw(
  port: number,
  options: ConnectionOptions & { allowHalfOpen?: boolean } = {},
): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

function dial(port: number): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Returns the first message of a handshake, as Node's client sends it. */
async function hello(options: ConnectionOptions = {}): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ ...options, port, host: "127.0.0.1" }).on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [bytes] = (await once(socket, "data")) as [Buffer];
  for (const each of [client, socket, server]) "destroy" in each ? each.destroy() : each.close();
  return bytes;
}

/** Makes records under fake timers, and connections of them of which only what is read of a socket is there. */
function watching() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const cutOff = { first_bytes: 0, request: 0, answer: 0, pipelining: 0, refusals: 0 };
  const records = new TlsRecords(cutOff);
  onTestFinished(() => records.close());
  const open = (owner: string) => {
    const destroy = vi.fn();
    const [wire, socket] = [{ bytesRead: 1_000 }, { bytesRead: 0, once: () => {}, destroy }];
    records.watch(socket as unknown as Socket, { wire: wire as Socket, owner });
    return { wire, socket, destroy };
  };
  return { records, cutOff, open };
}

describe("a connection whose records say next to nothing", () => {
  it("holds a paused one's records as a few chunks, and hands on each byte once and in order", async () => {
    const socket = new Readable({ read() {} });
    joinWaiting(socket);
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk)).pause();
    const sent = Buffer.from(Array.from({ length: 10_000 }, (_, i) => i % 251));
    for (const byte of sent) socket.push(Buffer.of(byte));
    socket.push(null);
    expect(chunks).toEqual([]);
    socket.resume();
    await once(socket, "end");
    expect(Buffer.concat(chunks)).toEqual(sent);
    expect(chunks.length).toBeLessThan(300);
  });

  it("goes on when it was paused at each chunk", async () => {
    const socket = new Readable({ read() {} });
    joinWaiting(socket);
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      socket.pause();
    });
    for (let chunks = 1; chunks <= 300; chunks++) {
      socket.resume();
      await immediate();
      socket.push(Buffer.alloc(100));
      expect(bytes).toBe(100 * chunks);
    }
  });

  it("reads on after a pause, however many records have come in it", async () => {
    for (let records = 250; records < 520; records++) {
      let reads = false;
      const read = () => {
        reads = true;
      };
      const socket = new Readable({ read, highWaterMark: 16_384 });
      joinWaiting(socket);
      socket.on("data", () => {}).pause();
      // As Node's sockets do, it ends reading when no more is wanted.
      for (let i = 0; i < records; i++) if (!socket.push(Buffer.alloc(100))) reads = false;
      expect(reads).toBe(false);
      socket.resume();
      await immediate();
      expect([records, reads]).toEqual([records, true]);
    }
  });

  it("is ended after 256 KiB of them, and its address begins no other for ten seconds", () => {
    const { records, cutOff, open } = watching();
    const [stranger, large, other] = [open("stranger"), open("stranger"), open("other")];
    large.wire.bytesRead += 50_000_000;
    large.socket.bytesRead += 49_000_000;
    stranger.wire.bytesRead += 200_000;
    other.wire.bytesRead += 200_000;
    vi.advanceTimersByTime(250);
    expect(records.accepts("stranger")).toBe(true);
    stranger.wire.bytesRead += 200_000;
    vi.advanceTimersByTime(250);
    expect(stranger.destroy).toHaveBeenCalled();
    expect(cutOff.request).toBe(1);
    for (const { destroy } of [large, other]) expect(destroy).not.toHaveBeenCalled();
    expect(records.accepts("other")).toBe(true);
    vi.advanceTimersByTime(9_000);
    expect(records.accepts("stranger")).toBe(false);
    vi.advanceTimersByTime(1_500);
    expect(records.accepts("stranger")).toBe(true);
  });

  it("is not one of an office whose large records come slowly, and are told when they are there as a whole", () => {
    const { records, open } = watching();
    const uploads = Array.from({ length: 8 }, () => open("office"));
    for (let i = 0; i < 100; i++) {
      for (const { wire } of uploads) wire.bytesRead += 16_384;
      vi.advanceTimersByTime(250);
      for (const { socket } of uploads) socket.bytesRead += 16_384;
      for (const { wire } of uploads) wire.bytesRead += 22;
      vi.advanceTimersByTime(250);
    }
    expect(records.accepts("office")).toBe(true);
    for (const { destroy } of uploads) expect(destroy).not.toHaveBeenCalled();
  });

  it("is followed by none that is not counted as refused", async () => {
    const port = await serve({ tls: tls() });
    const accepts = vi.spyOn(TlsRecords.prototype, "accepts").mockReturnValue(false);
    onTestFinished(() => accepts.mockRestore());
    const socket = connectTcp(port, "127.0.0.1").on("error", () => {});
    socket.write(await hello());
    await untilEnd(socket);
    expect(counts.refused.address).toBe(1);
  });

  it("is told by the bytes of its records", async () => {
    const port = await serve({ tls: tls() });
    const socket = await raw(port, { ALPNProtocols: ["http/1.1"] });
    const allows = vi.spyOn(Overhead.prototype, "allows").mockReturnValue(false);
    onTestFinished(() => allows.mockRestore());
    const count = 1_000;
    for (const character of `GET / HTTP/1.1\r\na: ${"a".repeat(count)}`.slice(0, count))
      await new Promise((resolve) => socket.write(character, resolve));
    await untilEnd(socket);
    const [[owner, bytes]] = allows.mock.calls as [[string, number]];
    expect(owner).toBe("127.0.0.1");
    // A record of a byte has 22 more; those of the handshake do not count, nor what one record may have.
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(4 * (count * 21 - 16_384));
    expect(counts.cutOff.request).toBe(1);
  });
});

describe("the first message of a handshake", () => {
  it("is whole with its last byte, in one record or in several", async () => {
    const bytes = await hello();
    const message = bytes.subarray(5);
    const record = (part: Buffer) =>
      Buffer.concat([Buffer.of(22, 3, 1, part.length >> 8, part.length), part]);
    const inTwo = Buffer.concat([record(message.subarray(0, 3)), record(message.subarray(3))]);
    for (const whole of [bytes, inTwo, Buffer.concat([bytes, Buffer.of(20)])])
      expect(readHello(whole)).toEqual(message);
    for (const each of [bytes, inTwo])
      for (let end = 0; end < each.length; end++) expect(readHello(each.subarray(0, end))).toBeUndefined();
  });

  it("is wrong if it is another message, or goes on in ever more records or bytes", () => {
    expect(readHello(Buffer.from("GET / HTTP/1.1"))).toBe("wrong");
    const parts = Array.from({ length: 9 }, () => Buffer.of(22, 3, 1, 0, 1, 1));
    expect(readHello(Buffer.concat(parts.slice(0, 8)))).toBeUndefined();
    expect(readHello(Buffer.concat(parts))).toBe("wrong");
    expect(readHello(Buffer.concat([Buffer.of(22, 3, 1, 0xff, 0xff, 1, 1), Buffer.alloc(16_384)]))).toBe(
      "wrong",
    );
  });

  it("would be asked for once more only if it has shares, and of other groups", async () => {
    const groups = takenGroups();
    const shares = (await hello({ ecdhCurve: "P-384:X25519" })).subarray(5);
    expect(wouldAskAgain(shares, groups)).toBe(true);
    expect(wouldAskAgain(shares, new Map([[0x18, "P-384"]]))).toBe(false);
    expect(wouldAskAgain((await hello({ maxVersion: "TLSv1.2" })).subarray(5), groups)).toBe(false);
    for (let at = 0; at < shares.length; at++) {
      wouldAskAgain(shares.subarray(0, at), groups);
      for (const byte of [0, 255]) wouldAskAgain(Buffer.from(shares).fill(byte, at, at + 1), groups);
    }
  });
});

// What is thrown where nobody listens ends the process, and here the test run.
describe("one port over TLS", () => {
  it("cuts off who does not read an answer", async () => {
    const port = await serve({ tls: tls(), answerTimeoutMs: 50 });
    const socket = (await raw(port)).pause();
    socket.write(REQUEST.replace("/raw", "/huge"));
    await until(() => counts.cutOff.answer === 1 && counts.connections.used === 0);
    expect(await ask2(dial(port), "/b")).toBe("GET /b over 2.0");
  }, 20_000);

  it("lets other work run between handshakes, also when many clients end their first messages at once", async () => {
    const port = await serve({ tls: tls() });
    const emit = vi.spyOn(TlsServer.prototype, "emit");
    onTestFinished(() => emit.mockRestore());
    const begun = () => emit.mock.calls.filter(([event]) => String(event) === "connection").length;
    const bytes = await hello();
    const sockets = Array.from({ length: 200 }, () => connectTcp(port, "127.0.0.1").on("error", () => {}));
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    for (const socket of sockets) socket.write(bytes.subarray(0, 20));
    await until(() => counts.connections.used === sockets.length);
    expect(begun()).toBe(0);
    for (const socket of sockets) socket.write(bytes.subarray(20));
    let most = 0;
    for (let before = 0; before < sockets.length; ) {
      await immediate();
      most = Math.max(most, begun() - before);
      before = begun();
    }
    expect(most).toBeLessThan(100);
  }, 20_000);

  it("never asks a client for its first message once more, which would not wait: it speaks TLS 1.2 with that one", async () => {
    const port = await serve({ tls: tls() });
    const request = REQUEST.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    // A client of Node's sends its share of the first group.
    for (const [ecdhCurve, protocol] of [
      ["X25519:P-384", "TLSv1.3"],
      ["P-256", "TLSv1.3"],
      ["P-384:P-256", "TLSv1.2"],
      ["P-521:X25519:P-256", "TLSv1.2"],
    ] as const) {
      const socket = await raw(port, { ecdhCurve });
      expect([ecdhCurve, socket.getProtocol()]).toEqual([ecdhCurve, protocol]);
      expect(await untilEnd(socket, request)).toMatch(/^HTTP\/1\.1 200/);
    }
  });

  it.each([
    ["by Diffie-Hellman of 8,192 bits", { ecdhCurve: "ffdhe8192" }],
    ["by P-521", { ecdhCurve: "P-521" }],
    ["that a client ends by RSA", { maxVersion: "TLSv1.2", ciphers: "AES256-GCM-SHA384" }],
  ] as const)("takes no key exchange %s, which would cost it too much", async (_, options) => {
    const port = await serve({ tls: tls("rsa") });
    await raw(port, { maxVersion: "TLSv1.2" });
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
    const [error] = await once(socket, "error");
    expect(String(error)).toContain("handshake failure");
  });

  it("makes no second handshake on a connection", async () => {
    const port = await serve({ tls: tls() });
    const socket = await raw(port, { maxVersion: "TLSv1.2" });
    const error = once(socket, "error");
    socket.renegotiate({}, () => {});
    expect(String(await error)).toContain("no renegotiation");
  });

  it("holds no connection whose client has left in the middle of the handshake", async () => {
    const port = await serve({ tls: tls() });
    const socket = connectTcp(port, "127.0.0.1").on("error", () => {});
    socket.write(await hello());
    await once(socket, "data");
    socket.end();
    await until(() => counts.connections.used === 0);
    expect(counts.cutOff.first_bytes).toBe(0);
  });

  it("answers a client that has ended its side behind its request", async () => {
    const port = await serve({ tls: tls() });
    for (const ecdhCurve of ["P-256", "P-384:P-256"]) {
      const socket = await raw(port, { ecdhCurve, allowHalfOpen: true });
      socket.end(REQUEST);
      expect(await untilEnd(socket)).toMatch(/^HTTP\/1\.1 200/);
    }
  });

  it("serves a certificate whose curve is none of those of its key exchange", async () => {
    const port = await serve({ tls: tls("b") });
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
      expect((await raw(port, { maxVersion })).authorized).toBe(false);
  });

  it("closes without waiting for the end of a handshake", async () => {
    const port = await serve({ tls: tls() });
    const socket = connectTcp(port, "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(await hello());
    await once(socket, "data");
    const begin = performance.now();
    await closed(running as OnePortServer);
    expect(performance.now() - begin).toBeLessThan(3000);
  }, 20_000);

  it("serves a connection from the port of one that its client has just reset", async () => {
    const port = await serve({ tls: tls() });
    const reset = connectTcp(port, "127.0.0.1").on("error", () => {});
    await until(() => counts.connections.used === 1);
    const { localPort } = reset;
    reset.resetAndDestroy();
    const socket = connectTcp({ port, host: "127.0.0.1", localPort: localPort as number });
    const request = REQUEST.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    expect(await untilEnd(await raw(port, { socket }), request)).toMatch(/^HTTP\/1\.1 200/);
  });

  it("begins no session for an address that has reset calls in a flood", async () => {
    const port = await serve({ tls: tls() });
    const session = dial(port);
    await ask2(session, "/a");
    await resetUntilEnded(session);
    const socket = await raw(port, { ALPNProtocols: ["h2"] });
    await untilEnd(socket, PREFACE);
    expect(counts.refused.address).toBe(1);
    expect(
      await untilEnd(await raw(port), REQUEST.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")),
    ).toMatch(/^HTTP\/1\.1 200/);
  }, 30_000);

  it("refuses HTTP/2 that was not agreed on, and takes the next session once", async () => {
    const port = await serve({ tls: tls() });
    const accept = vi.spyOn(Http2Sessions.prototype, "accept");
    onTestFinished(() => accept.mockRestore());
    for (let times = 0; times < 3; times++)
      expect(await untilEnd(await raw(port), PREFACE)).toMatch(/^HTTP\/1\.0 403/);
    expect(await ask2(dial(port), "/b")).toBe("GET /b over 2.0");
    expect(accept).toHaveBeenCalledOnce();
  });
});
