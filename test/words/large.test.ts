import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hashOf } from "../../src/index/words/hash.js";
import { turn } from "../../src/memory/pacing/turn.js";
import type { WordIndex, Words } from "../../src/memory/ports/words.js";
import { eraseUnreadable } from "../../src/words/snapshot/shelf.js";
import { Model } from "../index/words/model.js";
import { textOf } from "../index/words/texts.js";
import { chanceOf } from "../support/chance.js";
import { openWords } from "./built.js";

const opened: Words[] = [];
const folders: string[] = [];

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "recalld-words-"));
  folders.push(folder);
  return folder;
}

function wordsIn(folder: string, { folderBytesMax = 1e9, localBytesMax = 20_000 } = {}): Words {
  const words = openWords({ folder, folderBytesMax, localBytesMax, turn });
  opened.push(words);
  return words;
}

afterAll(async () => {
  for (const words of opened) await words.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const MARK = { sequence: 3000, opId: "op-3000" };

/** Makes rows with every other log number. */
function rowsOf(seed: number, count = 1000) {
  const { next: chance } = chanceOf(seed);
  return Array.from({ length: count }, (_, i) => ({
    sequence: i * 2 + 1,
    text: textOf(chance, { words: 3 + Math.floor(chance() * 20), vocabulary: 2000 }),
  }));
}

async function compare(index: WordIndex, model: Model, seed: number): Promise<void> {
  const { next: chance } = chanceOf(seed);
  expect(index.size).toBe(model.texts.size);
  for (let i = 0; i < 10; i++) {
    const asked = { text: textOf(chance, { words: 5, vocabulary: 2200 }), limit: 20 };
    const { query, heard } = await index.search(asked);
    expect({ ideal: query.ideal, heard }).toEqual(model.search(asked));
    const among = Float64Array.from([...model.texts.keys()].filter((each) => each % 20 === 7));
    const some = await index.search({ ...asked, among });
    const allowed = new Set(among);
    const all = model.search({ ...asked, limit: Number.POSITIVE_INFINITY }).heard;
    expect(some.heard).toEqual(all.filter((each) => allowed.has(each.sequence)).slice(0, asked.limit));
    const sequences = heard.map(({ sequence }) => sequence);
    const scored = await index.score(query, sequences);
    expect(scored.map(({ sequence }) => sequence)).toEqual(sequences.toSorted((a, b) => a - b));
  }
}

/** Makes a large index of a log with a snapshot, and a model of it. */
async function kept(folder: string, { logId = "log", seed = 1 } = {}) {
  const words = wordsIn(folder);
  const index = words.open(logId);
  const model = new Model();
  const rows = rowsOf(seed);
  await index.add(rows);
  model.add(rows);
  await index.remove([1, 3, 5]);
  model.remove([1, 3, 5]);
  await index.snapshot(MARK);
  return { words, index, model, path: join(folder, `${logId}.words`) };
}

describe("an index that grows", () => {
  test("it moves to the thread while it is used, and answers the same", async () => {
    const index = wordsIn(newFolder(), { localBytesMax: 100_000 }).open("log");
    const model = new Model();
    const rows = rowsOf(3, 1500);
    const sizes: boolean[] = [];
    for (let from = 0; from < rows.length; from += 100) {
      const some = rows.slice(from, from + 100);
      const adding = index.add(some);
      const searching = index.search({ text: "w1 w2", limit: 2000 });
      const gone = some.slice(0, 10).map(({ sequence }) => sequence);
      const removing = index.remove(gone);
      model.add(some);
      const { heard } = await searching;
      expect(heard).toEqual(model.search({ text: "w1 w2", limit: 2000 }).heard);
      await Promise.all([adding, removing]);
      model.remove(gone);
      sizes.push(index.large);
      await compare(index, model, from);
    }
    expect(sizes[0]).toBe(false);
    expect(sizes.at(-1)).toBe(true);
    await index.close();
  });

  test("nothing is written or started for a small one", async () => {
    const folder = newFolder();
    const words = wordsIn(folder);
    const index = words.open("log");
    await index.add([{ sequence: 1, text: "a small text" }]);
    await index.snapshot(MARK);
    expect(await words.kept()).toEqual([]);
    expect(await index.restore()).toBeUndefined();
  });

  test("when its thread is closed, every call fails, and an index that is opened anew works", async () => {
    const folder = newFolder();
    const { words, index } = await kept(folder);
    // The thread may answer the first before it ends, but not all.
    const waiting = Array.from({ length: 500 }, () => index.search({ text: "w1", limit: 1 }));
    const settled = Promise.allSettled(waiting);
    await words.close();
    const last = (await settled).at(-1) as PromiseRejectedResult;
    expect(String(last.reason)).toContain("the words thread was closed");
    await expect(index.search({ text: "w1", limit: 1 })).rejects.toThrow();
    const next = words.open("log");
    expect(await next.restore()).toEqual({ ...MARK, wiped: [] });
  });
});

describe("a snapshot", () => {
  test("it is restored, and what came later is added", async () => {
    const folder = newFolder();
    const { words, model } = await kept(folder);
    expect(await words.kept()).toEqual(["log"]);
    expect(await words.markOf("log")).toEqual(MARK);
    const again = wordsIn(folder).open("log");
    expect(await again.restore()).toEqual({ ...MARK, wiped: [] });
    expect(again.large).toBe(true);
    await compare(again, model, 1);
    const more = [{ sequence: 3001, text: "w1 w1 w2 something else" }];
    await again.add(more);
    model.add(more);
    await again.remove([7, 9]);
    model.remove([7, 9]);
    await compare(again, model, 2);
    expect([...(await again.sample())].sort((a, b) => a - b)).toEqual([...model.texts.keys()]);
  });

  test("a memory that is deleted leaves nothing in the file but its number", async () => {
    const folder = newFolder();
    const words = wordsIn(folder);
    const index = words.open("log");
    const rows = rowsOf(5);
    const secret = "peanutallergy";
    rows[500] = { sequence: 1001, text: `${secret} and more` };
    await index.add(rows);
    await index.snapshot(MARK);
    const { low, high } = hashOf(secret.replace(/y$/, "i"));
    const trace = Buffer.alloc(6);
    trace.writeUInt32LE(low);
    trace.writeUInt16LE(high, 4);
    const path = join(folder, "log.words");
    expect(readFileSync(path).includes(trace)).toBe(true);
    expect(await words.holds("log", [1001, 1002, 1003])).toEqual([1001, 1003]);
    await index.remove([1001]);
    await words.wipe("log", [1001, 999_999]);
    expect(readFileSync(path).includes(trace)).toBe(false);
    expect(await words.holds("log", [1001, 1002, 1003])).toEqual([1003]);
    const again = wordsIn(folder).open("log");
    expect(await again.restore()).toEqual({ ...MARK, wiped: [1001] });
    expect((await again.search({ text: secret, limit: 5 })).heard).toEqual([]);
    const model = new Model();
    model.add(rows.filter(({ sequence }) => sequence !== 1001));
    await compare(again, model, 3);
    // The next snapshot does not have it at all.
    await again.snapshot(MARK);
    expect(await wordsIn(folder).open("log").restore()).toEqual({ ...MARK, wiped: [] });
  });

  test("memories that were removed before it was written are not in it", async () => {
    const { words } = await kept(newFolder());
    expect(await words.holds("log", [1, 3, 5, 7])).toEqual([7]);
  });

  test("a wipe that is asked for while a snapshot is written reaches it", async () => {
    const folder = newFolder();
    const { words, index } = await kept(folder);
    const writing = index.snapshot({ sequence: 3500, opId: "later" });
    await words.wipe("log", [7]);
    await writing;
    expect(await words.markOf("log")).toEqual({ sequence: 3500, opId: "later" });
    expect(await words.holds("log", [7, 9])).toEqual([9]);
  });

  test("if a memory cannot be wiped, the file is erased", async () => {
    const folder = newFolder();
    const { words, index, path } = await kept(folder);
    let lost = 0;
    index.onSnapshotLost = () => lost++;
    const bytes = readFileSync(path);
    bytes[100] = (bytes[100] as number) ^ 1;
    writeFileSync(path, bytes);
    await words.wipe("log", [7]);
    expect(lost).toBe(1);
    expect(await words.kept()).toEqual([]);
  });

  test("a draft that a crash left is erased with the first wipe", async () => {
    const folder = newFolder();
    const words = wordsIn(folder);
    writeFileSync(join(folder, "log.words.draft"), "words");
    expect(await words.kept()).toEqual(["log"]);
    await words.wipe("log", [7]);
    expect(await words.kept()).toEqual([]);
  });

  test("the files used least recently are erased when they take too much room", async () => {
    const folder = newFolder();
    const { path } = await kept(folder, { logId: "one" });
    const words = wordsIn(folder, { folderBytesMax: readFileSync(path).length * 1.5 });
    const index = words.open("two");
    await index.add(rowsOf(2));
    await index.snapshot(MARK);
    expect(await words.kept()).toEqual(["two"]);
  });

  test("discarded or reset, it is gone, and the index is empty", async () => {
    const { words, index } = await kept(newFolder());
    await index.reset();
    expect([index.size, index.large, await words.kept()]).toEqual([0, false, []]);
    expect((await index.search({ text: "w1", limit: 5 })).heard).toEqual([]);
    const other = await kept(newFolder());
    await other.words.discard("log");
    expect(await other.words.kept()).toEqual([]);
  });
});

describe("a snapshot in doubt is never used", () => {
  const damages = Number(process.env.DAMAGED_SNAPSHOTS ?? 30);

  test.each(["cut", "flipped", "zeroed"] as const)(`${damages} times %s`, async (how) => {
    const folder = newFolder();
    const { path, model } = await kept(folder);
    const whole = readFileSync(path);
    const words = wordsIn(folder);
    const { below } = chanceOf(9);
    for (let i = 0; i < damages; i++) {
      writeFileSync(path, whole);
      const at = below(whole.length);
      if (how === "cut") truncateSync(path, at);
      else {
        const bytes = Buffer.from(whole);
        if (how === "flipped") bytes[at] = (bytes[at] as number) ^ (1 << below(8));
        else bytes.fill(0, at, at + 512);
        if (bytes.equals(whole)) continue;
        writeFileSync(path, bytes);
      }
      const index = words.open("log");
      expect([at, await index.restore()]).toEqual([at, undefined]);
      expect([index.size, (await index.search({ text: "w1", limit: 1 })).heard]).toEqual([0, []]);
      await index.close();
    }
    writeFileSync(path, whole);
    const index = words.open("log");
    expect(await index.restore()).toEqual({ ...MARK, wiped: [] });
    await compare(index, model, 4);
  });

  test("swapped with that of another log", async () => {
    const folder = newFolder();
    await kept(folder, { logId: "mine", seed: 1 });
    await kept(folder, { logId: "other", seed: 2 });
    copyFileSync(join(folder, "other.words"), join(folder, "mine.words"));
    const words = wordsIn(folder);
    expect(await words.markOf("mine")).toBeUndefined();
    expect(await words.open("mine").restore()).toBeUndefined();
  });

  test("written when other words were read from a text", async () => {
    const folder = newFolder();
    const { words, path } = await kept(folder);
    const whole = readFileSync(path);
    const from = whole.length - (whole.readUInt32LE(whole.length - 4) + 36);
    const json = Buffer.from(whole.subarray(from, -36).toString().replace('"format":2', '"format":1'));
    const hash = createHash("sha256").update(json).digest();
    writeFileSync(path, Buffer.concat([whole.subarray(0, from), json, hash, whole.subarray(-4)]));
    expect(await words.open("log").restore()).toBeUndefined();
    // It cannot be read, so a deletion erases it, and so does the next start.
    const changed = readFileSync(path);
    await words.wipe("log", [7]);
    expect(await words.kept()).toEqual([]);
    writeFileSync(path, changed);
    writeFileSync(join(folder, "whole.words.draft"), whole);
    await kept(folder, { logId: "other" });
    await eraseUnreadable(folder);
    expect(readdirSync(folder)).toEqual(["other.words"]);
  });

  test("mixed with blocks of an older one of the same log", async () => {
    const folder = newFolder();
    const { words, index, path } = await kept(folder);
    const older = readFileSync(path);
    await index.snapshot(MARK);
    const newer = readFileSync(path);
    expect(newer.length).toBe(older.length);
    const footer = newer.readUInt32LE(newer.length - 4) + 36;
    writeFileSync(path, Buffer.concat([older.subarray(0, -footer), newer.subarray(-footer)]));
    expect(await words.open("log").restore()).toBeUndefined();
  });
});
