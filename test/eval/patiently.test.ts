import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { patiently } from "../../eval/patiently.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * Makes a function that fails with these codes, one call after another, and then returns its number of calls.
 */
function failing(...codes: Code[]) {
  let calls = 0;
  return async () => {
    const code = codes[calls++];
    if (code !== undefined) throw new ConnectError("as asked", code);
    return calls;
  };
}

test("a call that fails for want of time or of a place is tried again", async () => {
  const answer = patiently(failing(Code.Unavailable, Code.DeadlineExceeded));
  await vi.runAllTimersAsync();
  expect(await answer).toBe(3);
});

test("it is not tried for ever, and what cannot pass is not tried again", async () => {
  const answer = expect(patiently(failing(...Array(3).fill(Code.Unavailable)))).rejects.toThrow(
    "unavailable",
  );
  await vi.runAllTimersAsync();
  await answer;
  await expect(patiently(failing(Code.InvalidArgument))).rejects.toThrow("invalid_argument");
});
