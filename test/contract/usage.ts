import { describe, expect, it } from "vitest";
import { type AccountHour, DAY_MS, dateOf, NOTHING } from "../../src/accounts/usage.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aScope } from "./samples.js";

/** Contract of every adapter of usage. */
export function usageContract(name: string, make: MakeDatabase): void {
  describe(`usage: ${name}`, () => {
    const used = useDatabase(make);
    const usage = () => used.storage.usage;
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
      await usage().add([anHour({ accountId, stores: 1, tokensStored: 7 }), anHour({ stores: 100 })]);
      await usage().add([
        anHour({ accountId, stores: 2, recalls: 1, tokensStored: 3, tokensQueried: 5 }),
        anHour({ accountId, date: daysAgo(1), recalls: 4 }),
        anHour({ accountId, hour: 23, stores: 1 }),
      ]);
      await usage().add([]);
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
      await Promise.all(Array.from({ length: 30 }, () => usage().add([anHour({ accountId, stores: 1 })])));
      expect(await usage().read({ accountId, from: daysAgo(0) })).toMatchObject([{ stores: 30 }]);
    });

    it("reads the days from the one asked on, of one account only", async () => {
      const { accountId } = aScope();
      const dates = [2, 1, 0].map(daysAgo);
      await usage().add(dates.map((date) => anHour({ accountId, date, stores: 1 })));
      await usage().add([anHour({ accountId: `${accountId}x`, stores: 9 })]);
      const read = await usage().read({ accountId, from: daysAgo(1) });
      expect(read.map(({ date }) => date)).toEqual(dates.slice(1));
    });

    it("forgets an account's days", async () => {
      const { accountId } = aScope();
      await usage().add([
        anHour({ accountId, stores: 1 }),
        anHour({ accountId, date: daysAgo(9), stores: 1 }),
      ]);
      await usage().remove(accountId);
      expect(await usage().read({ accountId, from: daysAgo(90) })).toEqual([]);
    });
  });
}
