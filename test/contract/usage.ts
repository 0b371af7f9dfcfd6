import { describe, expect, it } from "vitest";
import { type AccountHour, DAY_MS, dateOf, NOTHING } from "../../src/accounts/usage.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aScope } from "./samples.js";

/** Contract of every adapter of usage. */
export function usageContract(name: string, make: MakeDatabase): void {
  describe(`usage: ${name}`, () => {
    const used = useDatabase(make);
    const usage = () => used.storage.usage;
    let writes = 0;
    /** Adds counts in a write of their own. */
    const add = (hours: readonly AccountHour[], write = { by: "a-process", number: ++writes }) =>
      usage().add(hours, write);
    const daysAgo = (days: number) => dateOf(Date.now() - days * DAY_MS);
    const anHour = (given: Partial<AccountHour>): AccountHour => ({
      accountId: aScope().accountId,
      date: daysAgo(0),
      hour: 7,
      ...NOTHING,
      ...given,
    });

    it("adds up what comes in, hour by hour and day by day, and keeps it over a restart", async () => {
      const { accountId } = aScope();
      await add([anHour({ accountId, stores: 1, tokensStored: 7 }), anHour({ stores: 100 })]);
      await add([
        anHour({ accountId, stores: 2, recalls: 1, tokensStored: 3, tokensQueried: 5 }),
        anHour({ accountId, date: daysAgo(1), recalls: 4 }),
        anHour({ accountId, hour: 23, stores: 1 }),
      ]);
      await add([]);
      await used.reopen();
      expect(await usage().read({ accountId, from: daysAgo(30) })).toEqual([
        { date: daysAgo(1), ...NOTHING, recalls: 4, hours: { 7: { ...NOTHING, recalls: 4 } } },
        {
          date: daysAgo(0),
          stores: 4,
          recalls: 1,
          tokensStored: 10,
          tokensQueried: 5,
          hours: {
            7: { stores: 3, recalls: 1, tokensStored: 10, tokensQueried: 5 },
            23: { ...NOTHING, stores: 1 },
          },
        },
      ]);
    });

    it("loses nothing of what is added at once", async () => {
      const { accountId } = aScope();
      const adding = Array.from({ length: 30 }, (_, i) =>
        add([anHour({ accountId, stores: 1 })], { by: `process-${i}`, number: 0 }),
      );
      await Promise.all(adding);
      expect(await usage().read({ accountId, from: daysAgo(0) })).toMatchObject([{ stores: 30 }]);
    });

    it("counts a write once that is repeated, or arrives after the next one, whatever other processes write", async () => {
      const { accountId } = aScope();
      const write = (by: string, number: number) => {
        const hours = [3, 4].map((hour) => anHour({ accountId, hour, stores: 1, tokensStored: 2 }));
        return add([...hours, anHour({ accountId, date: daysAgo(1), recalls: 1 })], { by, number });
      };
      for (const number of [0, 0, 1, 0, 1]) {
        await write("one", number);
        await write("other", number);
      }
      expect(await usage().read({ accountId, from: daysAgo(1) })).toEqual([
        { date: daysAgo(1), ...NOTHING, recalls: 4, hours: { 7: { ...NOTHING, recalls: 4 } } },
        {
          ...{ date: daysAgo(0), ...NOTHING, stores: 8, tokensStored: 16 },
          hours: {
            3: { ...NOTHING, stores: 4, tokensStored: 8 },
            4: { ...NOTHING, stores: 4, tokensStored: 8 },
          },
        },
      ]);
    });

    it("reads the days from the one asked on, of one account only", async () => {
      const { accountId } = aScope();
      const dates = [2, 1, 0].map(daysAgo);
      await add(dates.map((date) => anHour({ accountId, date, stores: 1 })));
      await add([anHour({ accountId: `${accountId}x`, stores: 9 })]);
      const read = await usage().read({ accountId, from: daysAgo(1) });
      expect(read.map(({ date }) => date)).toEqual(dates.slice(1));
    });

    it("forgets an account's days", async () => {
      const { accountId } = aScope();
      await add([anHour({ accountId, stores: 1 }), anHour({ accountId, date: daysAgo(9), stores: 1 })]);
      await usage().remove(accountId);
      expect(await usage().read({ accountId, from: daysAgo(90) })).toEqual([]);
    });

    it("names its accounts one after another", async () => {
      const [one, two] = [aScope().accountId, aScope().accountId].sort() as [string, string];
      for (const accountId of [two, one])
        for (const date of [daysAgo(1), daysAgo(0)]) await add([anHour({ accountId, date, stores: 1 })]);
      const seen = [];
      for (let next = await usage().nextAccount(""); next !== undefined; ) {
        seen.push(next);
        next = await usage().nextAccount(next);
      }
      expect(seen).toEqual([...new Set(seen)].sort());
      expect(seen).toEqual(expect.arrayContaining([one, two]));
    });
  });
}
