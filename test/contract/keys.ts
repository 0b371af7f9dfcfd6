import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { KEYS_MAX } from "../../src/accounts/account.js";
import { type Key, NEVER_MS } from "../../src/accounts/key.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aKey, anAccount } from "./samples.js";

/** Contract of every adapter of accounts about their keys. */
export function keysContract(name: string, make: MakeDatabase): void {
  describe(`keys: ${name}`, () => {
    const used = useDatabase(make);
    const accounts = () => used.storage.accounts;
    const create = async (...given: Partial<Key>[]) => {
      const keys = given.map((each) => aKey(each));
      const { id: accountId } = anAccount();
      await accounts().create(anAccount({ id: accountId, keys }));
      return { accountId, keys: keys as [Key, ...Key[]] };
    };
    const lives = async (accountId: string, { hash: keyHash }: Key) => {
      const found = (await accounts().findByKey(keyHash))?.id === accountId;
      expect(await accounts().charge({ accountId, keyHash })).toBe(found);
      return found;
    };
    const keysBy = async ({ hash }: Key) => (await accounts().findByKey(hash))?.keys;

    it("adds keys behind those that are there, as they were given", async () => {
      const { accountId, keys } = await create({});
      const scoped = aKey({
        name: "<ß>",
        access: "read_only",
        namespace: "n",
        replaces: "key_x",
        graceMs: 0,
      });
      expect(await accounts().addKey({ accountId, key: scoped })).toBe(true);
      expect(await keysBy(scoped)).toEqual([...keys, scoped]);
      expect(await lives(accountId, scoped)).toBe(true);
      await used.reopen();
      expect(await keysBy(keys[0])).toEqual([...keys, scoped]);
    });

    it("adds no key to an account that is not there", async () => {
      const key = aKey();
      expect(await accounts().addKey({ accountId: `acc_${randomUUID()}`, key })).toBe(false);
      expect(await keysBy(key)).toBeUndefined();
    });

    it(`lets an account have ${KEYS_MAX} living keys, of however many at once`, async () => {
      const { accountId, keys } = await create({}, { expiresAtMs: Date.now() - 1 });
      const adding = Array.from({ length: KEYS_MAX + 5 }, () =>
        accounts().addKey({ accountId, key: aKey() }),
      );
      expect((await Promise.all(adding)).filter(Boolean)).toHaveLength(KEYS_MAX - 1);
      expect(await keysBy(keys[0])).toHaveLength(KEYS_MAX);
    });

    it("knows no key that was removed", async () => {
      const { accountId, keys } = await create({}, {});
      const [one, other] = keys as [Key, Key];
      expect(await accounts().removeKey({ accountId, keyId: one.id, force: false })).toBe(true);
      expect([await lives(accountId, one), await lives(accountId, other)]).toEqual([false, true]);
      expect(await accounts().removeKey({ accountId, keyId: one.id, force: true })).toBe(false);
      expect(await keysBy(other)).toEqual([other]);
    });

    it("removes the last living key only when forced to", async () => {
      const { accountId, keys } = await create({}, { expiresAtMs: Date.now() - 1 });
      expect(await accounts().removeKey({ accountId, keyId: keys[0].id, force: false })).toBe(false);
      expect(await lives(accountId, keys[0])).toBe(true);
      expect(await accounts().removeKey({ accountId, keyId: keys[0].id, force: true })).toBe(true);
      expect(await lives(accountId, keys[0])).toBe(false);
    });

    it("counts no key of an application as the last one, and removes each at once", async () => {
      const { accountId, keys } = await create({}, { client: "app.example" });
      const [own, granted] = keys as [Key, Key];
      const remove = (key: Key) => accounts().removeKey({ accountId, keyId: key.id, force: false });
      expect(await remove(own)).toBe(false);
      expect([await lives(accountId, own), await lives(accountId, granted)]).toEqual([true, true]);
      expect(await keysBy(own)).toEqual(keys);
      expect([await remove(granted), await remove(own)]).toEqual([true, false]);
      const other = await create({}, {}, { client: "app.example" });
      expect(
        await accounts().removeKey({ accountId: other.accountId, keyId: other.keys[0].id, force: false }),
      ).toBe(true);
    });

    it("leaves one key when all are removed at once", async () => {
      const { accountId, keys } = await create({}, {}, {}, {});
      const removing = keys.map(({ id }) => accounts().removeKey({ accountId, keyId: id, force: false }));
      expect((await Promise.all(removing)).filter(Boolean)).toHaveLength(3);
    });

    it("knows no key whose time is over", async () => {
      const { accountId, keys } = await create({ expiresAtMs: Date.now() - 1 }, {});
      const [over, other] = keys as [Key, Key];
      expect([await lives(accountId, over), await lives(accountId, other)]).toEqual([false, true]);
      expect(await keysBy(other)).toEqual([other]);
      expect(await accounts().removeKey({ accountId, keyId: over.id, force: true })).toBe(false);
    });

    it("lets a key end, and never later than it would have", async () => {
      const { accountId, keys } = await create({}, {});
      const [key, other] = keys as [Key, Key];
      const atMs = Date.now() + 60_000;
      await accounts().expireKey({ accountId, keyId: key.id, atMs });
      await accounts().expireKey({ accountId, keyId: key.id, atMs: atMs + 1 });
      expect((await keysBy(other))?.map(({ expiresAtMs }) => expiresAtMs)).toEqual([atMs, NEVER_MS]);
      await accounts().expireKey({ accountId, keyId: key.id, atMs: Date.now() });
      expect(await lives(accountId, key)).toBe(false);
      await accounts().expireKey({ accountId, keyId: "key_none", atMs });
      expect(await keysBy(other)).toEqual([other]);
    });

    it("settles what a key replaces", async () => {
      const { accountId, keys } = await create({ replaces: "key_a", graceMs: 1 }, { replaces: "key_b" });
      await accounts().settleKey({ accountId, keyId: keys[0].id });
      const { replaces, graceMs, ...settled } = keys[0];
      expect(await keysBy(keys[0])).toEqual([settled, keys[1]]);
    });

    it("keeps when keys were last used, and never an earlier time", async () => {
      const { accountId, keys } = await create({}, {});
      const use = (key: Key, atMs: number) => ({ accountId, keyHash: key.hash, atMs });
      const other = keys[1] as Key;
      await accounts().touch([use(keys[0], 120_000), use(other, 60_000), use(aKey(), 60_000)]);
      await accounts().touch([use(keys[0], 60_000)]);
      await accounts().touch([]);
      expect(await keysBy(other)).toEqual([
        { ...keys[0], lastUsedAtMs: 120_000 },
        { ...other, lastUsedAtMs: 60_000 },
      ]);
    });

    it("removes an account with all its keys, as often as asked", async () => {
      const { accountId, keys } = await create({}, {});
      await accounts().remove(accountId);
      await accounts().remove(accountId);
      for (const key of keys) expect(await lives(accountId, key)).toBe(false);
    });
  });
}
