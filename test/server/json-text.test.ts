import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { RecallRequestSchema } from "../../gen/recalld/v1/memory_pb.js";
import { runToEnd } from "../../src/concurrency/time-slices.js";
import { safeName } from "../../src/errors.js";
import { readArguments } from "../../src/server/json.js";
import { parseInSteps, parseLossless } from "../../src/server/json-text.js";
import { shortestMs } from "../support/shortest-ms.js";

const check = (text: string) => () => expect(parseLossless(text)).toEqual(JSON.parse(text));

describe("JSON of which nothing is lost", () => {
  it("is any that JavaScript wrote", () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(objects, fc.constantFrom(0, 2), (value, indent) => {
        expect(check(JSON.stringify(value, undefined, indent))).not.toThrow();
      }),
    );
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}],"c":"\\"a\\":1,\\"a\\":1"}',
    '{"a":[1,[2,{"b":[]}],"a"],"b":"a"}',
    '{"a":"\\\\","b":"\\\\\\"","c":{}}',
    '{"n":[9007199254740992,-9007199254740992,100000000000000000000000,1e300,123456789012345]}',
    '{"n":[0.12345678901234567890,1234567890.12345678901234567890,12345678901234567890e0]}',
  ])("is %s", (text) => expect(check(text)).not.toThrow());
});

describe("a key that comes twice", () => {
  it("is found wherever it is put", () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1, maxKeys: 5 });
    fc.assert(
      fc.property(objects, fc.jsonValue(), fc.nat(4), (value, again, depth) => {
        const [key] = Object.keys(value);
        const twice = `${JSON.stringify(value).slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(again)}}`;
        const nested = Array.from({ length: depth }).reduce((text) => `{"x":[0,${text}]}`, twice);
        expect(check(String(nested))).toThrow(/twice/);
      }),
    );
  });

  it.each([
    ['{"a":1,"b":2,"a":3}', "a is given twice"],
    ['{"a":1,"\\u0061":3}', "a is given twice"],
    ['{"m":{"k":1,"k":1}}', "m.k is given twice"],
    ['{"m":[{},{"k":[{"k":0}],"k":1}]}', "m[1].k is given twice"],
    ['{"m":[{},{"k":{"a":1,"a":2}}]}', "m[1].k.a is given twice"],
    ['{"__proto__":1,"__proto__":1}', "__proto__ is given twice"],
    ['{"filter":{"$or":[{"a":1,"a":2}]}}', "filter.$or[0].a is given twice"],
  ])("is named: %s", (text, message) => expect(check(text)).toThrow(message));
});

describe("an integer that no double holds", () => {
  it("is every one that JavaScript would write otherwise", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (integer) => {
        const back = Number(integer).toLocaleString("en", { useGrouping: false });
        const run = expect(check(`{"m":{"a":${integer}}}`));
        if (back === String(integer)) run.not.toThrow();
        else run.toThrow(/^m\.a has the integer/);
      }),
    );
  });

  it.each([
    ["9007199254740993", "9007199254740992"],
    ["-9007199254740993", "-9007199254740992"],
    ["18446744073709551615", "18446744073709552000"],
    ["18446744073709551616", "18446744073709552000"],
  ])("is told with what it would become: %s", (integer, back) => {
    expect(check(`{"m":${integer}}`)).toThrow(
      `m has the integer ${integer}, which would come back as ${back}`,
    );
  });
});

describe("a part whose fields errors name by themselves", () => {
  const checkIn = (text: string) => () => {
    const { value, loss } = runToEnd(parseInSteps(text, { part: "p.args" }));
    expect(value).toEqual(JSON.parse(text));
    if (loss !== undefined) throw loss;
  };
  const checkPart = (args: string) => checkIn(`{"p":{"args":${args}}}`);

  it.each([
    ['{"m":{"id":1234567890123456789}}', /^m.id has the integer 1234567890123456789/],
    ['{"m":[{},{"k":1,"k":1}]}', /^m\[1\].k is given twice/],
  ])("loses nothing in silence: %s", (args, message) => expect(checkPart(args)).toThrow(message));

  it("names what is beside it by its whole path", () => {
    expect(checkIn('{"id":1234567890123456789,"p":{}}')).toThrow(/^id has/);
    expect(checkIn('{"p":{"_meta":{"n":1234567890123456789}}}')).toThrow(/^p._meta.n has/);
  });
});

it("a megabyte of JSON is read, or refused, in a moment", () => {
  const texts = [
    `{"m":[${"{},".repeat(340_000)}0]}`,
    `{"m":[${'{"":0},'.repeat(140_000)}0]}`,
    `{"m":[${`[${"0,".repeat(40_000)}0],`.repeat(12)}0]}`,
    `{"m":"${"\\\\".repeat(500_000)}"}`,
    `{"m":${"1".repeat(1_000_000)}}`,
    `{"m":[${`{${Array.from({ length: 40_000 }, (_, i) => `"${i}":0`).join(",")}},`.repeat(3)}0]}`,
  ];
  for (const text of texts) {
    const read = () => {
      try {
        parseLossless(text);
      } catch {}
    };
    expect(shortestMs(read, 500), text.slice(0, 20)).toBeLessThan(500);
  }
});

it("of a name of a megabyte no more is looked at than an error may repeat", () => {
  const replace = vi.spyOn(String.prototype, "replace");
  const text = safeName("a ".repeat(500_000));
  const looked = replace.mock.contexts.map((text) => String(text).length);
  replace.mockRestore();
  expect(text).toBe("a?".repeat(32));
  expect(Math.max(...looked)).toBeLessThan(2_000);
  expect(safeName("\u{1F600}".repeat(70))).toBe("?".repeat(64));
  expect(safeName(`rcl_${"a".repeat(2_000)}`)).toBe("rcl_…");
});

describe("what is not JSON", () => {
  it.each([
    ['{"n":NaN}', "body is not JSON from character 6 on"],
    ['{"a":[1,-Infinity]}', "body is not JSON from character 9 on"],
    ['{"a":"NaN, \\" None",  "b": None}', "body is not JSON from character 28 on"],
    ["{'a':1}", "body is not JSON from character 2 on"],
    ['{"a":1 ,\n }', "body is not JSON from character 8 on"],
    ['{"a":[1,]}', "body is not JSON from character 8 on"],
    ['{"a":"one\ntwo"}', "body is not JSON from character 6 on"],
    ['{"a":1', "body is not JSON"],
    [`{"a":"${"x".repeat(70_000)}",}`, "body is not JSON"],
    [" ", "body is empty; send a JSON object"],
  ])("is named with its place: %.40s", (text, message) => {
    expect(() => parseLossless(text)).toThrow(expect.objectContaining({ field: "body", message }));
  });
});

it("a choice that is none is told only what one may mean", () => {
  expect(() => readArguments(RecallRequestSchema, { mode: "hybrid" })).toThrow(
    "mode is none of COSINE, HYBRID; did you mean HYBRID?",
  );
  expect(() => readArguments(RecallRequestSchema, { mode: 2 })).toThrow(
    "mode is a number; send one of COSINE, HYBRID",
  );
});
