import { describe, expect, it } from "vitest";
import { type Appended, remainderOf, type Stored } from "../../src/memory/ports/log.js";
import type { VersionAt } from "../../src/memory/ports/secondary-indexes.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, memories, nextOf } from "./samples.js";

const LATER_MS = 4_102_444_800_000;

/** Contract of the secondary indexes of the logs. */
export function secondaryIndexesContract(name: string, make: MakeDatabase): void {
  describe(`secondary indexes: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;
    const secondaryIndexes = () => used.storage.secondaryIndexes;
    const write = async (entries: readonly Appended[], logId = anLogId()) => {
      await log().append({ logId, from: 1, entries });
      return logId;
    };

    it("finds a memory's number by its id, in its own log only", async () => {
      const [one, two] = [aMemory(), aMemory()];
      const logId = await write([one, two]);
      expect(await secondaryIndexes().locate({ logId, id: two.id })).toBe(2);
      expect(await secondaryIndexes().locate({ logId, id: "mem_none" })).toBeUndefined();
      expect(await secondaryIndexes().locate({ logId: anLogId(), id: one.id })).toBeUndefined();
    });

    it("finds an erased memory by its operation, and no more by its id", async () => {
      const [kept, gone] = [aMemory(), aMemory()];
      const logId = await write([kept, gone, { op: "delete", opId: "op", target: 2 }]);
      await log().erase({ logId, sequences: [2, 3, 99] });
      expect(await secondaryIndexes().locate({ logId, id: gone.id })).toBeUndefined();
      expect(await secondaryIndexes().locate({ logId, id: kept.id })).toBe(1);
      const ids = [gone.id, "mem_none", kept.id];
      expect(await secondaryIndexes().findByOperation({ logId, opIds: ids })).toEqual(
        new Map([
          [kept.id, 1],
          [gone.id, 2],
        ]),
      );
      expect(await secondaryIndexes().findByOperation({ logId, opIds: [gone.id] })).toEqual(
        new Map([[gone.id, 2]]),
      );
      expect(await secondaryIndexes().findByOperation({ logId, opIds: ["mem_none"] })).toEqual(new Map());
      expect(await secondaryIndexes().findByOperation({ logId: anLogId(), opIds: ids })).toEqual(new Map());
    });

    it("locates a memory by its last version, and never goes back to an older one", async () => {
      const first = aMemory();
      const logId = await write([first, nextOf(first, 1), aMemory()]);
      const { id } = first;
      expect(await secondaryIndexes().locate({ logId, id })).toBe(2);
      await log().erase({ logId, sequences: [1] });
      expect(await secondaryIndexes().locate({ logId, id })).toBe(2);
      await log().append({ logId, from: 4, entries: [nextOf(first, 2)] });
      await log().erase({ logId, sequences: [4] });
      expect(await secondaryIndexes().locate({ logId, id })).toBeUndefined();
    });

    it("finds what an operation wrote, also when it is erased", async () => {
      const first = aMemory();
      const second = nextOf(first, 1);
      const logId = await write([first, second]);
      await log().erase({ logId, sequences: [1, 2] });
      const written = async (...opIds: string[]) =>
        [...(await secondaryIndexes().findByOperation({ logId, opIds }))].sort();
      expect(await written(second.opId)).toEqual([[second.opId, 2]]);
      // An operation that stores a memory gives it its own id.
      expect(await written(first.id)).toEqual([[first.id, 2]]);
      const both = [second.opId, first.id].sort().map((opId) => [opId, 2]);
      expect(await written("mem_none", second.opId, first.id)).toEqual(both);
      expect(await written("mem_none")).toEqual([]);
      expect(await secondaryIndexes().findByOperation({ logId: anLogId(), opIds: [second.opId] })).toEqual(
        new Map(),
      );
    });

    it("finds the memory with an external id, in its own log only", async () => {
      const first = aMemory({ externalId: "x" });
      const logId = await write([first, aMemory({ externalId: "y" }), nextOf(first, 1, { externalId: "x" })]);
      const findByExternalId = (externalId: string, within = logId) =>
        secondaryIndexes().findByExternalId({ logId: within, externalId });
      expect(await findByExternalId("x")).toBe(3);
      expect(await findByExternalId("y")).toBe(2);
      expect(await findByExternalId("z")).toBeUndefined();
      expect(await findByExternalId("x", anLogId())).toBeUndefined();
      await log().erase({ logId, sequences: [1, 2] });
      expect(await findByExternalId("x")).toBe(3);
      expect(await findByExternalId("y")).toBeUndefined();
      await log().erase({ logId, sequences: [3] });
      expect(await findByExternalId("x")).toBeUndefined();
    });

    it("knows what replaced, superseded and deleted a memory", async () => {
      const entries = memories(4);
      const [first, , , fourth] = entries as [Stored, Stored, Stored, Stored];
      const next = nextOf(first, 1);
      const superseding = aMemory({ supersedes: [2, 3] });
      const tombstone = { op: "delete", opId: "d", target: 3 } as const;
      const logId = await write([...entries, next, superseding, tombstone]);
      const replacements = await secondaryIndexes().findReplacements({ logId, sequences: [1, 2, 4] });
      expect(replacements.sort((a, b) => a.target - b.target)).toEqual([
        { target: 1, sequence: 5, how: "replaced", id: first.id },
        { target: 2, sequence: 6, how: "superseded", id: superseding.id },
      ]);
      const last = await secondaryIndexes().findReplacements({ logId, sequences: [3] });
      expect(last.sort((a, b) => b.sequence - a.sequence)[0]).toMatchObject({ sequence: 7, how: "deleted" });
      expect(await secondaryIndexes().findReplacements({ logId: anLogId(), sequences: [1, 2] })).toEqual([]);
      expect(await secondaryIndexes().findReplacements({ logId, sequences: [] })).toEqual([]);
      // Whoever superseded a memory may be erased itself.
      await log().erase({ logId, sequences: [6] });
      expect(await secondaryIndexes().findReplacements({ logId, sequences: [2] })).toMatchObject([
        { id: superseding.id },
      ]);
      expect(await secondaryIndexes().locate({ logId, id: fourth.id })).toBe(4);
    });

    it("lists the numbers that hide memories, as they are now", async () => {
      const logId = await write([
        aMemory(),
        aMemory({ expiresAtMs: LATER_MS }),
        aMemory({ supersedes: [1], expiresAtMs: LATER_MS }),
        aMemory({ supersedes: [2] }),
      ]);
      const supersedingAndExpiring = (from: number, limit = 9) =>
        secondaryIndexes().listSupersedingAndExpiring({ logId, from, limit });
      const third = { sequence: 3, supersedes: [1], expiresAtMs: LATER_MS };
      expect(await supersedingAndExpiring(1)).toEqual([
        { sequence: 2, expiresAtMs: LATER_MS },
        third,
        { sequence: 4, supersedes: [2] },
      ]);
      expect(await supersedingAndExpiring(3, 1)).toEqual([third]);
      await log().erase({ logId, sequences: [2, 3] });
      expect(await supersedingAndExpiring(1)).toEqual([
        { sequence: 3, supersedes: [1] },
        { sequence: 4, supersedes: [2] },
      ]);
      expect(
        await secondaryIndexes().listSupersedingAndExpiring({ logId: anLogId(), from: 1, limit: 9 }),
      ).toEqual([]);
    });

    it("lists what has expired, by time, of all logs", async () => {
      // No other test has memories of this time.
      const atMs = 1_000_000;
      const due = (expiresAtMs: number) => aMemory({ expiresAtMs });
      const one = await write([due(atMs + 2), due(atMs), due(LATER_MS), aMemory()]);
      const two = await write([due(atMs + 1)]);
      const expired = (untilMs: number, limit = 9) => secondaryIndexes().expired({ untilMs, limit });
      expect(await expired(atMs - 1)).toEqual([]);
      const all = await expired(atMs + 2);
      expect(all).toEqual([
        { logId: one, sequence: 2, expiresAtMs: atMs },
        { logId: two, sequence: 1, expiresAtMs: atMs + 1 },
        { logId: one, sequence: 1, expiresAtMs: atMs + 2 },
      ]);
      expect(await expired(atMs + 2, 1)).toEqual(all.slice(0, 1));
      expect(await secondaryIndexes().expired({ untilMs: atMs + 2, after: all[0], limit: 9 })).toEqual(
        all.slice(1),
      );
      await log().erase({ logId: one, sequences: [1, 2] });
      await log().erase({ logId: two, sequences: [1] });
      expect(await expired(atMs + 2)).toEqual([]);
    });

    it("knows which replaced and deleted memories are not erased yet", async () => {
      const [first, second] = [aMemory(), aMemory()];
      const tombstone = { op: "delete", opId: "op", target: 2 } as const;
      const logId = await write([first, second, nextOf(first, 1), tombstone]);
      const unerased = async () => {
        const all = await secondaryIndexes().unerased({ limit: 100 });
        return all.filter((each) => each.logId === logId).map(({ sequence }) => sequence);
      };
      expect((await unerased()).sort()).toEqual([1, 2]);
      await log().erase({ logId, sequences: [1] });
      expect(await unerased()).toEqual([2]);
      await log().erase({ logId, sequences: [2] });
      expect(await unerased()).toEqual([]);
    });

    it("lists in turn what is not erased yet, of one log or of all", async () => {
      const tombstones = [1, 2, 3].map((target) => ({ op: "delete", opId: `d${target}`, target }) as const);
      const logIds = [
        await write([...memories(3), ...tombstones]),
        await write([...memories(3), ...tombstones, { op: "delete", opId: "again", target: 2 }]),
      ];
      const [logId = ""] = logIds;
      const sequences = async (after?: VersionAt, limit = 9) =>
        (await secondaryIndexes().unerased({ logId, after, limit })).map((each) => each.sequence);
      expect(await sequences()).toEqual([1, 2, 3]);
      expect(await sequences({ logId, sequence: 1 }, 1)).toEqual([2]);
      expect(await sequences({ logId, sequence: 3 })).toEqual([]);
      const seen: string[] = [];
      for (let after: VersionAt | undefined; ; ) {
        const some = await secondaryIndexes().unerased({ after, limit: 2 });
        for (const each of some) if (logIds.includes(each.logId)) seen.push(`${each.logId} ${each.sequence}`);
        after = some.at(-1);
        if (some.length < 2) break;
      }
      const all = logIds.flatMap((each) => [1, 2, 3].map((sequence) => `${each} ${sequence}`));
      expect([...new Set(seen)].sort()).toEqual(all.sort());
    });

    it("leaves out replaced and deleted memories that were erased before, as in the copy of a log", async () => {
      const [first, second, third] = [aMemory(), aMemory(), aMemory()];
      const logId = await write([remainderOf(first), second, remainderOf(third)]);
      const tombstone = { op: "delete", opId: "op", target: 3 } as const;
      await log().append({ logId, from: 4, entries: [nextOf(first, 1), nextOf(second, 2), tombstone] });
      const all = await secondaryIndexes().unerased({ limit: 100 });
      expect(all.filter((each) => each.logId === logId)).toEqual([{ logId, sequence: 2 }]);
    });
  });
}
