import { describe, expect, test } from "vitest";
import { type Scenario, scenarios } from "../clients/scripted-server.js";
import { blocks, read, rows, section } from "../support/documents.js";

const table = rows(section("docs/clients.md", "## When something breaks"));

/** Returns the cases that a row names. */
function shownBy(row: readonly string[]): Scenario[] {
  const names = (row[2] ?? "").split("; ");
  return names.map((name) => {
    const found = scenarios.find((scenario) => scenario.name === name);
    if (found === undefined) throw new Error(`clients/scenarios.json has no case "${name}"`);
    return found;
  });
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
  test.each(table)("%s: each case is played", (...row) => {
    expect(shownBy(row).length).toBeGreaterThan(0);
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
    const row = table.find(([what]) => what?.startsWith(begins)) ?? [];
    expect(shownBy(row).flatMap(faultsOf)).toContain(fault);
  });

  test("a write whose answer is lost is counted by a real server afterwards", () => {
    const row = table.find(([what]) => what?.startsWith("The answer of a write")) ?? [];
    for (const { then, request } of shownBy(row)) {
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
