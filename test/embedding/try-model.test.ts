import { expect, it } from "vitest";
import { measureModel, readTrial, tableOf } from "../../src/embedding/try-model.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";
import { scoreOf } from "../../src/memory/search/score.js";

async function trialOf(...lines: (object | string)[]) {
  async function* all() {
    for (const line of lines) yield typeof line === "string" ? line : JSON.stringify(line);
  }
  return readTrial(all());
}

/** A model whose vectors count letters: the second one hears only the first letter. */
function modelOf(letters: (text: string) => string): Embedder {
  const embed = async ({ text }: { text: string }) => {
    const counts = new Float32Array(26);
    for (const letter of letters(text.toLowerCase())) {
      const at = letter.charCodeAt(0) - 97;
      if (at >= 0 && at < 26) counts[at] = (counts[at] as number) + 1;
    }
    const length = Math.hypot(...counts);
    return { vectors: counts.map((count) => count / length), tokens: 1 };
  };
  // Nothing else of an embedder is asked for.
  return { model: { dimensions: 26 }, embed } as unknown as Embedder;
}

it("finds the memories of questions by id, external id and text, wherever they stand", async () => {
  const trial = await trialOf(
    { format: "recalld-export", version: 1 },
    { query: "zebra", relevant: ["mem_1", "x"] },
    { id: "mem_1", text: "A zebra." },
    { id: "mem_2", external_id: "x", text: "A quagga." },
    "",
    { query: "whale", relevant: ["A whale."] },
    { count: 2, sha256: "" },
  );
  expect(trial).toEqual({
    isMadeUp: false,
    texts: ["A zebra.", "A quagga.", "A whale."],
    questions: [
      { query: "zebra", relevant: [0, 1] },
      { query: "whale", relevant: [2] },
    ],
  });
});

it("takes no memory's text for another one's external id", async () => {
  const { texts, questions } = await trialOf(
    { text: "tea" },
    { id: "mem_1", external_id: "tea", text: "Ada drinks it green." },
    { text: "mem_1" },
    { query: "drink", relevant: ["tea"] },
  );
  expect([...texts].sort()).toEqual(["Ada drinks it green.", "mem_1", "tea"]);
  expect(texts[questions[0]?.relevant[0] as number]).toBe("Ada drinks it green.");
});

it("has the last words of texts stand for questions where there are none", async () => {
  const long = "one two three four five six seven eight nine";
  const trial = await trialOf({ text: "Too short for that." }, { text: long });
  expect(trial).toEqual({
    isMadeUp: true,
    texts: [long, "Too short for that."],
    questions: [{ query: "six seven eight nine", relevant: [0] }],
  });
});

it("takes a bounded part of many, with all that is asked for", async () => {
  const memories = Array.from({ length: 9000 }, (_, i) => ({ id: `m${i}`, text: `Memory number ${i}` }));
  const asked = Array.from({ length: 1000 }, (_, i) => ({ query: `number ${i}`, relevant: [`m${i * 9}`] }));
  const { texts, questions } = await trialOf(...memories, ...asked);
  expect([texts.length, questions.length]).toEqual([5000, 300]);
  for (const { query, relevant } of questions)
    expect(texts[relevant[0] as number]).toBe(`Memory number ${9 * Number(query.slice(7))}`);
});

it.each([
  [[{ text: "short" }], "the file has no question, and no memory of 8 words or more"],
  [[{ text: "a" }, "{"], "line 2 is no JSON"],
  [[{ query: "a", relevant: "b" }], "line 1: relevant must be a list of ids or texts, one at least"],
  [[{ query: "a", relevant: [] }], "line 1: relevant must be a list"],
])("refuses %j", async (lines, message) => {
  await expect(trialOf(...lines)).rejects.toThrow(message);
});

it("measures what a model finds, side by side with another", async () => {
  const texts = ["abc", "bcd", "cde", "def", "efg", "fgh", "aaa"];
  const trial = { texts, isMadeUp: false, questions: texts.map((query, i) => ({ query, relevant: [i] })) };
  const good = await measureModel(
    modelOf((text) => text),
    trial,
    scoreOf,
  );
  expect(good).toMatchObject({ dimensions: 26, recall: 1, first: 1 });
  const poor = await measureModel(
    modelOf(() => "a"),
    trial,
    scoreOf,
  );
  expect(poor).toMatchObject({ recall: 5 / 7, first: 1 / 7 });
  const speed = { textsPerSecond: 1234.4, queryMs: 0.52 };
  const table = tableOf([
    { ...good, ...speed, model: "good" },
    { ...poor, ...speed, model: "openai:poor" },
  ]);
  expect(table).toEqual([
    "                 good  openai:poor",
    "recall@5        1.000        0.714",
    "found first     1.000        0.143",
    "texts a second  1,234        1,234",
    "ms for a query    0.5          0.5",
    "dimensions         26           26",
  ]);
});
