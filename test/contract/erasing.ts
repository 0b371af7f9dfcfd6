import { describe, expect, it } from "vitest";
import type { Appended, Erased, Projection } from "../../src/memory/ports/log.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, entriesOf, memories, memoriesOf } from "./samples.js";

/** Contract of every log about memories that are read by id, erased or damaged. */
export function erasingContract(name: string, make: MakeDatabase): void {
  describe(`erasing in logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;
    const write = async (entries: readonly Appended[]) => {
      const logId = anLogId();
      await log().append({ logId, from: 1, entries });
      return logId;
    };

    it("reads tombstones and endings as they were written", async () => {
      const entries: Appended[] = [
        aMemory(),
        { op: "delete", opId: "op-2", target: 1 },
        { op: "drop", opId: "op-3" },
      ];
      const logId = await write(entries);
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry)).toEqual(entries);
      expect(await memoriesOf(log(), { logId, sequences: [2, 3] })).toEqual([]);
    });

    it("knows the last entry", async () => {
      const logId = await write([...memories(11), { op: "drop", opId: "end" }]);
      expect(await log().last(logId)).toEqual({ sequence: 12, entry: { op: "drop", opId: "end" } });
      expect(await log().last(anLogId())).toBeUndefined();
    });

    it("leaves of an erased memory its number and what was charged", async () => {
      const [kept, gone] = [aMemory(), aMemory({ text: "secret", metadata: '{"a":1}' })];
      const logId = await write([kept, gone, { op: "delete", opId: "op", target: 2 }]);
      await log().erase({ logId, sequences: [2, 3, 99] });
      const { opId, id, tokens, createdAtMs } = gone;
      const erased: Erased = { op: "erased", opId, id, tokens, createdAtMs };
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry)).toEqual([kept, erased, { op: "delete", opId: "op", target: 2 }]);
      expect(await memoriesOf(log(), { logId, sequences: [1, 2] })).toEqual([{ sequence: 1, entry: kept }]);
    });

    it("erases again what was erased, without harm", async () => {
      const logId = await write(memories(2));
      await log().erase({ logId, sequences: [1] });
      await log().erase({ logId, sequences: [1] });
      await log().erase({ logId, sequences: [] });
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ entry }) => entry.op)).toEqual(["erased", "store"]);
    });

    it("never gives the number of an erased memory away", async () => {
      const logId = await write(memories(2));
      await log().erase({ logId, sequences: [2] });
      expect(await log().append({ logId, from: 2, entries: memories(1) })).toBe(0);
    });

    it("puts a lost entry where one is missing or unreadable and later ones are there", async () => {
      const entries = memories(6);
      const logId = await write(entries);
      await used.storage.close();
      await used.database.damage({ logId, sequence: 1, how: "remove" });
      await used.database.damage({ logId, sequence: 3, how: "spoil" });
      await used.database.damage({ logId, sequence: 4, how: "remove" });
      await used.database.damage({ logId, sequence: 6, how: "remove" });
      used.storage = await used.database.open();
      const read = await entriesOf(log(), { logId, from: 1, limit: 10 });
      expect(read.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
      expect(read.map(({ entry }) => entry.op)).toEqual(["lost", "store", "lost", "lost", "store"]);
      expect(await entriesOf(log(), { logId, from: 3, limit: 1 })).toMatchObject([{ sequence: 3 }]);
      expect(await entriesOf(log(), { logId, from: 4, limit: 1 })).toMatchObject([{ entry: { op: "lost" } }]);
      const fetched = await memoriesOf(log(), { logId, sequences: [1, 2, 3, 4, 5] });
      expect(fetched.map(({ sequence }) => sequence).sort()).toEqual([2, 5]);
    });

    it("puts a lost entry where one is another than was written, though it has the form of one", async () => {
      const windows = [{ start: 0, end: 5 }];
      const logId = await write([...memories(5), aMemory({ windows }), ...memories(1)]);
      await log().erase({ logId, sequences: [4, 7] });
      await used.storage.close();
      await used.database.damage({ logId, sequence: 1, how: "text" });
      await used.database.damage({ logId, sequence: 2, how: "vectors" });
      await used.database.damage({ logId, sequence: 3, how: "tokens" });
      await used.database.damage({ logId, sequence: 4, how: "tokens" });
      await used.database.damage({ logId, sequence: 5, how: "unsum" });
      used.storage = await used.database.open();
      const opsBy = async (projection: Projection) =>
        (await entriesOf(log(), { logId, from: 1, limit: 9, projection })).map(({ entry }) => entry.op);
      const well = ["lost", "store", "erased"];
      expect(await opsBy("all")).toEqual(["lost", "lost", "lost", "lost", ...well]);
      expect(await opsBy("text")).toEqual(["lost", "store", "lost", "lost", ...well]);
      expect(await opsBy("vectors")).toEqual(["store", "lost", "lost", "lost", ...well]);
      expect(await opsBy("header")).toEqual(["store", "store", "lost", "lost", ...well]);
      const [first] = await entriesOf(log(), { logId, from: 1, limit: 1 });
      expect(first?.entry).toMatchObject({ reason: "its checksum does not match" });
    });

    it("erases a damaged memory, which no index finds then", async () => {
      const damaged = [
        aMemory({ externalId: "x", expiresAtMs: 1_000 }),
        aMemory(),
        aMemory({ supersedes: [1] }),
      ];
      const logId = await write([aMemory(), ...damaged]);
      const expired = () => used.storage.secondaryIndexes.expired({ untilMs: 1_000, limit: 9 });
      expect(await expired()).toMatchObject([{ logId, sequence: 2 }]);
      await used.storage.close();
      await used.database.damage({ logId, sequence: 2, how: "tokens" });
      await used.database.damage({ logId, sequence: 3, how: "unsum" });
      await used.database.damage({ logId, sequence: 4, how: "supersedes" });
      used.storage = await used.database.open();
      const { secondaryIndexes } = used.storage;
      await log().erase({ logId, sequences: [2, 3, 4] });
      for (const { id } of damaged) expect(await secondaryIndexes.locate({ logId, id })).toBeUndefined();
      expect(await secondaryIndexes.findByExternalId({ logId, externalId: "x" })).toBeUndefined();
      expect(await expired()).toEqual([]);
      expect(await log().measure({ logId })).toMatchObject({ memories: 1 });
      const read = await entriesOf(log(), { logId, from: 1, limit: 9 });
      expect(read.map(({ entry }) => entry.op)).toEqual(["store", "lost", "lost", "lost"]);
    });
  });
}
