import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitInto, type Showable, tokensOf } from "../../src/server/mcp/tools/budget.js";
import { ABILITIES, toolsFor } from "../../src/server/mcp/tools/tools.js";

const memory = (id: number, text: string) => ({ id: `mem_01m81g5085fqavwjwpgewms${id}`, text });
const asItIs = { show: (each: Showable) => each };
const tokens = (answer: unknown) => tokensOf(JSON.stringify(answer));

describe("the budget of an answer", () => {
  it("shows all memories where they fit", () => {
    const memories = [memory(1, "Tea."), memory(2, "Coffee.")];
    expect(fitInto(memories, 2_000, asItIs)).toEqual({ memories });
  });

  it("cuts the first memory that does not fit, and names those behind it", () => {
    const memories = [memory(1, "a ".repeat(600)), memory(2, "b ".repeat(6_000)), memory(3, "c")];
    const { memories: shown, left_out } = fitInto(memories, 1_500, asItIs);
    expect(shown[0]).toEqual(memories[0]);
    expect(shown[1]).toMatchObject({ id: memories[1]?.id, cut: true });
    expect(String(shown[1]?.text).length).toBeGreaterThan(1_000);
    expect(left_out).toEqual([memories[2]?.id]);
  });

  it("keeps the part of a text that was found", () => {
    const text = `${"x".repeat(50_000)} needle ${"y".repeat(10_000)}`;
    const [shown] = fitInto([memory(1, text)], 500, { ...asItIs, centreOf: () => 50_003 }).memories;
    expect(shown?.text).toContain(" needle ");
  });

  it("drops large metadata before the text", () => {
    const large = { ...memory(1, "Tea."), metadata: { note: "n".repeat(16_000) } };
    expect(fitInto([large], 500, asItIs).memories).toEqual([{ ...memory(1, "Tea."), cut: true }]);
  });

  it("is kept whatever the memories are, and names or shows each of them once", () => {
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 3_000, size: "max" }), { maxLength: 20 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 500, max: 5_000 }), (all, tokensMax) => {
        const memories = all.map((text, at) => memory(at, text));
        const { memories: shown, left_out = [] } = fitInto(memories, tokensMax, asItIs);
        expect(tokens({ memories: shown, left_out })).toBeLessThanOrEqual(tokensMax);
        expect([...shown.map(({ id }) => id), ...left_out]).toEqual(memories.map(({ id }) => id));
      }),
      { numRuns: 60 },
    );
  });
});

describe("the words of the tools", () => {
  it("take less than 2,000 tokens of a context, with their arguments", () => {
    const tools = toolsFor({ namespace: undefined, readOnly: false, tools: "memory" });
    const words = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    expect(tokens([ABILITIES.instructions, words])).toBeLessThan(2_000);
  });
});
