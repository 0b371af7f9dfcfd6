import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type LeftoverPorts, StoredFiles, startSweeping } from "../../src/memory/erasure/sweeping.js";
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

it("files of one log lose what others delete though those of another fail", async () => {
  const wiped: unknown[] = [];
  const ports = {
    indexes: {
      stored: async () => ["broken", "whole"],
      marksOf: async () => [{ sequence: 1, opId: "op" }],
      wipe: async (logId: string, sequences: readonly number[]) => void wiped.push([logId, sequences]),
    },
    namespaces: {
      ifLogIsOpen: async (logId: string) => {
        if (logId === "broken") throw new Error("its files cannot be read");
        return false;
      },
    },
    log: {
      read: async () => ({
        entries: [{ sequence: 2, entry: { op: "delete", opId: "d", target: 1 } }],
        complete: true,
      }),
    },
    clock: { yield: async () => {} },
  } as unknown as LeftoverPorts;
  await expect(new StoredFiles(ports).catchUp()).rejects.toThrow("its files cannot be read");
  expect(wiped).toEqual([["whole", [1]]]);
});
