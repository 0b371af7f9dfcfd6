import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { readBody, readMessages, STREAMED_RATE } from "../../src/server/body.js";
import { Call, CallMemory } from "../../src/server/call.js";

const BYTES_MAX = 4_194_304;
const LARGE = gzipSync(Buffer.alloc(BYTES_MAX, " "));
const SMALL = gzipSync("{}");

const memory = new CallMemory();

/** Makes an account's call with a body that was compressed. */
function callOf(account: string, body: Buffer): Call {
  const call = callWith(Readable.from([body]), { "content-encoding": "gzip" });
  call.principal = { accountId: account } as NonNullable<Call["principal"]>;
  return call;
}

function callWith(body: Readable, headers: Record<string, string> = {}): Call {
  // Of a request, reading a body takes its stream and its headers alone.
  const request = Object.assign(body, { headers }) as unknown as IncomingMessage;
  const call = new Call({ method: "m", protocol: "json", request, setHeader: () => {} }, memory);
  call.principal = { accountId: "a" } as NonNullable<Call["principal"]>;
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
      call.abort(new ConnectError("the client has gone", Code.Canceled));
      call.release();
    }
    const outcomes = await Promise.allSettled(reading);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThanOrEqual(16);
  });
});

describe("bodies in chunks", () => {
  const chunked = (bytes: number, count: number) =>
    callWith(Readable.from(Array.from({ length: count }, () => Buffer.alloc(bytes, " "))));

  it("of a byte each are refused once there are thousands", async () => {
    expect(await readBody(chunked(1, 4_000), BYTES_MAX)).toHaveLength(4_000);
    const refused = { code: "invalid_argument", message: expect.stringContaining("too many small chunks") };
    await expect(readBody(chunked(1, 5_000), BYTES_MAX)).rejects.toMatchObject(refused);
  });

  it("of 64 bytes each are taken however many there are", async () => {
    expect(await readBody(chunked(64, 20_000), BYTES_MAX)).toHaveLength(1_280_000);
  });
});

describe("large bodies that end together", () => {
  it("are handed on in turns, and small ones at once", async () => {
    const iterationsOf = async (bytes: number) => {
      let [iterations, isOver] = [0, false];
      const count = () => {
        iterations++;
        if (!isOver) setImmediate(count);
      };
      const reading = Array.from({ length: 20 }, async () => {
        const call = callWith(Readable.from([Buffer.alloc(bytes, " ")]), {
          "content-length": `${bytes}`,
        });
        await readBody(call, BYTES_MAX);
        call.release();
        // What decodes it and answers.
        for (const endMs = performance.now() + 3; performance.now() < endMs; );
      });
      setImmediate(count);
      await Promise.all(reading);
      isOver = true;
      return iterations;
    };
    expect(await iterationsOf(60_000)).toBeGreaterThanOrEqual(19);
    expect(await iterationsOf(1_000)).toBeLessThan(10);
  });
});

describe("bodies that are too large", () => {
  it("are refused as that, however many came before whose calls have not ended", async () => {
    const chunks = Array.from({ length: 17 }, () => Buffer.alloc(BYTES_MAX / 16, " "));
    for (let i = 0; i < 100; i++) {
      const reading = readBody(callWith(Readable.from(chunks)), BYTES_MAX);
      await expect(reading).rejects.toMatchObject({ reason: "BODY_TOO_LARGE" });
    }
  });
});

describe("streams of messages", () => {
  it.each([
    ["closed", undefined],
    ["reset", Object.assign(new Error("aborted"), { code: "ECONNRESET" })],
  ])("whose client has gone are canceled, and are no fault: %s", async (_, error) => {
    const body = new Readable({ read() {} });
    const encoding = { enveloped: true, codec: "proto" } as const;
    const messages = readMessages(callWith(body), { message: EmptySchema, encoding, bytesMax: 100 });
    const reading = messages.next();
    body.push(Buffer.from([0, 0]));
    setImmediate(() => body.destroy(error));
    await expect(reading).rejects.toMatchObject({ code: Code.Canceled });
  });

  it("without a key are answered in turns, and not once their client has gone", async () => {
    const call = callWith(Readable.from([Buffer.alloc(5 * 100)]));
    call.principal = undefined;
    call.request.clientAddress = "192.0.2.7";
    let [iterations, read] = [0, 0];
    const counting = () => {
      iterations += 1;
      if (read < 60) setImmediate(counting);
    };
    setImmediate(counting);
    const encoding = { enveloped: true, codec: "proto" } as const;
    const all = async () => {
      for await (const _ of readMessages(call, { message: EmptySchema, encoding, bytesMax: 100 }))
        if (++read === 60) call.abort(new ConnectError("the client has gone", Code.Canceled));
    };
    await expect(all()).rejects.toMatchObject({ code: Code.Canceled });
    expect(iterations).toBeGreaterThan(30);
    expect(read).toBe(60);
  });

  it("without a key are limited by their number for an address, as each may have a large answer", async () => {
    const empty = Buffer.alloc(5);
    const body = Readable.from([Buffer.concat(Array(STREAMED_RATE.burst + 50).fill(empty))]);
    const encoding = { enveloped: true, codec: "proto" } as const;
    let read = 0;
    const call = callWith(body);
    call.principal = undefined;
    const all = async () => {
      for await (const _ of readMessages(call, { message: EmptySchema, encoding, bytesMax: 100 })) read += 1;
    };
    await expect(all()).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    expect(read).toBeGreaterThanOrEqual(STREAMED_RATE.burst);
  });
});
