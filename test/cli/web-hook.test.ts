import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { UsageError } from "../../cli/failure.js";
import { DeliveryError, deliver, PATIENCE, receiverGiven } from "../../cli/web-hook.js";
import { freePort } from "../support/free-port.js";

const SECRET = "a secret of the tests";
// A first request may take half a second on a machine that is busy.
const QUICK = { answerMs: 10_000, firstPauseMs: 1, pauseMsMax: 20, giveUpAfterMs: 5_000 };

interface Got {
  readonly body: string;
  readonly headers: IncomingMessage["headers"];
  readonly atMs: number;
}

/** A receiver that plays one part of a script for each request, and the last one for all others. */
async function receiver(...script: ((response: ServerResponse, request: IncomingMessage) => void)[]) {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const play = script[Math.min(got.length, script.length - 1)];
    const atMs = performance.now();
    got.push({ body: String(await buffer(request)), headers: request.headers, atMs });
    play?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const answers =
  (status: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end("said");
const resets = (_: ServerResponse, request: IncomingMessage) => request.socket.resetAndDestroy();
const isSilent = () => {};

async function posted(url: string, patience = QUICK) {
  const reasons: string[] = [];
  const onRetry = (reason: string) => reasons.push(reason);
  await deliver('{"event":"stored"}', { url, secret: SECRET }, { headers: {}, onRetry, patience });
  return reasons;
}

describe("a delivery", () => {
  it("is signed over its time and its body", async () => {
    const { got, url } = await receiver(answers(204));
    expect(await posted(url)).toEqual([]);
    const [{ body, headers }] = got as [Got];
    const [, seconds = "", signed] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      String(headers["recalld-signature"]),
    ) as string[];
    expect(Math.abs(Number(seconds) - Date.now() / 1000)).toBeLessThan(10);
    expect(signed).toBe(createHmac("sha256", SECRET).update(`${seconds}.${body}`).digest("hex"));
    expect(headers["content-type"]).toBe("application/json");
  });

  it.each([
    ["fails", answers(500), "HTTP 500"],
    ["does not know it", answers(404), "HTTP 404"],
    ["redirects", answers(302, { location: "http://127.0.0.1:9/" }), "HTTP 302"],
    ["resets", resets, /ECONNRESET|other side closed/],
    ["says nothing", isSilent, "no answer in 0.3 s"],
  ])("is tried again when the receiver %s", async (_, play, reason) => {
    const { got, url } = await receiver(play, play, answers(200));
    const reasons = await posted(url, play === isSilent ? { ...QUICK, answerMs: 300 } : QUICK);
    expect(reasons).toHaveLength(2);
    for (const each of reasons) expect(each).toMatch(reason);
    expect(got.map(({ body }) => body)).toEqual(Array(3).fill('{"event":"stored"}'));
  });

  it("is tried again when nobody listens", async () => {
    const patience = { ...QUICK, giveUpAfterMs: 30 };
    await expect(posted(`http://127.0.0.1:${await freePort()}/`, patience)).rejects.toThrow(
      /gave up after \d+ attempts.*ECONNREFUSED/,
    );
  });

  it("waits as long as the receiver asks, but no longer than it may", async () => {
    const patience = { ...QUICK, pauseMsMax: 150 };
    const { got, url } = await receiver(answers(429, { "retry-after": "3600" }), answers(200));
    await posted(url, patience);
    const [first, second] = got as [Got, Got];
    expect(second.atMs - first.atMs).toBeGreaterThanOrEqual(140);
    expect(second.atMs - first.atMs).toBeLessThan(3_000);
  });

  it("ends at 410, after one attempt", async () => {
    const { got, url } = await receiver(answers(410));
    await expect(posted(url)).rejects.toThrow(DeliveryError);
    expect(got).toHaveLength(1);
  });

  it("ends when its time is up", async () => {
    const { got, url } = await receiver(answers(503));
    await expect(posted(url, { ...QUICK, giveUpAfterMs: 500 })).rejects.toThrow(
      /gave up after \d+ .*HTTP 503/,
    );
    expect(got.length).toBeGreaterThan(2);
  });

  it("has bounds that are sensible by default", () => {
    expect(PATIENCE.pauseMsMax).toBeLessThanOrEqual(60_000);
    expect(PATIENCE.giveUpAfterMs).toBe(24 * 3_600_000);
  });
});

describe("a receiver", () => {
  it.each(["ftp://example.org/", "file:///etc/passwd", "example.org", "http://", "javascript:alert(1)"])(
    "is not %s",
    (url) => {
      expect(() => receiverGiven(url, SECRET)).toThrow(/must be an http or https URL/);
    },
  );

  it("has no password in its address, and a secret that cannot be guessed", () => {
    expect(() => receiverGiven("https://a:b@example.org/", SECRET)).toThrow(UsageError);
    expect(() => receiverGiven("https://example.org/", undefined)).toThrow(/RECALLD_HOOK_SECRET/);
    expect(() => receiverGiven("https://example.org/", "short")).toThrow(/16 characters/);
    expect(receiverGiven("https://example.org", SECRET).url).toBe("https://example.org/");
  });
});
