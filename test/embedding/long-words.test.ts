import { createHash } from "node:crypto";
import { join } from "node:path";
import { AutoTokenizer } from "@xenova/transformers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { OpenEmbedder } from "../../src/embedding/embedder.js";
import { readLongWords } from "../../src/embedding/encode/vocabulary.js";
import { packageRoot } from "../../src/embedding/models/locate.js";
import { vectorsOf } from "../../src/memory/ports/windows.js";
import { prose } from "../support/prose.js";
import { shortestMs } from "../support/shortest-ms.js";
import { openEmbedder } from "./built.js";

vi.setConfig({ testTimeout: 120_000 });

const TEXT_BYTES_MAX = 65_536;
const load = () =>
  AutoTokenizer.from_pretrained(join(packageRoot(), "models", "bundled"), { local_files_only: true });
type Tokenizer = Awaited<ReturnType<typeof load>>;
const idsOf = (tokenizer: Tokenizer, text: string): bigint[] => [
  ...(tokenizer(text, { truncation: false, padding: false }).input_ids.data as BigInt64Array),
];

/** Makes data in base64 without its signs, so that it is one word. */
function base64(bytes: number, seed: string): string {
  let word = "";
  for (let i = 0; word.length < bytes; i++) {
    word += createHash("sha512").update(`${seed} ${i}`).digest("base64").replace(/[+/=]/g, "x");
  }
  return word.slice(0, bytes);
}

let plain: Tokenizer;
let patched: Tokenizer;
let embedder: OpenEmbedder;
beforeAll(async () => {
  [plain, patched] = await Promise.all([load(), load()]);
  readLongWords(patched);
  embedder = await openEmbedder({ model: "bundled", modelsDir: "/nowhere", workers: 1 });
});
afterAll(() => embedder.close());

describe("texts without long words", () => {
  it("have the very tokens that the library gives, whatever is in them", () => {
    const word = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(..."abcxyz0189éß字มั😀-_.") as fc.Arbitrary<string>, maxLength: 95 }),
      fc.constantFrom("", "[UNK]", "[CLS]", "U.S.", "naïveté", "\u0301", "\u200b"),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (words) => {
        const text = words.join(" ");
        expect(idsOf(patched, text)).toEqual(idsOf(plain, text));
      }),
      { numRuns: 500 },
    );
    for (const sentence of prose(600)) expect(idsOf(patched, sentence)).toEqual(idsOf(plain, sentence));
  });

  it("of the longest words that are no long ones are read within a second, not five", () => {
    const text = Array.from({ length: 650 }, (_, i) => base64(99, `${i}`)).join(" ");
    const beganMs = performance.now();
    const ids = idsOf(plain, text);
    const enoughMs = (performance.now() - beganMs) / 3;
    expect(idsOf(patched, text)).toEqual(ids);
    expect(shortestMs(() => idsOf(patched, text), enoughMs)).toBeLessThan(enoughMs);
  });
});

describe("an unbroken word", () => {
  it("of 65,536 bytes has as many tokens as it is made of, and bounded windows", async () => {
    const { tokens, windows = [] } = await embedder.embed({
      text: base64(TEXT_BYTES_MAX, "a"),
      field: "text",
      owner: "acc",
    });
    expect(tokens).toBeGreaterThan(20_000);
    expect(windows.length).toBeLessThan(1_024);
    expect(windows.at(-1)?.end).toBe(TEXT_BYTES_MAX);
  });

  it.each([
    ["data in base64", base64(400, "one"), base64(400, "other")],
    ["words that run together", "violin".repeat(30), "mountain".repeat(30)],
  ])("is told apart from another one: %s", async (_kind, one, other) => {
    const read = async (text: string) =>
      vectorsOf(await embedder.embed({ text, field: "text", owner: "acc" }))[0] as Float32Array;
    const [a, b] = [await read(one), await read(other)];
    const score = a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
    expect(score).toBeLessThan(0.98);
    expect(await read(one)).toEqual(a);
  });
});
