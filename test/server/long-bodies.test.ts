import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import {
  StoreBatchRequestSchema,
  type StoreRequest,
  StoreRequestSchema,
} from "../../gen/recalld/v1/memory_pb.js";
import { runToEnd } from "../../src/concurrency/time-slices.js";
import { parseFilter } from "../../src/memory/requests/filter.js";
import { parseMetadata } from "../../src/memory/requests/metadata.js";
import { decodeBody } from "../../src/server/body.js";
import { LONG_BYTES, parseInSteps } from "../../src/server/json-text.js";
import { readMessage } from "../../src/server/mcp/reading.js";

const CODECS = ["json", "proto"] as const;
const decode = async (
  codec: (typeof CODECS)[number],
  bytes: Uint8Array,
  message: DescMessage = StoreBatchRequestSchema,
) => {
  const encoding = { codec, enveloped: false, header: "content-encoding" } as const;
  return decodeBody(bytes, { message, encoding });
};

/** Reads JSON as a long text, whose lists are parsed element by element. */
const read = (text: string) => runToEnd(parseInSteps(text.padEnd(LONG_BYTES))).value;

describe("JSON that is parsed in parts", () => {
  it.each([
    '{"a":[{"b":[{"c":1}]},{"d":"]}{[\\""},{}],"e":{"f":[{"g":1}]},"h":[1,[{"i":2}],"x",{"part":7},null]}',
    '{"2":[{"b":1}],"1":[{"a":1},{"__proto__":{"c":1}}],"__proto__":[{"d":1}]}',
    '{"a":[{"b":1}],"a":[{"c":2},{"d":3}]}',
    "{}",
    "[]",
    "[[{}],[]]",
    "null",
    " 5 ",
    '"[{}]"',
  ])("is what it is as a whole: %s", (text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  it.each([
    "",
    "{",
    "}",
    "]}",
    '{"a":[{}{}]}',
    '{"a":[{]}',
    '{"a":[{"b":}]}',
    '{"a":[{}],}',
    '{"a":[{"b"',
    "[{}]]",
  ])("is refused as it is as a whole: %s", (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(() => read(text)).toThrow(/^body is (?:not JSON|empty)/);
  });
});

describe("JSON that is deeper than any may be", () => {
  it.each([
    `{"text":"a","metadata":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
    `{"metadata":{"a":${"[".repeat(400_000)}`,
  ])("is refused before it is parsed in one step: %.32s", (text) => {
    expect(() => read(text)).toThrow("metadata is more than 16 levels deep");
  });

  it("is left to the domain where the body is short, which follows it no deeper", async () => {
    const deep = `${'{"$not":'.repeat(7_000)}1${"}".repeat(7_000)}`;
    const { metadata } = (await decode(
      "json",
      Buffer.from(`{"metadata":${deep}}`),
      StoreRequestSchema,
    )) as StoreRequest;
    expect(() => parseMetadata(metadata)).toThrow("metadata is more than 16 levels deep");
    expect(() => parseFilter(metadata)).toThrow(/levels deep/);
  });
});

describe("a long message of MCP", () => {
  it.each([
    ["arguments", { name: "memory_store", arguments: { a: Array(250_000).fill({}) } }],
    ["others", Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 0]))],
  ])(
    "is refused before it is parsed in one step if it has more values than any may have: %s",
    async (_, params) => {
      const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
      const parse = vi.spyOn(JSON, "parse");
      await expect(readMessage(bytes)).rejects.toThrow("message has more values");
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
    },
  );
});

describe.each(CODECS)("a long body in %s", (codec) => {
  it("is decoded as it was", async () => {
    const memories = Array.from({ length: 256 }, (_, i) => ({
      text: "x".repeat(1_100),
      metadata: { i, "a b": [{ c: null }, "d"] },
    }));
    const given = create(StoreBatchRequestSchema, { namespace: "n", memories });
    const bytes =
      codec === "json"
        ? Buffer.from(JSON.stringify({ memories, namespace: "n" }))
        : toBinary(StoreBatchRequestSchema, given);
    expect(bytes.length).toBeGreaterThan(262_144);
    expect(await decode(codec, bytes)).toEqual(given);
  });

  it("is refused with the first elements of a list that is longer than any may be", async () => {
    const bytes =
      codec === "json"
        ? Buffer.from(`{"memories":[{}${",{}".repeat(1_000_000)}]}`)
        : Buffer.alloc(2_000_000, Buffer.of(0x12, 0));
    await expect(decode(codec, bytes)).rejects.toThrow("memories has more than 8,192 elements");
  });

  it("is refused before an element with more keys than any may have is decoded in one step", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 0]));
    const given = { namespace: "n", memories: [{ text: "a" }, { text: "b", metadata }] };
    const bytes =
      codec === "json"
        ? Buffer.from(JSON.stringify(given))
        : toBinary(StoreBatchRequestSchema, create(StoreBatchRequestSchema, given));
    await expect(decode(codec, bytes)).rejects.toThrow(
      codec === "json" ? "memories has more values" : "memories has an element that is larger",
    );
  });

  it("is refused with metadata that is larger than any may be", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 45_000 }, (_, i) => [`k${i}`, 0]));
    const given = { namespace: "n", text: "a", metadata };
    const bytes =
      codec === "json"
        ? Buffer.from(JSON.stringify(given))
        : toBinary(StoreRequestSchema, create(StoreRequestSchema, given));
    await expect(decode(codec, bytes, StoreRequestSchema)).rejects.toThrow(
      codec === "json" ? "body has more values" : "metadata is larger than any may be",
    );
  });
});
