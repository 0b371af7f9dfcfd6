import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type LeftoverPorts, startSweeping } from "../../src/memory/erasure/sweeping.js";
import type { Erasure } from "../../src/memory/ports/erasures.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("one sweep runs at a time, however long it takes, and the end waits for it", async () => {
  const begun: (() => void)[] = [];
  const pending = () => new Promise<Erasure[]>((resolve) => begun.push(() => resolve([])));
  // A sweep without anything to erase asks for only this.
  const log = { names: async () => [] };
  const none = { stored: async () => [] };
  const ports = { log, erasures: { pending }, vectors: none, words: none } as unknown as LeftoverPorts;
  const close = startSweeping(ports, { onSwept: () => {}, onTrouble: () => {} });
  await vi.advanceTimersByTimeAsync(180_000);
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toHaveLength(2);
  let closed = false;
  const closing = close().then(() => {
    closed = true;
  });
  await vi.advanceTimersByTimeAsync(1);
  expect(closed).toBe(false);
  begun[1]?.();
  await closing;
});
