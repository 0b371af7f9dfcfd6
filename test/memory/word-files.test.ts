import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteMemory } from "../../src/memory/calls/delete-memory.js";
import { deleteNamespace } from "../../src/memory/calls/delete-namespace.js";
import { recall } from "../../src/memory/calls/recall.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import { turn } from "../../src/memory/pacing/turn.js";
import type { Log, Stored } from "../../src/memory/ports/log.js";
import type { Words } from "../../src/memory/ports/words.js";
import { aMemory } from "../contract/samples.js";
import { openWords } from "../words/built.js";
import { generationsOf } from "./models.js";
import { CALLER, House, type Room, until } from "./room.js";
import { TOY_DIMENSIONS, toyEmbedder, toyEmbedding } from "./toy-embedder.js";

const MEMORIES = 1200;
const TEXTS = Array.from({ length: MEMORIES }, (_, i) => `memory number${i} of group${i % 7}`);
const idOf = (i: number) => `mem_${String(i).padStart(26, "0")}`;
const memoryOf = (text: string, i: number): Stored =>
  aMemory({ id: idOf(i), opId: idOf(i), text, ...toyEmbedding(text) });

let house: House;
let opened: Words[];
beforeEach(async () => {
  house = await House.open({ dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER });
  opened = [];
});
afterEach(async () => {
  await house.close();
  for (const words of opened) await words.close();
});

/** Makes the room of a process whose word indexes are large from the start. */
function roomOf({ log }: { log?: Log } = {}): { room: Room; words: Words } {
  const folder = join(house.dataDir, "words");
  const words = openWords({ folder, folderBytesMax: 1e9, localBytesMax: 10_000, turn });
  opened.push(words);
  const generations = generationsOf(toyEmbedder);
  return { room: house.room({ generations, words, ...(log && { log }) }), words };
}

async function recallBoth(room: Room, query: string) {
  const ports = { ...room.ports, idempotency: undefined as never };
  const { results } = await recall(ports, { caller: CALLER, query, namespace: "a", topK: 5, mode: "hybrid" });
  return results.map(({ entry, score, words }) => ({ text: entry.text, score, words }));
}

/** Fills a namespace, and lets a process build its words and keep them in a file. */
async function kept() {
  const logId = await house.write("a", TEXTS.map(memoryOf));
  const { room, words } = roomOf();
  const answer = await recallBoth(room, "number77");
  expect(answer[0]).toMatchObject({ text: TEXTS[77] });
  await room.namespaces.close();
  expect(await words.markOf(logId)).toMatchObject({ sequence: MEMORIES });
  return { logId, words, answer };
}

/** Makes a log that counts the texts that are read from it. */
function countingLog() {
  const { log } = house.storage;
  const counted = { texts: 0 };
  const read: Log["read"] = async (range) => {
    const tail = await log.read(range);
    if (range.what === "text") counted.texts += tail.entries.length;
    return tail;
  };
  const get = (_: Log, name: string | symbol) => (name === "read" ? read : Reflect.get(log, name).bind(log));
  return { log: new Proxy(log, { get }), counted };
}

describe("the file of a log's words", () => {
  it("spares the next process reading the texts again", async () => {
    const { answer } = await kept();
    const { log, counted } = countingLog();
    const { room } = roomOf({ log });
    await room.append("a", memoryOf("memory number9999 of group1", 9999));
    expect(await recallBoth(room, "number77")).not.toEqual([]);
    expect((await recallBoth(room, "number9999"))[0]).toMatchObject({ text: "memory number9999 of group1" });
    expect(counted.texts).toBeLessThanOrEqual(1);
    await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id: idOf(9999) });
    expect(await recallBoth(room, "number77")).toEqual(answer);
  });

  it("is not used if it is damaged, and then built from the log", async () => {
    const { logId, answer } = await kept();
    const path = join(house.dataDir, "words", `${logId}.words`);
    const bytes = readFileSync(path);
    bytes[1000] = (bytes[1000] as number) ^ 1;
    writeFileSync(path, bytes);
    const { log, counted } = countingLog();
    const { room } = roomOf({ log });
    expect(await recallBoth(room, "number77")).toEqual(answer);
    expect(counted.texts).toBe(MEMORIES);
  });

  it("loses a deleted memory before the delete is answered, whether the words are open or not", async () => {
    const { logId } = await kept();
    const { room, words } = roomOf();
    await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    expect(await words.holds(logId, [78])).toEqual([]);
    const texts = (await recallBoth(room, "number77")).map(({ text }) => text);
    expect(texts).not.toContain(TEXTS[77]);
    await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id: idOf(78) });
    expect(await words.holds(logId, [78, 79, 80])).toEqual([80]);
    await room.namespaces.close();
    expect(await words.holds(logId, [78, 79, 80])).toEqual([80]);
    const { erasures, log } = house.storage;
    const ports = { log, erasures, vectors: house.vectors, words, dimensionsOf: () => TOY_DIMENSIONS };
    expect((await verify(ports)).problems).toEqual([]);
  });

  it("is erased with its namespace", async () => {
    const { logId } = await kept();
    const { room, words } = roomOf();
    await recallBoth(room, "number77");
    await deleteNamespace(room.ports, { caller: CALLER, namespace: "a", force: true });
    await until(async () => !(await words.kept()).includes(logId));
  });

  it("is erased by the sweep if another process dropped the namespace", async () => {
    const { logId } = await kept();
    const other = house.room({ generations: generationsOf(toyEmbedder) });
    await deleteNamespace(other.ports, { caller: CALLER, namespace: "a", force: true });
    const { room, words } = roomOf();
    expect(await words.kept()).toEqual([logId]);
    await sweep(room.ports);
    expect(await words.kept()).toEqual([]);
  });

  it("is not used if the database is an older copy of itself", async () => {
    const { logId, words } = await kept();
    // The log still has the memory that the file does not have any more.
    await words.wipe(logId, [78]);
    const { room } = roomOf();
    expect((await recallBoth(room, "number77"))[0]).toMatchObject({ text: TEXTS[77] });
  });
});
