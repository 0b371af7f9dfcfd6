import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const CONNECTIONS = 6;
const CALLS_EACH = 100;
const BODY = Buffer.from(`{"text":"a","namespace":"n"}${" ".repeat(1_000_000)}`);
/**
 * Maximum growth of the server. Without a bound, these bodies alone would take 600 MB more than it has idle.
 */
const GROWTH_MB_MAX = 250;

let server: TestServer;
let caller: Caller;
beforeAll(async () => {
  server = await startServer();
  caller = await signUp(server.url);
});
afterAll(() => server.stop());

function memoryMb(field: "VmRSS" | "VmHWM"): number {
  const found = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${server.pid}/status`, "utf8"));
  return Number(found?.[1]) / 1024;
}

/**
 * Sends part of a body, and the rest only when told to. Resolves with the reason of a refusal, or the status.
 */
function post(session: ReturnType<typeof connect>, header: object, part: Buffer) {
  const stream = session.request({
    ":method": "POST",
    ":path": "/store",
    "content-type": "application/json",
    authorization: `Bearer ${caller.key}`,
    ...header,
  });
  let status = "none";
  let text = "";
  stream
    .on("response", (found) => (status = String(found[":status"])))
    .on("data", (chunk) => (text += chunk));
  stream.on("error", () => {}).write(part);
  const answered = new Promise<string>((resolve) => {
    const end = () => resolve(/"reason":"(\w+)"/.exec(text)?.[1] ?? status);
    stream.once("end", end).once("close", end);
  });
  return { stream, answered };
}

function dial() {
  const session = connect(server.url, { maxSessionMemory: 4_000 });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

describe.skipIf(process.platform !== "linux")("many large bodies at once", () => {
  it.each([
    ["whose size is said", { "content-length": BODY.length }, BODY.subarray(0, -1)],
    ["whose size is not said", {}, BODY.subarray(0, -1)],
    ["of which only the size comes", { "content-length": BODY.length }, BODY.subarray(0, 1)],
  ])("take no more memory than their room, %s, and another key is served", async (_, header, part) => {
    const idle = memoryMb("VmRSS");
    const other = await signUp(server.url);
    const calls = Array.from({ length: CONNECTIONS }, dial).flatMap((session) =>
      Array.from({ length: CALLS_EACH }, () => post(session, header, part)),
    );
    // What only a header announces takes nothing.
    if (part.length > 1)
      expect(await Promise.race(calls.map(({ answered }) => answered))).toBe("BODIES_LIMITED");
    await vi.waitUntil(
      async () => (await other.store({ text: "b", namespace: "n" }).catch(() => undefined)) !== undefined,
      {
        timeout: 30_000,
        interval: 250,
      },
    );
    for (const { stream } of calls) stream.end(BODY.subarray(part.length));
    const answers = await Promise.all(calls.map(({ answered }) => answered));
    expect(answers).toContain("200");
    expect(answers.filter((answer) => answer !== "200" && answer !== "BODIES_LIMITED")).toEqual([]);
    expect(memoryMb("VmHWM") - idle).toBeLessThan(GROWTH_MB_MAX);
    const { stream, answered } = post(dial(), header, BODY);
    stream.end();
    expect(await answered).toBe("200");
  });
});
