import { describe, expect, it } from "vitest";
import { SESSIONS_MAX } from "../../src/accounts/account.js";
import {
  addKey,
  addSession,
  changePlan,
  endReplaced,
  removeKey,
  removeSession,
  touchKey,
} from "../../src/accounts/changes.js";
import { type Key, makeSession, type Session } from "../../src/accounts/key.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aKey, anAccount, endAt } from "./samples.js";

const HOUR_MS = 60 * 60 * 1000;

/** Contract of every adapter of accounts about the sessions of their keys. */
export function sessionsContract(name: string, make: MakeDatabase): void {
  describe(`sessions: ${name}`, () => {
    const used = useDatabase(make);
    const accounts = () => used.storage.accounts;
    const create = async (...given: Partial<Key>[]) => {
      const keys = given.map((each) => aKey(each)) as [Key, Key];
      const { id: accountId } = anAccount();
      await accounts().create(anAccount({ id: accountId, keys }));
      return { accountId, keys };
    };
    const open = async (accountId: string, { id: keyId }: Key, given: Partial<Session> = {}) => {
      const session = aSession(given);
      expect(await addSession(accounts(), { accountId, keyId, session })).toBe(true);
      return session;
    };
    const lives = async (accountId: string, { hash: keyHash }: { hash: string }) => {
      const found = (await accounts().findByKey(keyHash))?.id === accountId;
      expect(await accounts().charge({ accountId, keyHash })).toBe(found);
      return found;
    };
    const sessionsOf = async (accountId: string) =>
      (await accounts().find(accountId))?.keys.map(({ sessions = [] }) => sessions);

    it("stand for their key, as they were given, and survive a restart", async () => {
      const { accountId, keys } = await create({}, {});
      const one = await open(accountId, keys[1]);
      const other = await open(accountId, keys[1], { lastUsedAtMs: 60_000 });
      expect(await sessionsOf(accountId)).toEqual([[], [one, other]]);
      expect([await lives(accountId, one), await lives(accountId, other)]).toEqual([true, true]);
      await used.reopen();
      expect((await accounts().findByKey(one.hash))?.keys).toEqual([
        keys[0],
        { ...keys[1], sessions: [one, other] },
      ]);
    });

    it("are of no key that is missing, removed or over", async () => {
      const { accountId, keys } = await create({}, { expiresAtMs: Date.now() - 1 });
      const [session, none] = [aSession(), "acc_none"];
      expect(await addSession(accounts(), { accountId, keyId: keys[1].id, session })).toBe(false);
      expect(await addSession(accounts(), { accountId, keyId: "key_none", session })).toBe(false);
      expect(await addSession(accounts(), { accountId: none, keyId: keys[0].id, session })).toBe(false);
      expect(await accounts().findByKey(session.hash)).toBeUndefined();
    });

    it("end alone, and once", async () => {
      const { accountId, keys } = await create({}, {});
      const [one, other, third] = [
        await open(accountId, keys[0]),
        await open(accountId, keys[0]),
        await open(accountId, keys[1]),
      ];
      expect(await removeSession(accounts(), { accountId, isMeant: ({ id }) => id === one.id })).toBe(true);
      expect(await removeSession(accounts(), { accountId, isMeant: ({ id }) => id === one.id })).toBe(false);
      expect(
        await removeSession(accounts(), { accountId: "acc_none", isMeant: ({ id }) => id === other.id }),
      ).toBe(false);
      expect(await sessionsOf(accountId)).toEqual([[other], [third]]);
      for (const [each, living] of [
        [one, false],
        [other, true],
        [third, true],
        [keys[0], true],
      ] as const) {
        expect(await lives(accountId, each)).toBe(living);
      }
      await removeSession(accounts(), { accountId, isMeant: ({ id }) => id === other.id });
      expect((await accounts().find(accountId))?.keys[0]).toEqual(keys[0]);
    });

    it("end with their key, whether it is removed or expires, and with the account", async () => {
      const { accountId, keys } = await create({}, {}, {});
      const [removed, expiring, left] = keys as readonly Key[] as [Key, Key, Key];
      const [one, two, three] = [
        await open(accountId, removed),
        await open(accountId, expiring),
        await open(accountId, left),
      ];
      await removeKey(accounts(), { accountId, keyId: removed.id, force: false });
      await endAt(accounts(), { accountId, keyId: expiring.id }, Date.now() - 1);
      expect([await lives(accountId, one), await lives(accountId, two)]).toEqual([false, false]);
      expect([await lives(accountId, three), await lives(accountId, left)]).toEqual([true, true]);
      await accounts().remove(accountId);
      expect(await lives(accountId, three)).toBe(false);
    });

    it("end at their time, and are listed no more, nor removed", async () => {
      const { accountId, keys } = await create({});
      const over = await open(accountId, keys[0], { expiresAtMs: Date.now() - 1 });
      expect(await removeSession(accounts(), { accountId, isMeant: ({ id }) => id === over.id })).toBe(false);
      const soon = await open(accountId, keys[0], { expiresAtMs: Date.now() + HOUR_MS });
      expect([await lives(accountId, over), await lives(accountId, soon)]).toEqual([false, true]);
      expect(await sessionsOf(accountId)).toEqual([[soon]]);
    });

    it("do not count as keys: the last key is the last one, and 50 keys may be beside them", async () => {
      const { accountId, keys } = await create({});
      await open(accountId, keys[0]);
      expect(await removeKey(accounts(), { accountId, keyId: keys[0].id, force: false })).toBe(false);
      expect(await addKey(accounts(), { accountId, key: aKey() })).toBe(true);
    });

    it(`are ${SESSIONS_MAX} of a key, of however many at once; the oldest makes room`, async () => {
      const { accountId, keys } = await create({}, {});
      const other = await open(accountId, keys[1]);
      // Those that are over make room first.
      await open(accountId, keys[0], { expiresAtMs: Date.now() + 200 });
      const first = await open(accountId, keys[0]);
      await new Promise((resolve) => setTimeout(resolve, 250));
      for (let i = 2; i < SESSIONS_MAX; i++) await open(accountId, keys[0]);
      const last = await open(accountId, keys[0]);
      expect([await lives(accountId, first), await lives(accountId, last)]).toEqual([true, true]);
      await Promise.all(Array.from({ length: 5 }, () => open(accountId, keys[0])));
      expect([await lives(accountId, first), await lives(accountId, last)]).toEqual([false, true]);
      const [own, others] = (await sessionsOf(accountId)) ?? [];
      expect([own?.length, others]).toEqual([SESSIONS_MAX, [other]]);
    });

    it("keep when they were last used, beside their key", async () => {
      const { accountId, keys } = await create({}, {});
      const [one, other] = [await open(accountId, keys[1]), await open(accountId, keys[1])];
      const use = ({ hash: keyHash }: { hash: string }, atMs: number) => ({ accountId, keyHash, atMs });
      const uses = [use(other, 120_000), use(keys[0], 60_000), use(aSession(), 60_000)];
      await Promise.all(uses.map((each) => touchKey(accounts(), each)));
      await touchKey(accounts(), use(other, 60_000));
      expect((await accounts().find(accountId))?.keys).toEqual([
        { ...keys[0], lastUsedAtMs: 60_000 },
        { ...keys[1], sessions: [one, { ...other, lastUsedAtMs: 120_000 }] },
      ]);
    });

    it("stay while their key is settled, used and given an end", async () => {
      const { accountId, keys } = await create({ replaces: "key_a", graceMs: 1 });
      const session = await open(accountId, keys[0]);
      await endReplaced(accounts(), { accountId, keyId: keys[0].id, atMs: Date.now() });
      await touchKey(accounts(), { accountId, keyHash: keys[0].hash, atMs: 60_000 });
      await endAt(accounts(), { accountId, keyId: keys[0].id }, Date.now() + HOUR_MS);
      await addKey(accounts(), { accountId, key: aKey() });
      await changePlan(accounts(), { accountId, plan: "team", callsLimit: 7 });
      expect((await sessionsOf(accountId))?.[0]).toEqual([session]);
      expect(await lives(accountId, session)).toBe(true);
    });
  });
}

function aSession(given: Partial<Session> = {}): Session {
  return { ...makeSession({ expiresAtMs: Date.now() + HOUR_MS }).session, ...given };
}
