import { expect, test } from "vitest";
import { withLimits } from "../../scripts/limits.js";
import { read } from "../support/documents.js";

test("docs/errors.md has the limits of the code: `npm run generate` renews them", () => {
  const page = read("docs/errors.md");
  expect(withLimits(page)).toBe(page);
});
