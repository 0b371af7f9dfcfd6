import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { TookTooLongError, within } from "../../src/storage/within.js";

it("answers what arrived while the whole process was paused for longer than the limit", async () => {
  const answer = within(50, readFile(import.meta.filename, "utf8"));
  const endMs = performance.now() + 200;
  while (performance.now() < endMs);
  expect(await answer).toContain("paused");
});

it("throws when an answer takes longer than the limit", async () => {
  await expect(within(20, sleep(2_000))).rejects.toThrow(TookTooLongError);
});
