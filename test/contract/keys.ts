import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { KEYS_MAX } from "../../src/accounts/account.js";
import { addKey, endReplaced, removeKey, touchKey } from "../../src/accounts/changes.js";
import type { Key } from "../../src/accounts/key.js";
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
      expect(await addKey(accounts(), { accountId, key: scoped })).toBe(true);
      expect(await keysBy(scoped)).toEqual([...keys, scoped]);
      expect(await lives(accountId, scoped)).toBe(true);
      await used.reopen();
      expect(await keysBy(keys[0])).toEqual([...keys, scoped]);
    });

    it("adds no key to an account that is not there", async () => {
      const key = aKey();
      expect(await addKey(accounts(), { accountId: `acc_${randomUUID()}`, key })).toBe(false);
      expect(await keysBy(key)).toBeUndefined();
    });

    it(`lets an account have ${KEYS_MAX} living keys, of however many at once`, async () => {
      const { accountId, keys } = await create({}, { expiresAtMs: Date.now() - 1 });
      const adding = Array.from({ length: KEYS_MAX + 5 }, () =>
        addKey(accounts(), { accountId, key: aKey() }),
      );
      expect((await Promise.all(adding)).filter(Boolean)).toHaveLength(KEYS_MAX - 1);
      expect(await keysBy(keys[0])).toHaveLength(KEYS_MAX);
    });

    it("knows no key that was removed", async () => {
      const { accountId, keys } = await create({}, {});
      const [one, other] = keys as [Key, Key];
      expect(await removeKey(accounts(), { accountId, keyId: one.id, force: false })).toBe(true);
      expect([await lives(accountId, one), await lives(accountId, other)]).toEqual([false, true]);
      expect(await removeKey(accounts(), { accountId, keyId: one.id, force: true })).toBe(false);
      expect(await keysBy(other)).toEqual([other]);
    });

    it("removes the last living key only when forced to", async () => {
      const { accountId, keys } = await create({}, { expiresAtMs: Date.now() - 1 });
      expect(await removeKey(accounts(), { accountId, keyId: keys[0].id, force: false })).toBe(false);
      expect(await lives(accountId, keys[0])).toBe(true);
      expect(await removeKey(accounts(), { accountId, keyId: keys[0].id, force: true })).toBe(true);
      expect(await lives(accountId, keys[0])).toBe(false);
    });

    it("counts no key of an application as the last one, and removes each at once", async () => {
      const { accountId, keys } = await create({}, { client: "app.example" });
      const [own, granted] = keys as [Key, Key];
      const remove = (key: Key) => removeKey(accounts(), { accountId, keyId: key.id, force: false });
      expect(await remove(own)).toBe(false);
      expect([await lives(accountId, own), await lives(accountId, granted)]).toEqual([true, true]);
      expect(await keysBy(own)).toEqual(keys);
      expect([await remove(granted), await remove(own)]).toEqual([true, false]);
      const other = await create({}, {}, { client: "app.example" });
      expect(
        await removeKey(accounts(), { accountId: other.accountId, keyId: other.keys[0].id, force: false }),
      ).toBe(true);
    });

    it("leaves one key when all are removed at once", async () => {
      const { accountId, keys } = await create({}, {}, {}, {});
      const removing = keys.map(({ id }) => removeKey(accounts(), { accountId, keyId: id, force: false }));
      expect((await Promise.all(removing)).filter(Boolean)).toHaveLength(3);
    });

    it("knows no key whose time is over", async () => {
      const { accountId, keys } = await create({ expiresAtMs: Date.now() - 1 }, {});
      const [over, other] = keys as [Key, Key];
      expect([await lives(accountId, over), await lives(accountId, other)]).toEqual([false, true]);
      expect(await keysBy(other)).toEqual([other]);
      expect(await removeKey(accounts(), { accountId, keyId: over.id, force: true })).toBe(false);
    });

    it("ends what a key replaces, and what that replaces, never later than it would, and settles it", async () => {
      const atMs = Date.now() + 60_000;
      const { accountId, keys } = await create(
        { id: "key_a", expiresAtMs: atMs - 1 },
        { id: "key_b", replaces: "key_a" },
        { id: "key_c", replaces: "key_b", graceMs: 1 },
        { id: "key_d", replaces: "key_c" },
        { id: "key_e", replaces: "key_none" },
      );
      const [a, b, c, d, e] = keys as readonly Key[] as [Key, Key, Key, Key, Key];
      const end = (keyId: string, at: number) => endReplaced(accounts(), { accountId, keyId, atMs: at });
      await end("key_c", atMs);
      const ended = { ...b, expiresAtMs: atMs };
      const settled = ({ replaces, graceMs, ...key }: Key) => key;
      expect(await keysBy(e)).toEqual([a, ended, settled(c), d, e]);
      // It is settled now, or is none.
      for (const id of ["key_c", "key_none"]) await end(id, atMs - 2);
      await end("key_e", atMs);
      expect(await keysBy(e)).toEqual([a, ended, settled(c), d, settled(e)]);
      await end("key_d", Date.now());
      expect(await lives(accountId, c)).toBe(false);
      expect(await keysBy(e)).toEqual([a, ended, settled(d), settled(e)]);
    });

    it("keeps when keys were last used, and never an earlier time", async () => {
      const { accountId, keys } = await create({}, {});
      const use = (key: Key, atMs: number) => ({ accountId, keyHash: key.hash, atMs });
      const other = keys[1] as Key;
      const uses = [use(keys[0], 120_000), use(other, 60_000), use(aKey(), 60_000)];
      await Promise.all(uses.map((each) => touchKey(accounts(), each)));
      await touchKey(accounts(), use(keys[0], 60_000));
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
