import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  type ListMemoriesResponse,
  ListMemoriesResponseSchema,
  WatchNamespaceResponseSchema,
} from "../../gen/recalld/v1/memory_pb.js";
import { runToEnd } from "../../src/concurrency/time-slices.js";
import { JSON_OPTIONS } from "../../src/server/json.js";
import {
  parseStored,
  storedJson,
  withStoredJson,
  withStoredStructs,
} from "../../src/server/rpc/stored-json.js";

const METADATA = [
  "{}",
  '{"2":1,"10":[null,true,{"a":"\\"}{"}],"b":"\\ud83d\\ude00 \\\\ ä\\u2028"}',
  '{"__proto__":{"a":1},"":"","nested":{"constructor":{}}}',
].map((text, i) => JSON.stringify({ ...JSON.parse(text), ...(i > 0 && { long: "x".repeat(1_024) }) }));

const schema = ListMemoriesResponseSchema;
const page = (metadata: (json: string) => ReturnType<typeof storedJson>, texts: readonly string[]) =>
  create(schema, {
    namespace: "n",
    memories: texts.map((json, i) => ({ id: `mem_${i}`, text: "Tea.", metadata: metadata(json) })),
  });
const written = (message: ListMemoriesResponse) => toJsonString(schema, message, JSON_OPTIONS);

it("stored JSON stands in an answer as Protobuf-ES would have written what it says", () => {
  expect(withStoredJson(written(page(storedJson, METADATA)))).toBe(written(page(JSON.parse, METADATA)));
});

it("stored JSON is a Struct in the binary form, also in a list and below a choice", () => {
  const message = runToEnd(withStoredStructs(schema, page(storedJson, METADATA)));
  expect(fromBinary(schema, toBinary(schema, message))).toEqual(page(JSON.parse, METADATA));
  const event = create(WatchNamespaceResponseSchema, {
    event: { case: "stored", value: { metadata: storedJson(METADATA[1] ?? "") } },
  });
  const sent = toBinary(
    WatchNamespaceResponseSchema,
    runToEnd(withStoredStructs(WatchNamespaceResponseSchema, event)),
  );
  expect(fromBinary(WatchNamespaceResponseSchema, sent).event.value).toMatchObject({ metadata: { "2": 1 } });
});

it("what stands for stored JSON is parsed where a program reads it", () => {
  expect(METADATA.map((json) => JSON.stringify(parseStored(storedJson(json))))).toEqual(METADATA);
});

it("a page of memories with thousands of keys is written as JSON without looking at each", () => {
  const texts = Array.from({ length: 100 }, (_, i) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 1_000 }, (_, k) => [`k${i * 1_000 + k}`, k]))),
  );
  const timed = (metadata: typeof storedJson) => {
    const before = process.cpuUsage();
    withStoredJson(written(page(metadata, texts)));
    return process.cpuUsage(before).user;
  };
  const pairs = [0, 1, 2].map(() => timed(JSON.parse) / timed(storedJson));
  expect(Math.max(...pairs)).toBeGreaterThan(3);
});
