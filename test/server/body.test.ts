import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readBody } from "../../src/server/body.js";
import { Call, CallMemory, canceled } from "../../src/server/call.js";

const BYTES_MAX = 4_194_304;
const LARGE = gzipSync(Buffer.alloc(BYTES_MAX, " "));
const SMALL = gzipSync("{}");

const memory = new CallMemory();

/** Makes an account's call with a body that was compressed. */
function callOf(account: string, body: Buffer): Call {
  const headers = { "content-encoding": "gzip" };
  const request = Object.assign(Readable.from([body]), { headers }) as unknown as IncomingMessage;
  const call = new Call({ method: "m", protocol: "json", request, setHeader: () => {} }, memory);
  call.principal = { accountId: account } as NonNullable<Call["principal"]>;
  return call;
}

describe("compressed bodies", () => {
  it("of one account do not wait for all of another's", async () => {
    let done = 0;
    const large = Array.from({ length: 30 }, async () => {
      const call = callOf("a", LARGE);
      await readBody(call, BYTES_MAX);
      call.release();
      done += 1;
    });
    expect(Buffer.from(await readBody(callOf("b", SMALL), BYTES_MAX)).toString()).toBe("{}");
    expect(done).toBeLessThan(12);
    await Promise.all(large);
  });

  it("are not unpacked once their client has gone", async () => {
    const calls = Array.from({ length: 20 }, () => callOf("a", LARGE));
    const reading = calls.map((call) => readBody(call, BYTES_MAX));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    for (const call of calls) {
      call.abort(canceled());
      call.release();
    }
    const outcomes = await Promise.allSettled(reading);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThanOrEqual(16);
  });
});
