import { expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { SupersededIndex, type SupersededIndexOptions } from "../../src/memory/search/superseded-index.js";
import { aMemory } from "../contract/samples.js";
import { ScriptedLog } from "./scripted-log.js";
import { unsavedIndexes } from "./unsaved-indexes.js";

/** More than a function takes as arguments. */
const MANY = 200_000;

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Indexes some memories of a log, which a last one supersedes. */
function indexOf(some: readonly Stored[], given: Partial<SupersededIndexOptions> = {}) {
  const log = new ScriptedLog();
  log.add(...some, aMemory({ supersedes: some.map((_, i) => i + 1) }));
  const { indexes } = unsavedIndexes();
  const applied = () => some.length + 1;
  const checkCapacity = () => {};
  const options = { ...log.ports, logId: "i", indexes, clock: systemClock, applied, checkCapacity };
  const index = new SupersededIndex({ ...options, ...given });
  const size = async () => (await index.layers()).reduce((sum, layer) => sum + layer.index.size, 0);
  return { index, size };
}

it("the index of superseded memories loses many at once, which expired at the same time", async () => {
  const { index, size } = indexOf([aMemory(), aMemory()]);
  expect(await size()).toBe(2);
  index.remove(Array.from({ length: MANY }, (_, i) => i + 2));
  expect(await size()).toBe(1);
});

it("the index of superseded memories has them for those who waited for it, though it is released at once", async () => {
  const { indexes } = unsavedIndexes();
  const openUnsaved = (logId: string) => {
    const remove = () => settled().then(() => index.release());
    return withChanges(indexes.openUnsaved(logId), { remove });
  };
  const { index, size } = indexOf([aMemory(), aMemory()], { indexes: withChanges(indexes, { openUnsaved }) });
  expect(await size()).toBe(2);
  expect(index.bytes).toBe(80);
});

it("superseded memories that would fit are not refused because others before them did not", async () => {
  const long = aMemory({ text: Array.from({ length: 100 }, (_, i) => `word${i}`).join(" ") });
  const { index, size } = indexOf([long, aMemory()], {
    checkCapacity: (bytes) => {
      if (bytes > bytesMax) throw new Error("no room");
    },
  });
  let bytesMax = Number.MAX_SAFE_INTEGER;
  await size();
  bytesMax = index.bytes - 1;
  await expect(size()).rejects.toThrow("no room");
  index.remove([1]);
  index.supersede([3]);
  expect(await size()).toBe(2);
});
