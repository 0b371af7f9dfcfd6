import type { JsonValue } from "@bufbuild/protobuf";
import type { Scenario } from "./scenario.js";

const namespace = "n";
const text = "The cat sleeps on the warm radiator.";

const many = (count: number): JsonValue[] => Array.from({ length: count }, (_, i) => ({ text: `text ${i}` }));
const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { a: nested(depth - 1) });

const fine = (name: string, memories: JsonValue[], more: Record<string, JsonValue> = {}): Scenario => {
  return {
    name: `a batch: ${name}`,
    rpc: "StoreBatch",
    request: { namespace, memories, ...more },
    code: "ok",
  };
};

const wrong = (name: string, [field, says, request]: [string, RegExp, JsonValue]): Scenario => {
  return { name: `a batch: ${name}`, rpc: "StoreBatch", request, code: "invalid_argument", field, says };
};

/** Makes a batch whose fourth memory is wrong. */
const fourth = (name: string, [field, says, item]: [string, RegExp, JsonValue]): Scenario =>
  wrong(name, [`memories[3].${field}`, says, { namespace, memories: [...many(3), item, ...many(2)] }]);

const inJson = (scenario: Scenario): Scenario => ({ ...scenario, jsonOnly: true });

/** Rules of a batch, once for all protocols. */
export const BATCHES: readonly Scenario[] = [
  fine("one memory", [{ text }]),
  fine("256 memories", many(256)),
  fine("two alike", [{ text }, { text }]),
  fine("metadata", [
    { text, metadata: { a: [1, null, { b: true }], "": "" } },
    { text, metadata: {} },
  ]),
  fine("a text of 65,536 bytes", [{ text }, { text: "é ".repeat(21_845) }]),
  fine("a namespace a/b:c%2F", [{ text }], { namespace: "a/b:c%2F" }),
  wrong("257 memories", ["memories", /257 memories; the limit is 256/, { namespace, memories: many(257) }]),
  wrong("no memories", ["memories", /missing/, { namespace }]),
  wrong("an empty list", ["memories", /missing/, { namespace, memories: [] }]),
  wrong("no namespace", ["namespace", /missing/, { memories: many(1) }]),
  fourth("a blank text", ["text", /blank/, { text: " \n" }]),
  fourth("a text that is missing", ["text", /missing/, {}]),
  fourth("a text that is too long", [
    "text",
    /65,537 bytes; the limit is 65,536/,
    { text: "x".repeat(65_537) },
  ]),
  fourth("metadata 17 deep", ["metadata", /16 levels/, { text, metadata: nested(17) }]),
  fourth("metadata too long", ["metadata", /limit is 16,384/, { text, metadata: { a: "x".repeat(16_384) } }]),
  inJson(fourth("a text that is a number", ["text", /a string/, { text: 5 }])),
  inJson(fourth("a lone surrogate", ["text", /well-formed/, { text: "a\ud800" }])),
  inJson(fourth("metadata that is an array", ["metadata", /a JSON object/, { text, metadata: [] }])),
  inJson(fourth("an unknown field", ["txt", /not a field of StoreItem/, { txt: text }])),
  inJson(fourth("a namespace of its own", ["namespace", /not a field/, { text, namespace }])),
  inJson(
    wrong("a text in place of a memory", ["memories[0]", /a JSON object/, { namespace, memories: [text] }]),
  ),
  inJson(
    wrong("an object in place of the list", ["memories", /an array/, { namespace, memories: { text } }]),
  ),
  inJson(
    wrong("a text given twice", [
      "memories[1].text",
      /given twice/,
      '{"namespace":"n","memories":[{"text":"a"},{"text":"b","text":"c"}]}',
    ]),
  ),
  inJson(
    wrong("an integer that no double holds", [
      "memories[1].metadata.n",
      /9007199254740993/,
      '{"namespace":"n","memories":[{"text":"a"},{"text":"b","metadata":{"n":9007199254740993}}]}',
    ]),
  ),
];
