import { PassThrough, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { LineTransport } from "../../cli/mcp/line-transport.js";
import { linesIn } from "../../src/lines.js";

const call = (id: unknown, args = "{}") =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":${args}}}`;

async function lines(chunks: (string | Buffer)[], bytesMax = 1_000): Promise<string[]> {
  const found: string[] = [];
  for await (const { bytes } of linesIn(Readable.from(chunks.map((each) => Buffer.from(each))), bytesMax)) {
    found.push(bytes.toString());
  }
  return found;
}

describe("lines", () => {
  it("end at LF alone, wherever the bytes are cut", async () => {
    const text = "a\u2028b\u2029c\u0085d\r\ne\rf\n\ng";
    const expected = ["a\u2028b\u2029c\u0085d\r", "e\rf", "", "g"];
    expect(await lines([text])).toEqual(expected);
    expect(await lines([...Buffer.from(text)].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  it("come cut where they are too long", async () => {
    expect(await lines(["aaa", "aaaaaa", "a\nb\n"], 4)).toEqual(["aaaaa", "b"]);
  });
});

/** Opens a transport, whose messages and answers are noted. */
function open(lastCallsTimeoutMs = 60_000) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new LineTransport({ input, output, lastCallsTimeoutMs });
  const read: Record<string, unknown>[] = [];
  transport.onmessage = (message) => void read.push(message as never);
  void transport.start();
  const answers = () =>
    (output.read()?.toString() ?? "")
      .split("\n")
      .filter((line: string) => line !== "")
      .map((line: string) => JSON.parse(line));
  return { input, transport, read, answers };
}

describe("messages on lines", () => {
  it("are all read before the end, and answered after it", async () => {
    const { input, transport, read, answers } = open();
    input.end(`\uFEFF${call(1)}\r\n\n${call('"b"')}`);
    let closed = false;
    void transport.closed.then(() => (closed = true));
    await sleep(20);
    expect(read.map(({ id }) => id)).toEqual([1, "b"]);
    for (const id of [1, "b"]) {
      expect(closed).toBe(false);
      await transport.send({ jsonrpc: "2.0", id, result: {} });
      await sleep(5);
    }
    expect(closed).toBe(true);
    expect(answers()).toHaveLength(2);
  });

  it("have left the process before the end", async () => {
    const written: (() => void)[] = [];
    const output = new Writable({ write: (_chunk, _encoding, done) => void written.push(done) });
    const input = new PassThrough();
    const transport = new LineTransport({ input, output });
    transport.onmessage = (message) =>
      void transport.send({ jsonrpc: "2.0", id: (message as { id: number }).id, result: {} });
    void transport.start();
    let closed = false;
    void transport.closed.then(() => (closed = true));
    input.end(`${call(1)}\n`);
    await sleep(20);
    expect([written.length, closed]).toEqual([1, false]);
    written[0]?.();
    await transport.closed;
  });

  it("are not waited for when they are cancelled, or for ever", async () => {
    const cancelling = open();
    const params = '{"requestId":1}';
    cancelling.input.end(
      `${call(1)}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}\n`,
    );
    await cancelling.transport.closed;
    const late = open(20);
    late.input.end(`${call(1)}\n`);
    await late.transport.closed;
    expect(late.read).toHaveLength(1);
  });

  it("are refused where they cannot be read, and those after them are read", async () => {
    const { input, transport, read, answers } = open();
    const broken = Buffer.concat([
      Buffer.from(call(7, '{"text":"')).subarray(0, -2),
      Buffer.from([0xff]),
      Buffer.from('"}}}\n'),
    ]);
    input.write(broken);
    input.write(
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"'), Buffer.from([0xff, 0x22, 0x7d, 0x0a])]),
    );
    input.write("{\n[]\n");
    input.end(`{"jsonrpc":"2.0","id":9}\n${call("1234567890123456789")}\n${call(8)}\n`);
    await sleep(20);
    expect(
      answers().map(({ id, error }: { id: unknown; error: { message: string } }) => [id, error.message]),
    ).toEqual([
      [7, "message is not UTF-8"],
      [null, "message is not JSON"],
      [null, "message is not one message of JSON-RPC"],
      [9, "message is not one message of JSON-RPC"],
      [null, "message is not one message of JSON-RPC"],
    ]);
    expect(read.map(({ id }) => id)).toEqual([8]);
    await transport.close();
  });

  it("keep what reading has lost of them until they are answered", async () => {
    const { input, transport } = open();
    input.write(`${call(1, '{"metadata":{"message_id":1234567890123456789}}')}\n${call(2)}\n`);
    await sleep(20);
    expect(transport.lossOf(1)?.message).toMatch(/^metadata.message_id has the integer 1234567890123456789/);
    expect(transport.lossOf(2)).toBeUndefined();
    await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
    expect(transport.lossOf(1)).toBeUndefined();
    await transport.close();
  });
});
