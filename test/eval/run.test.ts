import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readOptions } from "../../eval/options.js";
import { QUALITY, withTables } from "../../eval/page.js";
import { canCompare } from "../../eval/page-compared.js";
import { Progress } from "../../eval/progress.js";
import type { Results } from "../../eval/results.js";
import { Run } from "../../eval/run.js";
import type { RunRecord } from "../../eval/run-record.js";
import { summarize } from "../../eval/summarize.js";
import { TINY, writeData } from "./tiny-data.js";

const RUN_TIMEOUT_MS = 60_000;

describe("an evaluation of made-up data, with the real service and the bundled model", () => {
  const data = writeData(TINY);
  let record: RunRecord;
  let results: Results;
  const lines: string[] = [];
  const measured: number[] = [];

  const runWith = (args: string[], onto?: RunRecord) => {
    const options = readOptions(["--data", data, "--models", "bundled", ...args], {});
    if (options === "page") throw new Error("no run");
    return new Run(options, new Progress({ write: (text) => lines.push(text) }), onto);
  };

  beforeAll(async () => {
    const run = runWith([]);
    await run.run(() => measured.push(Object.keys(run.record.retrieval).length));
    expect(run.isWhole(["bundled", "bundled HYBRID", "bm25"])).toBe(true);
    expect(run.isWhole(["bundled", "another", "bm25"])).toBe(false);
    record = JSON.parse(JSON.stringify(run.record));
    results = summarize(record);
  }, RUN_TIMEOUT_MS);
  afterAll(() => rmSync(data, { recursive: true }));

  test("measures every set with the model and with BM25, and keeps each when it is done", () => {
    expect(measured).toEqual([1, 2, 2, 2]);
    expect(Object.keys(results.systems)).toEqual(["bundled HYBRID", "bundled", "bm25"]);
    expect(results.systems.bundled?.revision).toMatch(/^[0-9a-f]{12}$/);
    expect(lines.join("")).toContain("people, bundled: 5 stored, 5 asked, ");
  });

  test("finds by meaning, inside the scope or the union of scopes", () => {
    const { queries, systems, rows, rowsInAll } = results.retrieval.people as Results["retrieval"][string];
    expect({ queries, rows, rowsInAll }).toEqual({ queries: 3, rows: 5, rowsInAll: 6 });
    expect(systems.bundled?.refused).toBe(0);
    expect(systems.bundled?.metrics).toMatchObject({
      hit1: { value: 1, low: 1, high: 1 },
      hit10: { value: 1 },
      sessionRecall: { value: 1 },
    });
    expect(systems.bundled?.metrics.ndcg10?.value).toBeGreaterThan(0.9);
    expect(results.retrieval.people?.categories.single?.queries).toBe(2);
  });

  test("keeps what has no answer out of the hits, and compares its scores", () => {
    const { unanswerable } = results.retrieval.people as Results["retrieval"][string];
    expect(unanswerable?.queries).toBe(2);
    const { area, answerable } = unanswerable?.systems.bundled ?? {};
    expect(area?.value).toBeGreaterThan(0);
    expect(answerable?.median).toBeGreaterThan(0.3);
  });

  test("recalls by meaning and words from the same memories, and keeps what a floor is chosen by", () => {
    const outcomes = record.retrieval.people?.systems["bundled HYBRID"]?.outcomes ?? [];
    expect(results.retrieval.people?.systems["bundled HYBRID"]?.metrics.hit10).toMatchObject({ value: 1 });
    const fits = outcomes.flatMap(({ fits = [] }) => fits);
    expect(fits.length).toBeGreaterThan(0);
    expect(fits.every(([score, words]) => score <= 1 && words >= 0 && words <= 1)).toBe(true);
    expect(
      outcomes.filter(({ answerable }) => answerable).some(({ fits }) => fits?.some((fit) => fit[2])),
    ).toBe(true);
  });

  test("asks in other languages", () => {
    expect(results.languages["bundled HYBRID"]?.English?.hit1).toBeGreaterThan(0.8);
    expect(results.languages["bundled HYBRID"]?.Chinese?.hit1).toBeGreaterThan(0.6);
    expect(Object.keys(results.languages)).toEqual(["bundled", "bundled HYBRID", "bm25"]);
  });

  test("takes the difference to BM25 query by query", () => {
    const { differences, systems } = results.retrieval.people as Results["retrieval"][string];
    const [ours, theirs] = [systems["bundled HYBRID"]?.metrics.ndcg10, systems.bm25?.metrics.ndcg10];
    expect(differences.bm25?.value).toBeCloseTo((ours?.value ?? 0) - (theirs?.value ?? 0), 10);
  });

  test("scores pairs through the API", () => {
    expect(results.similarity["stsb-tiny"]).toMatchObject({ pairs: 3, spearman: { bundled: { value: 1 } } });
    expect(results.strong["STS benchmark"]).toMatchObject({
      pairs: 3,
      same: 1,
      systems: { bundled: { recall: { value: 1 } } },
    });
    expect(results.strong.doubles).toMatchObject({
      same: 1,
      systems: { bundled: { above: 1, precision: { value: 1 } } },
    });
    expect(results.pitfalls.bundled?.every((score) => score >= 0 && score <= 1)).toBe(true);
  });

  test(
    "goes on from an earlier run, and only from one of the same extent",
    async () => {
      const earlier = structuredClone(record);
      earlier.retrieval.people = {
        ...(earlier.retrieval.people as RunRecord["retrieval"][string]),
        systems: {},
      };
      earlier.systems.other = { name: "Other", date: "2026-01-01", machine: "another" };
      const run = runWith(["--sets", "people"], earlier);
      await run.run(() => {});
      expect(Object.keys(run.record.systems)).toEqual(["bundled HYBRID", "bundled", "other", "bm25"]);
      expect(Object.keys(run.record.retrieval)).toEqual(["people", "storeOptions"]);
      expect(outcomesOf(run.record)).toEqual(outcomesOf(record));
      expect(() => runWith(["--full"], earlier)).toThrow("at most 1000 queries");
    },
    RUN_TIMEOUT_MS,
  );

  /** Without nDCG: memories that have nothing to do with a query come in the order in which they were stored. */
  function outcomesOf({ retrieval }: RunRecord) {
    const outcomes = retrieval.people?.systems.bundled?.outcomes ?? [];
    expect(outcomes.length).toBeGreaterThan(0);
    return outcomes.map(({ ndcg10: _, ...outcome }) => outcome);
  }

  test("refuses the name of a set that is not there", async () => {
    await expect(runWith(["--sets", "people,nobody"]).run(() => {})).rejects.toThrow(
      "the data has people, storeOptions",
    );
  });

  test(
    "leaves out what is too much for a quick run",
    async () => {
      const { extent, ...options } = readOptions(
        ["--data", data, "--models", "bundled", "--sets", "storeOptions"],
        {},
      ) as Exclude<ReturnType<typeof readOptions>, "page">;
      const said: string[] = [];
      const run = new Run(
        { ...options, extent: { ...extent, charactersMax: 10 } },
        new Progress({ write: (text) => said.push(text) }),
      );
      await run.run(() => {});
      expect(said.join("")).toContain("storeOptions left out: 54 characters to store, more than 10");
      expect(run.record.retrieval).toEqual({});
    },
    RUN_TIMEOUT_MS,
  );

  test("is compared with others only if it has all their sets, pooled too, for all systems", () => {
    const systems = Object.keys(results.systems);
    const { people } = results.retrieval as Record<string, Results["retrieval"][string]>;
    const sets = { "longmemeval-s-user": people, locomo: people } as Results["retrieval"];
    const whole = { ...results, retrieval: sets, pooled: sets };
    expect(canCompare(whole, systems)).toBe(true);
    expect(canCompare(whole, [...systems, "another"])).toBe(false);
    expect(canCompare({ ...whole, pooled: {} }, systems)).toBe(false);
    expect(canCompare(results, systems)).toBe(false);
  });

  test("writes its tables between the page's markers, and nowhere else", () => {
    const names = [
      "run",
      "means",
      "sets",
      "similarity",
      "above",
      "bands",
      "strong",
      "unanswerable",
      "pitfalls",
    ];
    const marked = (name: string, text: string) =>
      `Before ${name}.\n\n<!-- \`npm run eval -- quality\` writes: ${name} -->${text}<!-- End of ${name}. -->\n`;
    const page = withTables(names.map((name) => marked(name, " old ")).join(""), QUALITY, results);
    expect(page).not.toContain(" old ");
    expect(page).toContain("Before sets.\n\n<!-- `npm run eval -- quality` writes: sets -->\n\n| Set ");
    expect(page).toMatch(/\| storeOptions .*\| 1\.000 +\|\n/);
    expect(withTables(page, QUALITY, results)).toBe(page);
    expect(() => withTables(page.replace("End of above", ""), QUALITY, results)).toThrow("above");
  });
});
