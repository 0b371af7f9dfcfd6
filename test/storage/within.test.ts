import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { TookTooLongError, within } from "../../src/storage/within.js";

it("answers what arrived while the whole process was paused for longer than the limit", async () => {
  const answer = within(500, readFile(import.meta.filename, "utf8"));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  expect(await answer).toContain("paused");
});

it("throws when an answer takes longer than the limit", async () => {
  await expect(within(20, sleep(2_000))).rejects.toThrow(TookTooLongError);
});
