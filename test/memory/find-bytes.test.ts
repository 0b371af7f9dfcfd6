import { expect, it } from "vitest";
import { finderOf } from "../../src/memory/requests/find-bytes.js";
import { matches } from "../../src/memory/requests/matches.js";

it("finds the same place as the platform's search, from any place on", () => {
  // Of two letters, so that most beginnings come again.
  const texts = Array.from({ length: 60 }, (_, i) =>
    Buffer.from(
      Array.from({ length: 33 + 7 * i }, (__, at) => 97 + (Math.sin(i * 997 + at * at) > 0.6 ? 1 : 0)),
    ),
  );
  for (const [i, text] of texts.entries()) {
    const within = Buffer.concat([...texts.slice(0, i), text.subarray(0, -1), text, Buffer.of(0), text]);
    for (const sought of [
      text,
      text.subarray(1),
      text.subarray(0, 33),
      Buffer.alloc(40, 97),
      Buffer.alloc(0),
    ]) {
      const find = finderOf(sought);
      for (const from of [undefined, 0, 1, i * 40, within.indexOf(sought) + 1, within.length])
        expect(find(within, from)).toBe(within.indexOf(sought, from));
    }
  }
});

it("matches what contains a long text that repeats itself in about the time of another", () => {
  const metadata = JSON.stringify({ a: "a".repeat(16_000) });
  const timeOf = (value: string) => {
    const condition = { kind: "test", field: ["a"], test: { op: "contains", value } } as const;
    const times = Array.from({ length: 5 }, () => {
      const startMs = performance.now();
      expect(matches(condition, { id: "", metadata, createdAtMs: 0 })).toBe(false);
      return performance.now() - startMs;
    });
    return Math.min(...times);
  };
  timeOf("b".repeat(4_001));
  const half = "a".repeat(2_000);
  expect(timeOf(`${half}b${half}`) / timeOf("b".repeat(4_001))).toBeLessThan(30);
});
