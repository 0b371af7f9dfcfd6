import { expect, it } from "vitest";
import { SupersededIndex } from "../../src/memory/search/superseded-index.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { ScriptedLog } from "./scripted-log.js";
import { unsavedIndexes } from "./unsaved-indexes.js";

/** More than a function takes as arguments. */
const MANY = 200_000;

it("the index of superseded memories loses many at once, which expired at the same time", async () => {
  const log = new ScriptedLog();
  log.add(aMemory(), aMemory(), aMemory({ supersedes: [1, 2] }));
  const { indexes } = unsavedIndexes();
  const index = new SupersededIndex({
    ...log.ports,
    logId: "i",
    indexes,
    clock: new HandClock(),
    applied: () => 3,
    checkRoom: () => {},
  });
  const size = async () => (await index.layers()).reduce((sum, layer) => sum + layer.index.size, 0);
  expect(await size()).toBe(2);
  index.remove(Array.from({ length: MANY }, (_, i) => i + 2));
  expect(await size()).toBe(1);
});
