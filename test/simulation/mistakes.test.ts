import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/documents.js";
import { MISTAKES } from "./mistakes.js";

// To find the mistakes takes minutes; that the code still has the places where they are planted is known at once.
test.each(MISTAKES)("the mistake that $what can be planted", ({ changes }) => {
  for (const [file, from] of changes) {
    const source = readFileSync(join(ROOT, "src", file), "utf8");
    expect(source.split(from), `${file} holds once: ${from}`).toHaveLength(2);
  }
});
