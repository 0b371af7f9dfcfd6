import { typeid } from "typeid-js";
import { describe, expect, it } from "vitest";
import type { CallRecord } from "../../src/accounts/calls/calls.js";
import { NOTHING } from "../../src/accounts/usage.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aScope } from "./samples.js";

const MANY = 1_200;

/** Makes a record of a call. Its id is later than that of all before. */
export function aCall(given: Partial<CallRecord> = {}): CallRecord {
  return {
    id: typeid("call").toString(),
    accountId: aScope().accountId,
    keyId: "key_1",
    method: "recalld.v1.MemoryService/Recall",
    protocol: "connect",
    code: "ok",
    atMs: Date.now(),
    ms: 1.5,
    requestId: "r",
    ...given,
  };
}

/** Contract of every adapter of the records of calls. */
export function callsContract(name: string, make: MakeDatabase): void {
  describe(`records of calls: ${name}`, () => {
    const used = useDatabase(make);
    const calls = () => used.storage.calls;
    const idsOf = async (accountId: string) =>
      (await calls().list({ accountId, limit: 5_000 })).map(({ id }) => id);
    const add = async (count: number, given: Partial<CallRecord>) => {
      const records = Array.from({ length: count }, () => aCall(given));
      await calls().add(records);
      return records;
    };

    it("are kept whole, the newest first, over a restart and a repeated write", async () => {
      const { accountId, namespace } = aScope("näme");
      const stored = aCall({ accountId, namespace, used: { ...NOTHING, stores: 2, tokensStored: 9 } });
      const failed = aCall({ accountId, code: "invalid_argument", message: "text is missing" });
      await calls().add([stored, failed]);
      await calls().add([failed, aCall({ accountId: `${accountId}x` })]);
      await used.reopen();
      expect(await calls().list({ accountId, limit: 10 })).toEqual([failed, stored]);
    });

    it("are listed page by page", async () => {
      const { accountId } = aScope();
      const records = [];
      for (let i = 0; i < 7; i++) {
        records.push(aCall({ accountId, keyId: `key_${i % 2}` }));
      }
      await calls().add(records);
      const [first, second, third] = records.toReversed();
      expect(await calls().list({ accountId, limit: 2 })).toEqual([first, second]);
      await calls().add([aCall({ accountId })]);
      const before = second?.id;
      expect(await calls().list({ accountId, before, limit: 1 })).toEqual([third]);
      expect(await calls().list({ accountId, before: records[0]?.id, limit: 2 })).toEqual([]);
    });

    it("of one namespace are erased up to a time, and those of an account with it", async () => {
      const { accountId } = aScope();
      const other = aCall({ accountId, namespace: "n2", atMs: 10 });
      const without = aCall({ accountId, atMs: 10 });
      const later = aCall({ accountId, namespace: "n", atMs: 11 });
      await calls().add([other, without]);
      await add(MANY, { accountId, namespace: "n", atMs: 10 });
      await calls().add([later, aCall({ accountId: `${accountId}x`, namespace: "n", atMs: 10 })]);
      await calls().erase({ accountId, namespace: "n", untilMs: 10 });
      expect(await calls().list({ accountId, limit: 9 })).toEqual([later, without, other]);
      await calls().erase({ accountId, untilMs: Number.MAX_SAFE_INTEGER });
      expect(await idsOf(accountId)).toEqual([]);
      expect(await idsOf(`${accountId}x`)).toHaveLength(1);
    });

    // Ten thousand records take a stand-in on SQLite ten seconds alone.
    it("that are old, or too many, are removed in chunks", { timeout: 60_000 }, async () => {
      const { accountId } = aScope();
      await add(MANY, { accountId, atMs: 1 });
      const kept = await add(30, { accountId, atMs: 5 });
      let chunks = 1;
      while (await calls().prune({ accountId, beforeMs: 5, max: 2_000 })) chunks++;
      expect(chunks).toBeGreaterThan(1);
      expect(await idsOf(accountId)).toHaveLength(30);
      expect(await calls().prune({ accountId, beforeMs: 5, max: 30 })).toBe(false);
      expect(await calls().prune({ accountId, beforeMs: 5, max: 20 })).toBe(false);
      expect(await idsOf(accountId)).toEqual(
        kept
          .slice(-20)
          .map(({ id }) => id)
          .toReversed(),
      );
      await calls().prune({ accountId, beforeMs: 0, max: 0 });
      expect(await idsOf(accountId)).toEqual([]);
    });

    it("name their accounts one after another", async () => {
      const [one, two] = [aScope().accountId, aScope().accountId].sort() as [string, string];
      await add(3, { accountId: two });
      await add(3, { accountId: one });
      const seen = [];
      let next = await calls().nextAccount("");
      while (next !== undefined) {
        seen.push(next);
        next = await calls().nextAccount(next);
      }
      expect(seen).toEqual([...new Set(seen)].sort());
      expect(seen).toEqual(expect.arrayContaining([one, two]));
    });
  });
}
