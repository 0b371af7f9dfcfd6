import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  discardOrphans,
  erasingForgotten,
  type LeftoverPorts,
  startSweeping,
  sweep,
  wipingStoredFiles,
} from "../../src/memory/erasure/sweeping.js";
import { tooLarge } from "../../src/memory/log/replica.js";
import type { Erasure } from "../../src/memory/ports/erasures.js";
import type { Lost } from "../../src/memory/ports/records.js";

/** Ports that have no more than a sweep asks them for. */
function fake(ports: object): LeftoverPorts {
  return ports as LeftoverPorts;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("one sweep runs at a time, however long it takes, and the end waits for it", async () => {
  const begun: (() => void)[] = [];
  const pending = () => new Promise<Erasure[]>((resolve) => begun.push(() => resolve([])));
  const none = async () => [];
  const ports = fake({
    exclusive: true,
    names: { list: none },
    erasures: { list: pending },
    indexes: { stored: none },
    secondaryIndexes: { unerased: none, expired: none },
    clock: { wallMs: () => 0 },
  });
  const troubles: unknown[] = [];
  const close = startSweeping(ports, { onSwept: () => {}, onTrouble: (error) => troubles.push(error) });
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
  expect(troubles).toEqual([]);
});

it("no kind of work waits for another that takes long, and each ends between two steps when the service stops", async () => {
  const erased: number[] = [];
  let lists = 0;
  const erasure = { id: "op", scope: { accountId: "acc", namespace: "a" }, logId: "large", begunAtMs: 0 };
  const ports = fake({
    exclusive: true,
    names: { list: async () => [], find: async () => undefined, retire: async () => {} },
    namespaces: { forget: () => {} },
    eraseCalls: async () => {},
    modelVersions: { refresh: async () => {}, pins: { logsAcrossModels: () => [] } },
    erasures: { list: async () => [erasure] },
    indexes: { stored: async () => [] },
    secondaryIndexes: {
      unerased: async () => [],
      expired: async () => {
        lists++;
        return [];
      },
    },
    log: {
      last: async () => ({ sequence: 1, entry: { op: "drop", opId: "op" } }),
      read: async ({ from }: { from: number }) => ({
        entries: [{ sequence: from, entry: { op: "erased" } }],
        complete: false,
      }),
      erase: async ({ sequences }: { sequences: number[] }) => {
        erased.push(...sequences);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      },
    },
    clock: { wallMs: () => 100_000 },
  });
  const troubles: unknown[] = [];
  const close = startSweeping(ports, { onSwept: () => {}, onTrouble: (error) => troubles.push(error) });
  await vi.advanceTimersByTimeAsync(600_500);
  expect(erased).toHaveLength(601);
  expect(lists).toBe(11);
  let closed = false;
  const closing = close().then(() => {
    closed = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed).toBe(true);
  await closing;
  expect(troubles).toEqual([]);
});

it("files that are far behind lose what others deleted within a minute after the start", async () => {
  const last = 1_000_000;
  const wiped: number[] = [];
  const ports = fake({
    indexes: {
      stored: async () => ["long", "short"],
      marksOf: async () => [{ sequence: 1, opId: "op" }],
      wipe: async (_: string, sequences: readonly number[]) => void wiped.push(...sequences),
    },
    namespaces: { open: { logIds: [] }, ifLogIsOpen: async () => false },
    log: {
      read: async ({ logId, from, limit }: { logId: string; from: number; limit: number }) => {
        const end = logId === "long" ? last : 2;
        const entries = Array.from({ length: Math.min(limit, end - from + 1) }, (_, i) => {
          const sequence = from + i;
          const opId = "op";
          return {
            sequence,
            entry: sequence === end ? { op: "delete", opId, target: end - 1 } : { op: "erased", opId },
          };
        });
        return { entries, complete: from + limit > end };
      },
    },
    clock: { yield: async () => {}, sleep: (ms: number) => new Promise((done) => setTimeout(done, ms)) },
  });
  const catchingUp = wipingStoredFiles(ports)();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(wiped).toEqual([1, last - 1]);
  await catchingUp;
});

/** A log of one memory and its delete. */
const logOfDelete = {
  read: async ({ from }: { from: number }) => ({
    entries: [
      { sequence: 1, entry: { op: "erased", opId: "op" } },
      { sequence: 2, entry: { op: "delete", opId: "d", target: 1 } },
    ].slice(from - 1),
    complete: true,
  }),
};

it("files of one log lose what others delete though those of many others fail", async () => {
  const wiped: unknown[] = [];
  const ports = fake({
    indexes: {
      stored: async () => [...Array.from({ length: 20 }, (_, i) => `broken ${i}`), "whole"],
      marksOf: async () => [{ sequence: 1, opId: "op" }],
      wipe: async (logId: string, sequences: readonly number[]) => void wiped.push([logId, sequences]),
    },
    namespaces: {
      open: { logIds: [] },
      ifLogIsOpen: async (logId: string) => {
        if (logId !== "whole") throw new Error("its files cannot be read");
        return false;
      },
    },
    log: logOfDelete,
    clock: { yield: async () => {} },
  });
  await expect(wipingStoredFiles(ports)()).rejects.toThrow("its files cannot be read");
  expect(wiped).toEqual([["whole", [1]]]);
});

it("files of an open index that is too large to apply its log lose what others delete", async () => {
  const wiped: unknown[] = [];
  const ports = fake({
    indexes: {
      stored: async () => ["large"],
      marksOf: async () => [{ sequence: 1, opId: "op" }],
      wipe: async (logId: string, sequences: readonly number[]) => void wiped.push([logId, sequences]),
    },
    namespaces: {
      open: { logIds: ["large"] },
      ifLogIsOpen: async (_: string, work: (replica: unknown) => Promise<void>) => {
        const current = async () => {
          throw tooLarge();
        };
        await work({ applied: 1, current });
        return true;
      },
    },
    log: logOfDelete,
    clock: { yield: async () => {} },
  });
  await wipingStoredFiles(ports)();
  expect(wiped).toEqual([["large", [1]]]);
});

it("what could not be overwritten in the files of an open index is tried again in each sweep until it can be", async () => {
  const refused = vi.fn().mockRejectedValueOnce(new Error("EROFS: read-only file system"));
  const ports = fake({
    indexes: { stored: async () => ["open"], wipe: refused },
    namespaces: {
      open: { logIds: ["open"] },
      ifLogIsOpen: async (_: string, work: (replica: unknown) => Promise<void>) => {
        await work({ applied: 2, current: async () => {} });
        return true;
      },
    },
  });
  const wipe = wipingStoredFiles(ports);
  await expect(wipe()).rejects.toThrow("read-only file system");
  await wipe();
  expect(refused.mock.calls).toEqual([
    ["open", []],
    ["open", []],
  ]);
});

it("files of a log that is not open wait for no index that is being built", async () => {
  const wiped: string[] = [];
  const ports = fake({
    indexes: {
      stored: async () => ["building", "closed"],
      marksOf: async () => [{ sequence: 1, opId: "op" }],
      wipe: async (logId: string) => void wiped.push(logId),
    },
    namespaces: {
      open: { logIds: ["building"] },
      ifLogIsOpen: async (logId: string) => logId === "building" && new Promise(() => {}),
    },
    log: logOfDelete,
    clock: { yield: async () => {} },
  });
  void wipingStoredFiles(ports)();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(wiped).toEqual(["closed"]);
});

it("files of a dropped log are discarded though another log cannot be read", async () => {
  const discarded: string[] = [];
  const ports = fake({
    indexes: {
      stored: async () => ["broken", "dropped"],
      discard: async (logId: string) => void discarded.push(logId),
    },
    namespaces: { ifLogIsOpen: async () => false },
    log: {
      last: async (logId: string) => {
        if (logId === "broken") throw new Error("it cannot be read");
        return undefined;
      },
    },
  });
  await expect(discardOrphans(ports)).rejects.toThrow("it cannot be read");
  expect(discarded).toEqual(["dropped"]);
});

it("finishes erasures behind a thousand that fail and one that is damaged, and reports a failure", async () => {
  const logs = [...Array.from({ length: 1_200 }, (_, i) => `stuck-${1_000 + i}`), "well"];
  const erasures = new Map<string, Erasure | Lost>(
    logs.map((logId) => [
      logId,
      { id: logId, logId, scope: { accountId: "acc", namespace: "n" }, begunAtMs: 0 },
    ]),
  );
  erasures.set("a", { id: "a", lost: true });
  const ports = fake({
    erasures: {
      list: async ({ limit, after = "" }: { limit: number; after?: string }) =>
        [...erasures.values()]
          .filter(({ id }) => id > after)
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit),
      remove: async ({ id }: { id: string }) => void erasures.delete(id),
    },
    log: {
      last: async (logId: string) => {
        if (logId !== "well") throw new Error("stuck");
      },
    },
    clock: { wallMs: () => 100_000 },
  });
  await expect(sweep(ports)).rejects.toThrow("the record of the erasure a is damaged");
  expect(erasures.size).toBe(1_201);
  expect(erasures.has("well")).toBe(false);
});

it("what was deleted is erased in the second sweep, many at a time, though ten thousand before it cannot be", async () => {
  const left = Array.from({ length: 10_300 }, (_, i) => ({
    logId: i < 10_000 ? "stuck" : "well",
    sequence: i + 1,
  }));
  const erased: (readonly number[])[] = [];
  const ports = fake({
    secondaryIndexes: {
      unerased: async ({ after, limit }: { after?: { sequence: number }; limit: number }) =>
        left.slice(after?.sequence).slice(0, limit),
    },
    modelVersions: { pins: { logsAcrossModels: () => [] } },
    indexes: {
      wipe: async (logId: string) => {
        if (logId === "stuck") throw new Error("EROFS: read-only file system");
      },
    },
    log: { erase: async ({ sequences }: { sequences: readonly number[] }) => void erased.push(sequences) },
  });
  const erase = erasingForgotten(ports);
  await expect(erase()).rejects.toThrow("EROFS");
  expect(await erase()).toBe(300);
  expect(erased.flat()).toEqual(left.slice(10_000).map(({ sequence }) => sequence));
  expect(erased).toHaveLength(2);
  await expect(erase()).rejects.toThrow("EROFS");
});
