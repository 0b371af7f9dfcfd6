import { describe, expect, test } from "vitest";
import { type Scenario, scenarios } from "../clients/scripted-server.js";
import { blocks, read, rows, section } from "../support/documents.js";

const table = rows(section("docs/clients.md", "## When something breaks"));

/** Names of the cases in `clients/scenarios.json` that show what the page says, by what breaks. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  "The connection is refused": ["a refused connection is unavailable"],
  "The connection is reset before or within the answer": [
    "two more attempts follow a connection that is reset, with the same key",
    "two more attempts follow an answer that is reset in the middle, with the same key",
  ],
  "The answer of a write is lost, or cut off": [
    "a memory whose answer is lost is stored once",
    "a memory whose answer is cut is stored once",
    "a batch whose answer is lost is stored once",
  ],
  "The answer of a delete is lost": ["a delete that finds nothing after a lost answer has done its work"],
  "503 with `Retry-After`": ["Retry-After is kept", "a pause that is too long to wait is the caller's"],
  "The answer is slow": ["an answer that takes too long is asked for again"],
  "There is no answer": ["a server that never answers is given up after the timeout, each time"],
  "A watch's connection is reset": [
    "a watch goes on after a reset",
    "a watch gives up when the server stays away",
  ],
  "An export ends early": ["an export that ends early is an error", "an export that is reset is an error"],
  "A proxy answers in place of the server": [
    "two more attempts follow a proxy's 502, with the same key",
    "no attempt follows a page in place of an answer",
    "an export of a page is an error",
  ],
};

/** Returns the cases of what breaks. */
function casesOf(what: string): Scenario[] {
  return (TESTED_BY[what] ?? []).map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (found === undefined) throw new Error(`clients/scenarios.json has no case "${name}"`);
    return found;
  });
}

/** Returns the row that begins so. */
function rowOf(begins: string): string {
  return table.map(([what = ""]) => what).find((what) => what.startsWith(begins)) ?? "";
}

/** Returns what goes wrong in a case. */
function faultsOf({ answers, refused }: Scenario): string[] {
  const played = answers as { fault?: string; status?: number; headers?: Record<string, string> }[];
  const told = played.map(({ fault, status, headers = {} }) =>
    status === 503 && headers["retry-after"] !== undefined ? "503 with Retry-After" : (fault ?? ""),
  );
  return [...(refused ? ["refused"] : []), ...told];
}

test("the packages are installed from what a server and a clone have", () => {
  const [lines = ""] = blocks(section("docs/clients.md", "## Installing them"), "sh");
  const [npm = "", ...pip] = lines.trim().split("\n");
  expect(read("scripts/pack-client.js")).toContain(
    `dist/web${new URL(npm.split(" ").at(-1) ?? "").pathname}`,
  );
  for (const line of pip) {
    const [, folder, extra] = /^pip install "?\.\/recalld\/([\w/]+)(?:\[(\w+)\]")?$/.exec(line) ?? [];
    expect(read(`${folder}/pyproject.toml`)).toContain(
      extra ? `optional-dependencies.${extra} =` : "[project]",
    );
  }
});

describe("the table of what breaks", () => {
  test.each(table)("%s: each case is played", (what) => {
    expect(casesOf(what).length).toBeGreaterThan(0);
  });

  test.each([
    ["The connection is refused", "refused"],
    ["The connection is reset", "reset"],
    ["The connection is reset", "halved"],
    ["The answer of a write is lost", "lost"],
    ["The answer of a write is lost", "halved-server"],
    ["503 with `Retry-After`", "503 with Retry-After"],
    ["The answer is slow", "silent"],
    ["There is no answer", "silent"],
  ])("%s: %s happens in a case of it", (begins, fault) => {
    expect(casesOf(rowOf(begins)).flatMap(faultsOf)).toContain(fault);
  });

  test("a write whose answer is lost is counted by a real server afterwards", () => {
    const cases = casesOf(rowOf("The answer of a write"));
    expect(cases.length).toBeGreaterThan(0);
    for (const { then, request } of cases) {
      const { memories = [0] } = request as { memories?: unknown[] };
      expect(then).toMatchObject({ call: "count", result: { memories: memories.length } });
    }
  });

  test("both clients run every case", () => {
    expect(read("test/clients/scenarios.test.ts")).toContain("test.each(scenarios.map(");
    const python = read("clients/python/tests/test_scenarios.py");
    expect(python).toContain('@pytest.mark.parametrize("number", range(len(SCENARIOS))');
    expect(python).toContain('@pytest.mark.parametrize("way", ["sync", "async"])');
  });
});
