import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { DataFolder } from "../../eval/data-folder.js";
import { readOptions } from "../../eval/options.js";
import { FULL, sampleOf, shuffled } from "../../eval/sample.js";
import { TINY, writeData } from "./tiny-data.js";

const folders: string[] = [];
const open = (files: Readonly<Record<string, readonly object[]>>, side: "dev" | "heldout" = "dev") => {
  const path = writeData(files);
  folders.push(path);
  return new DataFolder(path, side);
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

describe("a data folder", () => {
  const data = open(TINY);

  test("lists the sets of one side, packed or not", () => {
    expect(data.list()).toEqual([
      { kind: "retrieval", name: "people" },
      { kind: "retrieval", name: "storeOptions" },
      { kind: "sts", name: "stsb-tiny" },
      { kind: "pairs", name: "doubles" },
    ]);
    expect(open(TINY, "heldout").list()).toEqual([{ kind: "retrieval", name: "hidden" }]);
  });

  test("reads scopes, grades, sessions and what has no answer", () => {
    const { rows, queries } = data.retrieval("people");
    expect(rows).toHaveLength(6);
    const [q1, , q3, q4, q5] = queries;
    expect(q1).toMatchObject({ scopes: ["ana"], sessions: ["s1"], category: "single", answerable: true });
    expect(q1?.gains).toEqual(new Map([["ana/1", 1]]));
    expect(q3?.scopes).toEqual(["ana", "ben"]);
    expect(q3?.relevant).toEqual(new Set(["ben/1"]));
    expect(q3?.gains).toEqual(
      new Map([
        ["ben/1", 2],
        ["ana/3", 1],
      ]),
    );
    expect([q4?.answerable, q5?.answerable]).toEqual([false, false]);
  });

  test("takes a label for the rows that have it", () => {
    expect(data.retrieval("storeOptions").queries[0]?.relevant).toEqual(new Set(["1", "2"]));
  });

  test("reads ratings and labels of pairs", () => {
    expect(data.pairs("sts", "stsb-tiny").pairs.map(({ gold }) => gold)).toEqual([4.8, 3.2, 0]);
    expect(data.pairs("pairs", "doubles").pairs.map(({ gold }) => gold)).toEqual([1, 0]);
  });

  const broken: [problem: string, rows: object[], query: object][] = [
    ["needs row 9", [{ id: "1", text: "a" }], { id: "q", query: "?", relevant: ["9"] }],
    ["has neither", [{ id: "1", text: "a" }], { id: "q", query: "?" }],
    ["has neither", [{ id: "1", text: "a", label: "x" }], { id: "q", query: "?", relevant_label: "y" }],
    ["jsonl:1: no id", [{ text: "a" }], { id: "q", query: "?", relevant: [] }],
  ];
  test.each(broken)("says what does not fit: %s", (problem, rows, query) => {
    const files = { "retrieval/x/corpus.jsonl": rows, "retrieval/x/queries.dev.jsonl": [query] };
    expect(() => open(files).retrieval("x")).toThrow(problem);
  });

  test("says when there is none", () => {
    expect(() => open({}).list()).toThrow("no evaluation data of the dev side");
    const files = { "retrieval/x/queries.dev.jsonl": [] };
    expect(() => open(files).retrieval("x")).toThrow("no corpus.jsonl");
  });
});

describe("a sample", () => {
  const set = open(TINY).retrieval("people");

  test("is the same every time, whatever else is there", () => {
    const all = shuffled(set.queries).map(({ id }) => id);
    expect(shuffled([...set.queries].reverse()).map(({ id }) => id)).toEqual(all);
    const some = shuffled(set.queries.slice(1)).map(({ id }) => id);
    expect(some).toEqual(all.filter((id) => id !== "q1"));
  });

  test("has the rows of the scopes that its queries search, and no other", () => {
    const { queries, rows } = sampleOf(set, FULL);
    expect(queries).toHaveLength(5);
    expect([...rows.keys()].sort()).toEqual(["ana", "ben"]);
    const one = sampleOf(set, { ...FULL, queriesMax: 1 });
    expect([...one.rows.keys()]).toEqual(one.queries[0]?.scopes);
  });

  test("stops before its scopes have too many rows", () => {
    const { queries, rows } = sampleOf(set, { ...FULL, scopedRowsMax: 3 });
    expect([...rows.values()].flat().length).toBeLessThanOrEqual(3);
    expect(queries.every(({ scopes }) => scopes.every((scope) => rows.has(scope)))).toBe(true);
  });

  test("of a set without scopes has all rows, and as many queries as may be", () => {
    const storeOptions = open(TINY).retrieval("storeOptions");
    const { queries, rows } = sampleOf(storeOptions, { ...FULL, scopedRowsMax: 1 });
    expect(queries).toHaveLength(1);
    expect(rows.get("")).toHaveLength(3);
  });
});

describe("the options", () => {
  test("need data that is there", () => {
    expect(() => readOptions([], {})).toThrow("no data: name its folder with --data or EVAL_DATA");
    expect(() => readOptions([], { EVAL_DATA: "/nowhere" })).toThrow(
      "--data /nowhere: there is no such folder",
    );
    expect(readOptions(["--data", "."], {})).toMatchObject({ side: "dev", extent: { queriesMax: 1000 } });
  });

  test("name what is wrong", () => {
    const read = (...args: string[]) => readOptions(["--data", ".", ...args], {});
    expect(() => read("--side", "left")).toThrow("--side left: dev or heldout");
    expect(() => read("--quick", "--full")).toThrow("--quick and --full");
    expect(() => read("--sides", "dev")).toThrow("--sides");
  });
});
