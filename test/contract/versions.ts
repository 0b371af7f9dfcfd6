import { describe, expect, it } from "vitest";
import type { Appended, Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { currentByExternalId, currentVersionOf } from "../../src/memory/versions/current-version.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, entriesOf, nextOf } from "./samples.js";

const LATER_MS = 4_102_444_800_000;
/** First and last millisecond that an event time may be. */
const [FIRST_MS, LAST_MS] = [-62_135_596_800_000, 253_402_300_799_999];

/** Contract of every log about memories that replace, supersede and expire. */
export function versionsContract(name: string, make: MakeDatabase): void {
  describe(`versions in logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;
    const write = async (entries: readonly Appended[], logId = anLogId()) => {
      await log().append({ logId, from: 1, entries });
      return logId;
    };

    it("reads back all that a memory says about itself and others", async () => {
      const first = aMemory({ externalId: "Ünï/1", expiresAtMs: LATER_MS });
      const second = nextOf(first, 1, { externalId: "Ünï/1", expiresAtMs: LATER_MS + 1 });
      const third = aMemory({ supersedes: [2] });
      const [fourth, fifth] = [FIRST_MS, LAST_MS].map((eventAtMs) => aMemory({ eventAtMs }));
      const all = [first, second, third, fourth, fifth] as Stored[];
      const logId = await write(all);
      await used.reopen();
      const read = await entriesOf(log(), { logId, from: 1, limit: 9 });
      expect(read.map(({ entry }) => entry)).toEqual(all);
      const headers = await entriesOf(log(), { logId, from: 4, limit: 9, projection: "header" });
      expect(headers.map(({ entry }) => entry)).toMatchObject([
        { eventAtMs: FIRST_MS },
        { eventAtMs: LAST_MS },
      ]);
      expect((await log().last(logId))?.entry).toMatchObject({ eventAtMs: LAST_MS });
    });

    it("leaves of an erased version what it did to others, and not the caller's id", async () => {
      const first = aMemory();
      const given = { externalId: "secret", expiresAtMs: LATER_MS, eventAtMs: FIRST_MS, supersedes: [1] };
      const second = aMemory(given);
      const logId = await write([first, second, nextOf(second, 2, { supersedes: [1] })]);
      await log().erase({ logId, sequences: [2] });
      const [, erased] = await entriesOf(log(), { logId, from: 1, limit: 9 });
      const { opId, id, tokens, createdAtMs } = second;
      expect(erased?.entry).toEqual({ op: "erased", opId, id, tokens, createdAtMs, supersedes: [1] });
      await log().erase({ logId, sequences: [3] });
      const [third] = await entriesOf(log(), { logId, from: 3, limit: 1 });
      expect(third?.entry).toMatchObject({ op: "erased", replaces: 2, updatedAtMs: expect.any(Number) });
    });

    it("puts a lost entry where an external id or a time is another than was written", async () => {
      const given = { externalId: "x", expiresAtMs: LATER_MS };
      const logId = await write([aMemory(given), aMemory({ supersedes: [1] }), aMemory(given)]);
      await used.storage.close();
      await used.database.damage({ logId, sequence: 1, how: "label" });
      await used.database.damage({ logId, sequence: 2, how: "supersedes" });
      used.storage = await used.database.open();
      const read = await entriesOf(log(), { logId, from: 1, limit: 9 });
      expect(read.map(({ entry }) => entry.op)).toEqual(["lost", "lost", "store"]);
      await log().erase({ logId, sequences: [3] });
      expect((await entriesOf(log(), { logId, from: 3, limit: 1 }))[0]?.entry.op).toBe("erased");
    });

    it("have no memory with the external id of one whose last version is erased, though one before is not", async () => {
      const first = aMemory({ externalId: "x" });
      const second = nextOf(first, 1, { externalId: "x" });
      const logId = await write([first, second, { op: "delete", opId: "d", target: 2 }]);
      await log().erase({ logId, sequences: [2] });
      const { secondaryIndexes } = used.storage;
      const view = { log: log(), secondaryIndexes, logId, from: 4, nowMs: 0 };
      expect(await currentByExternalId(view, "x")).toBeUndefined();
      expect(await currentVersionOf(view, first.id)).toBeUndefined();
    });

    it("have the next version of a memory that was replaced, and then deleted as it was before, within a look", async () => {
      const first = aMemory({ externalId: "x" });
      const second = nextOf(first, 1, { externalId: "x" });
      const logId = await write([first, second, { op: "delete", opId: "d", target: 1 }]);
      const { secondaryIndexes } = used.storage;
      for (const isErased of [false, true]) {
        if (isErased) await log().erase({ logId, sequences: [1] });
        const before = [1];
        const since = withChanges(secondaryIndexes, {
          locate: async (asked) => before.pop() ?? secondaryIndexes.locate(asked),
          findByExternalId: async (asked) => before.pop() ?? secondaryIndexes.findByExternalId(asked),
        });
        const view = { log: log(), secondaryIndexes: since, logId, from: 4, nowMs: 0 };
        expect((await currentVersionOf(view, first.id))?.sequence).toBe(2);
        before.push(1);
        expect((await currentByExternalId(view, "x"))?.sequence).toBe(2);
      }
    });
  });
}
