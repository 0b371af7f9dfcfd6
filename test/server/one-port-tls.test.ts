import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { setImmediate as immediate } from "node:timers/promises";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Http2Sessions } from "../../src/server/listen/http2-sessions.js";
import { certificates } from "../support/certificates.js";
import { ask2, counts, PREFACE, REQUEST, serve, until, untilEnd } from "../support/one-port.js";

const { file } = certificates();
const tls = () => ({ cert: readFileSync(file("a.crt")), key: readFileSync(file("a.key")) });

async function raw(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
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

// What is thrown where nobody listens ends the process, and here the test run.
describe("one port over TLS", () => {
  it("cuts off who does not read an answer", async () => {
    const port = await serve({ tls: tls(), answerTimeoutMs: 50 });
    const socket = (await raw(port)).pause();
    socket.write(REQUEST.replace("/raw", "/huge"));
    await until(() => counts.cutOff.answer === 1 && counts.connections.used === 0);
    expect(await ask2(dial(port), "/b")).toBe("GET /b over 2.0");
  }, 20_000);

  it("begins no session for an address that has reset calls in a flood", async () => {
    const port = await serve({ tls: tls() });
    const session = dial(port);
    await ask2(session, "/a");
    for (let call = 0; call < 5_000 && !session.destroyed; call++) {
      const stream = session.request({ ":path": "/slow" });
      stream.on("error", () => {});
      await immediate();
      stream.close(constants.NGHTTP2_CANCEL);
      await immediate();
    }
    await vi.waitUntil(() => session.destroyed, { timeout: 10_000 });
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
