import { describe, expect, it } from "vitest";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, entriesOf, memories, memoriesOf } from "./samples.js";

/** Contract of every log: numbers, order, and unchanged entries. */
export function logContract(name: string, make: MakeDatabase): void {
  describe(`log: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;

    it("reads back entries in order, each under its number", async () => {
      const logId = anLogId();
      const entries = memories(5);
      expect(await log().append({ logId, from: 1, entries })).toBe(5);
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read).toEqual(entries.map((entry, i) => ({ sequence: i + 1, entry })));
    });

    it("inserts up to the first number that is taken, and leaves what is there", async () => {
      const logId = anLogId();
      const [first, second, third, late] = [aMemory(), aMemory(), aMemory(), aMemory()];
      await log().append({ logId, from: 3, entries: [third] });
      expect(await log().append({ logId, from: 1, entries: [first, second, late, late] })).toBe(2);
      expect(await log().append({ logId, from: 3, entries: [late] })).toBe(0);
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry)).toEqual([first, second, third]);
    });

    it("lets exactly one of 20 racing writers have each number", async () => {
      const logId = anLogId();
      const writers = Array.from({ length: 20 }, () => memories(3));
      const counts = await Promise.all(writers.map((entries) => log().append({ logId, from: 1, entries })));
      expect(counts.filter((count) => count === 3)).toHaveLength(1);
      expect(counts.filter((count) => count === 0)).toHaveLength(19);
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry)).toEqual(writers[counts.indexOf(3)]);
    });

    it("gives racing writers that go on at the next free number a log without a hole", async () => {
      const logId = anLogId();
      const write = async () => {
        for (let from = 1, left = 10; left > 0; from++) {
          left -= await log().append({ logId, from, entries: [aMemory()] });
        }
      };
      await Promise.all(Array.from({ length: 8 }, write));
      const read = await entriesOf(log(), { logId, from: 1, limit: 100 });
      expect(read.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
      expect(read.every(({ entry }) => entry.op === "store")).toBe(true);
    });

    it("reads at most as many as asked, from the number asked", async () => {
      const logId = anLogId();
      await log().append({ logId, from: 1, entries: memories(200) });
      const numbers = async (from: number, limit: number) =>
        (await entriesOf(log(), { logId, from, limit })).map(({ sequence }) => sequence);
      expect(await numbers(1, 2)).toEqual([1, 2]);
      expect(await numbers(199, 2)).toEqual([199, 200]);
      expect(await numbers(199, 100)).toEqual([199, 200]);
      expect(await numbers(201, 100)).toEqual([]);
      expect(await numbers(1, 512)).toHaveLength(200);
    });

    it("keeps the entries of different logs apart", async () => {
      const [one, other] = [anLogId(), anLogId()];
      await log().append({ logId: one, from: 1, entries: memories(2) });
      expect(await entriesOf(log(), { logId: other, from: 1, limit: 10 })).toEqual([]);
      expect(await log().append({ logId: other, from: 1, entries: memories(3) })).toBe(3);
      expect(await entriesOf(log(), { logId: one, from: 1, limit: 10 })).toHaveLength(2);
    });

    it("fetches the numbers asked for and leaves out those that are not there", async () => {
      const logId = anLogId();
      const entries = memories(5);
      await log().append({ logId, from: 1, entries });
      const fetched = await memoriesOf(log(), { logId, sequences: [4, 99, 2, 6] });
      const sorted = fetched.sort((a, b) => a.sequence - b.sequence);
      expect(sorted.map(({ sequence, entry }) => [sequence, entry])).toEqual([
        [2, entries[1]],
        [4, entries[3]],
      ]);
      expect(await memoriesOf(log(), { logId, sequences: [] })).toEqual([]);
    });

    it.each([
      ["text of many scripts", { text: "naïve — 日本語, עברית, 👩‍👩‍👧‍👦, \u0000\u0001\t\n\r\ufeff\uffff" }],
      ["64 KiB of text", { text: "ſ".repeat(32_768) }],
      ["metadata with a __proto__", { metadata: '{"__proto__":{"a":1},"constructor":"$set","a.b":null}' }],
      ["metadata with numbers as they were written", { metadata: '{"n":1.0,"big":12345678901234567890}' }],
      ["a text that looks like an operator", { text: '{"$gt":""}', opId: "$where" }],
    ])("returns %s as it was", async (_, given) => {
      const logId = anLogId();
      const entry = aMemory(given);
      await log().append({ logId, from: 1, entries: [entry] });
      expect(await entriesOf(log(), { logId, from: 1, limit: 1 })).toEqual([{ sequence: 1, entry }]);
      expect(await memoriesOf(log(), { logId, sequences: [1] })).toEqual([{ sequence: 1, entry }]);
    });

    it("returns the windows of a long text, and their vectors", async () => {
      const logId = anLogId();
      const windows = [
        { start: 0, end: 2000 },
        { start: 1500, end: 3000 },
      ];
      const long = aMemory({ vectors: Float32Array.from({ length: 16 }, Math.random), windows });
      await log().append({ logId, from: 1, entries: [long, aMemory()] });
      const read = await entriesOf(log(), { logId, from: 1, limit: 2 });
      expect(read[0]?.entry).toEqual(long);
      expect(read[1]?.entry).not.toHaveProperty("windows");
      expect((await memoriesOf(log(), { logId, sequences: [1] }))[0]?.entry).toEqual(long);
      await log().erase({ logId, sequences: [1] });
      const [erased] = await entriesOf(log(), { logId, from: 1, limit: 1 });
      expect(Object.keys(erased?.entry ?? {}).sort()).toEqual(["createdAtMs", "id", "op", "opId", "tokens"]);
    });

    it("returns every bit of a vector, in memory of its own", async () => {
      const logId = anLogId();
      const hard = [0, -0, 1 / 3, 1e-45, -3.4028234663852886e38, Math.fround(0.1), 1, -1];
      // This is a view into a larger buffer, like those of an embedder's batch.
      const vector = Float32Array.from([...hard, ...hard, ...hard]).subarray(8, 16);
      const entries = [
        aMemory({ vectors: vector, text: "odd" }),
        ...memories(100),
        aMemory({ vectors: vector }),
      ];
      await log().append({ logId, from: 1, entries });
      const read = await entriesOf(log(), { logId, from: 1, limit: 512 });
      const fetched = await memoriesOf(log(), { logId, sequences: [1, 102] });
      await entriesOf(log(), { logId, from: 2, limit: 512 });
      for (const { entry } of [read[0], read[101], ...fetched].filter((each) => each !== undefined)) {
        const got = entry.op === "store" ? entry.vectors : undefined;
        expect(got).toBeInstanceOf(Float32Array);
        expect(Buffer.from(got?.slice().buffer as ArrayBuffer)).toEqual(Buffer.from(vector.slice().buffer));
        expect([got?.byteOffset, got?.buffer.byteLength]).toEqual([0, vector.byteLength]);
      }
    });

    it("lists the logs that have entries, in order and page by page, also those that have ended", async () => {
      const made = ["a", "b", "c"].map((end) => `${anLogId()}${end}`).sort();
      for (const logId of made) await log().append({ logId, from: 1, entries: memories(2) });
      await log().append({ logId: made[1] as string, from: 3, entries: [{ op: "drop", opId: "end" }] });
      const all: string[] = [];
      for (let after = ""; ; after = all.at(-1) ?? "") {
        const some = await log().logIds({ after, limit: 2 });
        all.push(...some);
        if (some.length < 2) break;
      }
      expect(all).toEqual([...new Set(all)].sort());
      expect(all.filter((logId) => made.includes(logId))).toEqual(made);
    });

    it("keeps all of it when it is closed and opened again", async () => {
      const logId = anLogId();
      const entries = memories(3);
      await log().append({ logId, from: 1, entries });
      await used.reopen();
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry)).toEqual(entries);
    });
  });
}
