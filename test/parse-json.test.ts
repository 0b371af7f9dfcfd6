import { expect, test } from "vitest";
import { parseJson } from "../src/parse-json.js";
import { type Chance, chanceOf } from "./support/chance.js";
import { shortestMs } from "./support/shortest-ms.js";

const KEYS = [
  "a",
  "\\",
  "\n",
  '"',
  "\u0000",
  "\\n",
  "\nb",
  "__proto__",
  "7",
  "",
  "é",
  "😀",
  "/",
  "a:{b}",
  "\\\\",
];

function anyValue(chance: Chance, depth: number): unknown {
  const kind = depth === 0 ? 0 : chance.below(4);
  if (kind === 1) return Array.from({ length: chance.below(3) }, () => anyValue(chance, depth - 1));
  if (kind < 2) return chance.pick([1, -0.5, null, true, "", "a", "\\", 'a"b:{', "\n"]);
  const keys = new Set(Array.from({ length: chance.below(5) }, () => chance.pick(KEYS)));
  return Object.fromEntries([...keys].map((key) => [key, anyValue(chance, depth - 1)]));
}

/** Objects as lists of keys and values. */
function listed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(listed);
  if (typeof value !== "object" || value === null) return value;
  return { members: Object.entries(value).map(([key, inner]) => [key, listed(inner)]) };
}

test("JSON comes back with the keys that it had, whatever was read before", () => {
  const chance = chanceOf(1);
  for (let i = 0; i < 5_000; i++) {
    const value = anyValue(chance, 4);
    const json = JSON.stringify(value, null, chance.pick([0, 1]));
    expect(listed(parseJson(json)), json).toEqual(listed(value));
  }
});

test("of keys with escapes that come twice, the last counts, as for others", () => {
  expect(parseJson('{"\\n":1,"\\u000a" :2, "\\u0061":3}')).toEqual({ "\n": 2, a: 3 });
});

test("broken JSON is refused, also with an escape in a key", () => {
  for (const text of ['{"\\n","a"}', '{"\\n":[}', '{"\\n":1', '["\\n":1]', '"\\n":1', '{"\\x":1}']) {
    expect(() => parseJson(text), text).toThrow(SyntaxError);
  }
});

test("what is nested without end overflows no stack", () => {
  const text = `{"\\n":${'{"\\n":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
  expect(Object.keys(parseJson(text) as object)).toEqual(["\n"]);
});

test("a long text of many strings with escapes takes time in proportion to its length", () => {
  const text = JSON.stringify(Array.from({ length: 200_000 }, (_, i) => `${i}\n`));
  expect(shortestMs(() => expect(parseJson(text)).toHaveLength(200_000), 1_000)).toBeLessThan(1_000);
});
