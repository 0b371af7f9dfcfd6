import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FLOORS } from "../../bench/compare/floors.js";
import { SYSTEM_IDS } from "../../bench/compare/options.js";
import { withFigures } from "../../bench/compare/page.js";
import type { Results } from "../../bench/compare/results.js";
import { TARGETS } from "../../bench/compare/targets.js";
import { storedScale } from "../../bench/scale/results.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const scale = storedScale();
const results = JSON.parse(read("bench/results.json")) as Results;

describe("docs/performance.md", () => {
  test("shows the figures of bench/results.json: `npm run bench -- compare --page` writes them", () => {
    const page = read("docs/performance.md");
    expect(page).toBe(withFigures(page, results, scale));
  });

  test("other figures make another page", () => {
    const page = read("docs/performance.md");
    const [first, ...rest] = results.sizes;
    const other = { ...results, sizes: [{ ...first, memories: 1234 } as Results["sizes"][0], ...rest] };
    expect(withFigures(page, other)).toContain("1 caller, 1,234");
    expect(withFigures(page, { ...results, load: 3 })).toContain("The machine was busy");
    expect(withFigures(page, { ...results, load: 0.1 })).not.toContain("The machine was busy");
    expect(() => withFigures("# No markers\n", results)).toThrow("lacks");
  });

  test("they are of the whole: every system, and what is compared is what is pinned", () => {
    expect(Object.keys(results.systems)).toEqual([...SYSTEM_IDS]);
    const pins = new Map(
      read("bench/requirements.txt")
        .split("\n")
        .map((line) => line.split("==") as [string, string]),
    );
    expect(results.systems.chroma?.version).toBe(pins.get("chromadb"));
    expect(results.systems.lancedb?.version).toBe(pins.get("lancedb"));
    const duties = results.systems["pgvector-http"]?.version;
    expect(duties).toContain(`uvicorn ${pins.get("uvicorn")}, asyncpg ${pins.get("asyncpg")}`);
    for (const { recall, targets } of results.sizes) {
      for (const floor of Object.keys(FLOORS)) expect(recall["1"]).toHaveProperty(floor);
      expect(Object.keys(targets)).toEqual(Object.keys(TARGETS));
    }
  });
});
