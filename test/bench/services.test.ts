import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Figures, withServices } from "../../bench/services/page.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const figures = JSON.parse(read("bench/services.json")) as Figures;

test("docs/compared.md shows the figures of bench/services.json: `npm run bench -- services --page` writes them", () => {
  const page = read("docs/compared.md");
  expect(page).toBe(withServices(page, figures));
});

test("a service whose writes are found late or never is shown so", () => {
  const [first] = Object.values(figures);
  const late = {
    ...first,
    visibleAtOnce: 0.5,
    visible: { p50Ms: 0, p99Ms: 123.4 },
  } as Figures[string];
  const never = { ...late, visible: { p50Ms: 0, p99Ms: null } };
  const page = withServices(read("docs/compared.md"), { late, never });
  expect(page).toContain("| 50 % the next recall, p99 123.4 |");
  expect(page).toContain("| 50 % the next recall, p99 never |");
});
