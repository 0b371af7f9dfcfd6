import { expect, it } from "vitest";
import { failureOf, UsageError } from "../../cli/failure.js";
import { RecalldError } from "../../clients/typescript/src/index.js";
import { MemoryError } from "../../src/errors.js";

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

it("names the reason, under which the docs say what to do", () => {
  const facts = { status: 400, requestId: "r1", reason: "POSITION_GONE" } as const;
  const error = new RecalldError("failed_precondition", "the position is gone", facts);
  expect(failureOf(error).line).toBe(
    "recalld: the position is gone (failed_precondition, POSITION_GONE, request id r1)",
  );
});

it("names what was typed in place of the field that a server names", () => {
  const message = "account_id is not the id of the key's account";
  const error = new RecalldError("invalid_argument", message, { status: 400, field: "accountId" });
  expect(failureOf(error).line).toMatch(/^recalld: ACCOUNT is not the id of the key's account /);
});

it.each([
  ["recency.half_life is not positive", "--half-life"],
  ["neighbors.before is 9", "--around"],
  ["like_id is not of the form mem_…", "--like"],
  ["filter.a.$foo is none of the operators", "--filter a.$foo"],
  ["supersedes[0] is blank", "--supersedes[0]"],
])("names the option for what %s", (message, option) => {
  const field = message.split(" ")[0];
  const error = new RecalldError("invalid_argument", message, { status: 400, field });
  expect(failureOf(error).line).toContain(`recalld: ${message.replace(field as string, option)} (`);
});

it("takes no file's name for a field", () => {
  const error = new MemoryError("invalid_argument", "memories.jsonl is not there");
  expect(failureOf(error).line).toBe("recalld: memories.jsonl is not there (invalid_argument)");
});
