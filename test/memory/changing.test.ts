import { afterEach, describe, expect, it } from "vitest";
import { endCopy } from "../../src/memory/erasure/erase-log.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { Generations } from "../../src/memory/generations/generations.js";
import { newOperationId } from "../../src/memory/input/id.js";
import { inGeneration } from "../../src/memory/ports/generation.js";
import type { Dropped, Log } from "../../src/memory/ports/log.js";
import { aMemory, memories } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { modelOf } from "./models.js";
import { House, plainVectors, scopeOf, until } from "./room.js";

const [OLD, NEW] = ["", "1"];
const VECTOR = Float32Array.of(1, 0);
const model = modelOf([...VECTOR]);
const anEnd = (): Dropped => ({ op: "drop", opId: newOperationId() });

let house: House;
afterEach(() => house.close());

describe("while the model changes", () => {
  it("a namespace that another replica drops holds up no other that is prepared", async () => {
    house = await House.open();
    const generations = new Generations(OLD, model);
    generations.add(NEW, model);
    const { vectors, opened } = plainVectors(() => ({}));
    const room = house.room({ generations, vectors });
    const copies: string[] = [];
    for (const name of ["a", "b"]) {
      const logId = await house.write(name, memories(2));
      copies.push(inGeneration(logId, NEW));
      expect(await room.size(name)).toBe(2);
    }
    const [dropped = "", kept = ""] = copies;
    const { log } = house.storage;
    await log.append({ logId: dropped, from: 1, entries: [aMemory(), anEnd()] });
    await log.append({ logId: kept, from: 1, entries: memories(2) });
    for (let time = 0; time < 2; time++) await room.namespaces.prepare(NEW);
    await room.namespaces.close();
    const copy = (of: string) => opened.filter(({ logId }) => logId === of);
    expect(copy(kept).map(({ index }) => [index.size, index.closed])).toEqual([[2, 1]]);
    expect(copy(dropped).map(({ index }) => index.closed)).toEqual([1, 1]);
  });

  it("a copy whose index fails is made anew", async () => {
    house = await House.open();
    const generations = new Generations(OLD, model);
    generations.add(NEW, model);
    const copy = inGeneration(await house.write("a", memories(2)), NEW);
    await house.storage.log.append({ logId: copy, from: 1, entries: memories(2) });
    const failing = { add: () => Promise.reject(new Error("no more")) };
    const { vectors, opened } = plainVectors((logId, nth) => (logId === copy && nth === 0 ? failing : {}));
    const room = house.room({ generations, vectors });
    await room.size("a");
    await expect(room.namespaces.prepare(NEW)).rejects.toMatchObject({ code: "unavailable" });
    await room.namespaces.prepare(NEW);
    expect(opened.map(({ index }) => index.size)).toEqual([2, 0, 2]);
  });
});

describe("a log of a model that is gone", () => {
  /** Makes a process whose model holds back the texts that it is told to. */
  const slowly = (until: Promise<void>, onText: () => void = () => {}) =>
    new Generations(NEW, {
      ...model,
      embed: async ({ field, ...input }) => {
        if (field === "text") onText();
        if (field === "text") await until;
        return model.embed({ field, ...input });
      },
    });

  it("is not erased by a copier that slept while another moved it and the sweep came by", async () => {
    const clock = new HandClock();
    house = await House.open({ clock });
    await house.write("a", memories(5));
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let began = 0;
    const slow = house.room({
      generations: slowly(asleep, () => began++),
      vectors: plainVectors(() => ({})).vectors,
    });
    const late = slow.size("a");
    await until(() => began > 0);
    const quick = house.room({
      generations: new Generations(NEW, model),
      vectors: plainVectors(() => ({})).vectors,
    });
    expect(await quick.size("a")).toBe(5);
    clock.atMs += 120_000;
    expect(await sweep(quick.ports)).toBe(1);
    wake();
    expect(await late).toBe(5);
    const logId = (await house.storage.log.find(scopeOf("a"))) ?? "";
    expect(await house.storage.log.measure({ logId })).toMatchObject({ memories: 5 });
  });

  it("is moved once for all calls of a process that need it", async () => {
    house = await House.open();
    await house.write("a", memories(5));
    let embedded = 0;
    const generations = slowly(Promise.resolve(), () => embedded++);
    const room = house.room({ generations, vectors: plainVectors(() => ({})).vectors });
    expect(await Promise.all(Array.from({ length: 10 }, () => room.size("a")))).toEqual(
      new Array(10).fill(5),
    );
    expect(embedded).toBe(5);
  });

  it("and whose dropper died is taken off its name: a store begins it anew, and is found", async () => {
    house = await House.open();
    await house.write("a", [aMemory(), anEnd()]);
    const generations = new Generations(NEW, model);
    const room = house.room({ generations, vectors: plainVectors(() => ({})).vectors });
    const entry = aMemory();
    await room.append("a", entry);
    expect(await room.recall("a", VECTOR)).toEqual([entry.id]);
  });

  it("is no namespace for who recalls then", async () => {
    house = await House.open();
    await house.write("a", [aMemory(), anEnd()]);
    const room = house.room({ generations: new Generations(NEW, model) });
    expect(await room.recall("a", VECTOR)).toBeUndefined();
    expect(await house.storage.log.find(scopeOf("a"))).toBeUndefined();
  });
});

describe("a copy that is not needed", () => {
  it("is not erased before it has an end, which others may be quicker than", async () => {
    house = await House.open();
    let erased = 0;
    const log: Pick<Log, "last" | "append" | "read" | "erase"> = {
      last: async () => ({ sequence: 1, entry: aMemory() }),
      append: async () => 0,
      read: async () => ({ entries: [], complete: true }),
      erase: async () => void erased++,
    };
    await expect(endCopy({ log: log as Log, clock: new HandClock() }, "i")).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(erased).toBe(0);
  });
});
