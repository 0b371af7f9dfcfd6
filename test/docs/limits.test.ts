import { expect, test } from "vitest";
import { withLimits } from "../../scripts/limits.js";
import { read } from "../support/documents.js";

test("docs/limits.md has the limits of the code: `npm run generate` renews them", () => {
  const page = read("docs/limits.md");
  expect(withLimits(page)).toBe(page);
});
