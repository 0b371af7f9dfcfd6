import { expect, it } from "vitest";
import { failureOf, UsageError } from "../../cli/failure.js";
import { RecalldError } from "../../clients/typescript/src/index.js";

it("prints what a server says without the characters that control a terminal", () => {
  const said = "gone\u001b[2J\u202e\u0007";
  for (const error of [
    new RecalldError("internal", said, { status: 500, requestId: "\u001b]0;id" }),
    new UsageError(said),
    new Error(said),
  ]) {
    const { line } = failureOf(error);
    expect(line).toContain("recalld: gone");
    expect(line).not.toMatch(/[\p{Cc}\p{Bidi_C}]/u);
  }
});
