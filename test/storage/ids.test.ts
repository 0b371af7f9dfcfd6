import { expect, it } from "vitest";
import { afterAll } from "../../src/storage/mongo/ids.js";

const bytes = (text: string) => Buffer.from(text);

it.each([
  ["acc:", "acc;"],
  ["acc:user/", "acc:user0"],
  ["a\u{10ffff}\u{10ffff}", "b"],
  ["a\ud7ff", "a\ue000"],
  ["a\uffff", "a\u{10000}"],
])("the first string after all that begin with %j is %j", (prefix, next) => {
  expect(afterAll(prefix)).toBe(next);
  for (const end of ["", "\u0000", "x", "\u{10ffff}", "\u{10ffff}\u{10ffff}"]) {
    expect(Buffer.compare(bytes(prefix + end), bytes(next))).toBe(-1);
  }
});
