import { expect, test } from "vitest";
import { Bm25Index } from "../../eval/bm25.js";
import { Bm25Searcher } from "../../eval/bm25-searcher.js";

test("BM25 scores as its formula says", () => {
  const index = new Bm25Index(["red fox", "red red wine bottle", "grey cat"]);
  const [fox, wine, cat] = index.scores("red wine");
  // Computed by hand: 3 texts of 2, 4 and 2 words; "red" is in two of them, "wine" in one.
  const [red, rare] = [Math.log(1 + 1.5 / 2.5), Math.log(1 + 2.5 / 1.5)];
  const mean = 8 / 3;
  const weight = (count: number, length: number) =>
    (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / mean));
  expect(fox).toBeCloseTo(red * weight(1, 2), 10);
  expect(wine).toBeCloseTo(red * weight(2, 4) + rare * weight(1, 4), 10);
  expect(cat).toBe(0);
});

test("BM25 knows words by their stems, and no stop words", () => {
  const index = new Bm25Index(["She was repairing bicycles.", "Nothing of the kind."]);
  expect(index.scores("Who repaired the bicycle?")[0]).toBeGreaterThan(0);
  expect([...index.scores("what was the")]).toEqual([0, 0]);
});

test("BM25 searches the union of namespaces, and forgets the set before", async () => {
  const searcher = new Bm25Searcher();
  const place = (namespace: string, id: string, text: string) => ({ namespace, row: { id, text } });
  await searcher.store([place("old", "0", "apples")], () => {});
  await searcher.store(
    [place("a", "1", "green apples"), place("b", "2", "apples"), place("c", "3", "apples")],
    () => {},
  );
  const hits = await searcher.search(["a", "b", "old"], "apples");
  expect(hits.map(({ row }) => row.id)).toEqual(["2", "1"]);
});
