import { describe, expect, it } from "vitest";
import { changePlan, removeKey } from "../../src/accounts/changes.js";
import type { Key } from "../../src/accounts/key.js";
import { UNLIMITED_CALLS } from "../../src/accounts/plan.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aKey, anAccount, endAt } from "./samples.js";

/** Contract of every adapter of accounts. */
export function accountsContract(name: string, make: MakeDatabase): void {
  describe(`accounts: ${name}`, () => {
    const used = useDatabase(make);
    const accounts = () => used.storage.accounts;
    const create = async (given = {}) => {
      const account = anAccount(given);
      await accounts().create(account);
      const payer = { accountId: account.id, keyHash: (account.keys[0] as Key).hash };
      const left = async () => (await accounts().findByKey(payer.keyHash))?.callsLeft;
      return { account, payer, left };
    };

    it("finds an account by each of its keys, as it was given", async () => {
      const { account } = await create({
        email: "ß@ex.ample",
        keys: [aKey({ hash: "one-hash" }), aKey({ hash: "other-hash" })],
      });
      expect(await accounts().findByKey("one-hash")).toEqual(account);
      expect(await accounts().findByKey("other-hash")).toEqual(account);
      expect(await accounts().findByKey("no-hash")).toBeUndefined();
    });

    it("finds an account by its id, with its living keys", async () => {
      const { account } = await create({ keys: [aKey(), aKey({ expiresAtMs: 1 })] });
      expect(await accounts().find(account.id)).toEqual({ ...account, keys: account.keys.slice(0, 1) });
      expect(await accounts().find("acc_nobody")).toBeUndefined();
    });

    it("lists accounts in the order of their ids, from one on", async () => {
      const ids = ["acc_list-1", "acc_list-2", "acc_list-3"];
      for (const id of ids.toReversed()) await create({ id });
      const listed = async (id: string, limit: number) =>
        (await accounts().list({ after: id, limit })).map((account) => account.id);
      expect(await listed("acc_list-", 3)).toEqual(ids);
      expect(await listed("acc_list-", 2)).toEqual(ids.slice(0, 2));
      expect(await listed("acc_list-1", 2)).toEqual(ids.slice(1));
      expect(await listed("acc_~", 9)).toEqual([]);
      expect(await listed("", 1)).toHaveLength(1);
    });

    it("keeps an account when it is closed and opened again", async () => {
      const { account, payer } = await create();
      await accounts().charge(payer);
      await used.reopen();
      const callsLeft = account.callsLeft - 1;
      expect(await accounts().findByKey(payer.keyHash)).toEqual({ ...account, callsLeft });
    });

    it("does not let an id be taken twice", async () => {
      const { account, payer, left } = await create({ callsLeft: 7 });
      const twin = { ...account, callsLeft: 1000, keys: [aKey({ hash: "twin" })] };
      await expect(accounts().create(twin)).rejects.toMatchObject({ code: "already_exists" });
      expect(await left()).toBe(7);
      expect(await accounts().findByKey("twin")).toBeUndefined();
      expect(await accounts().charge({ ...payer, keyHash: "twin" })).toBe(false);
    });

    it("gives an account another plan, and what was used stays used", async () => {
      const { account, payer, left } = await create({ callsLimit: 10, callsLeft: 8 });
      const to = (plan: string, callsLimit: number) =>
        changePlan(accounts(), { accountId: account.id, plan, callsLimit });
      expect(await to("team", 100)).toBe(true);
      expect(await accounts().findByKey(payer.keyHash)).toMatchObject({
        plan: "team",
        callsLimit: 100,
        callsLeft: 98,
      });
      expect(await to("tiny", 1)).toBe(true);
      expect([await left(), await accounts().charge(payer)]).toEqual([-1, false]);
      await accounts().refund(account.id);
      expect(await left()).toBe(0);
      expect(await to("all", UNLIMITED_CALLS)).toBe(true);
      expect([await accounts().charge(payer), await left()]).toEqual([true, UNLIMITED_CALLS - 2]);
      expect(await to("free", 10)).toBe(true);
      expect(await left()).toBe(8);
      expect(await changePlan(accounts(), { accountId: "acc_nobody", plan: "free", callsLimit: 1 })).toBe(
        false,
      );
    });

    it("loses no charge while the plan changes", async () => {
      const { account, payer, left } = await create({ callsLimit: 100, callsLeft: 100 });
      const set = (callsLimit: number) =>
        changePlan(accounts(), { accountId: account.id, plan: "other", callsLimit });
      const charges = Array.from({ length: 20 }, () => accounts().charge(payer));
      await Promise.all([...charges, set(200), set(300)]);
      const { callsLimit } = (await accounts().findByKey(payer.keyHash)) ?? {};
      expect((callsLimit ?? 0) - ((await left()) ?? 0)).toBe(20);
    });

    it("charges until nothing is left", async () => {
      const { payer, left } = await create({ callsLeft: 2 });
      expect([await accounts().charge(payer), await accounts().charge(payer)]).toEqual([true, true]);
      expect(await accounts().charge(payer)).toBe(false);
      expect(await left()).toBe(0);
    });

    it("lets exactly 50 of 60 calls at once have the last 50", async () => {
      const { payer, left } = await create({ callsLeft: 50 });
      const charged = await Promise.all(Array.from({ length: 60 }, () => accounts().charge(payer)));
      expect(charged.filter(Boolean)).toHaveLength(50);
      expect(await left()).toBe(0);
    });

    it("charges several calls together, all or none, and gives several back", async () => {
      const { account, payer, left } = await create({ callsLeft: 10, callsLimit: 10 });
      expect([await accounts().charge({ ...payer, calls: 7 }), await left()]).toEqual([true, 3]);
      expect([await accounts().charge({ ...payer, calls: 4 }), await left()]).toEqual([false, 3]);
      expect([await accounts().charge({ ...payer, calls: 3 }), await left()]).toEqual([true, 0]);
      await accounts().refund(account.id, 5);
      expect(await left()).toBe(5);
      // Never above the limit, but as many as fit.
      await accounts().refund(account.id, 9);
      expect(await left()).toBe(10);
      const racing = Array.from({ length: 20 }, () => accounts().charge({ ...payer, calls: 3 }));
      expect((await Promise.all(racing)).filter(Boolean)).toHaveLength(3);
      expect(await left()).toBe(1);
    });

    it("shows a charge to whoever reads the account, from when it is answered", async () => {
      const { account, payer } = await create({ id: "acc_shown", callsLeft: 9 });
      await accounts().charge(payer);
      const [listed] = await accounts().list({ after: "acc_show", limit: 1 });
      const read = [await accounts().find(account.id), await accounts().findByKey(payer.keyHash), listed];
      expect(read).toEqual(Array(3).fill({ ...account, callsLeft: 8 }));
    });

    it("charges nobody for a key that was removed, that expired, or whose account was closed", async () => {
      const { account, payer } = await create({ keys: [aKey(), aKey(), aKey()] });
      const { id: accountId, keys } = account;
      const [removed, expired, living] = keys as [Key, Key, Key];
      const charge = ({ hash: keyHash }: Key) => accounts().charge({ accountId, keyHash });
      for (const key of keys) expect(await charge(key)).toBe(true);
      await removeKey(accounts(), { accountId, keyId: removed.id, force: false });
      await endAt(accounts(), { accountId, keyId: expired.id }, Date.now() - 1);
      expect([await charge(removed), await charge(expired), await charge(living)]).toEqual([
        false,
        false,
        true,
      ]);
      expect((await accounts().find(accountId))?.callsLeft).toBe(account.callsLeft - 4);
      await accounts().remove(accountId);
      expect(await charge(living)).toBe(false);
      await accounts().refund(accountId);
      expect(await accounts().find(payer.accountId)).toBeUndefined();
    });

    it("charges nobody for a key that was never the account's, or whose account is unknown", async () => {
      const [one, other] = [await create(), await create()];
      const { accountId } = one.payer;
      expect(await accounts().charge({ accountId, keyHash: other.payer.keyHash })).toBe(false);
      expect(await accounts().charge({ accountId, keyHash: "revoked" })).toBe(false);
      expect(await accounts().charge({ ...one.payer, accountId: "acc_none" })).toBe(false);
      expect([await one.left(), await other.left()]).toEqual([1000, 1000]);
    });

    it("gives a call back, but never above the limit", async () => {
      const { payer, left } = await create({ callsLimit: 3, callsLeft: 3 });
      await accounts().charge(payer);
      await Promise.all(Array.from({ length: 5 }, () => accounts().refund(payer.accountId)));
      expect(await left()).toBe(3);
      await accounts().refund("acc_none");
    });

    it("counts right when calls are charged and given back at once", async () => {
      const { payer, left } = await create({ callsLimit: 100, callsLeft: 100 });
      const call = async (fails: boolean) => {
        expect(await accounts().charge(payer)).toBe(true);
        if (fails) await accounts().refund(payer.accountId);
      };
      await Promise.all(Array.from({ length: 60 }, (_, i) => call(i % 3 === 0)));
      expect(await left()).toBe(60);
    });

    it("tells an account that was closed from one that was never there", async () => {
      const { accounts } = used.storage;
      const account = anAccount();
      await accounts.create(account);
      expect(await accounts.isClosed(account.id)).toBe(false);
      await accounts.remove(account.id);
      await accounts.remove("acc_never");
      await used.reopen();
      const { accounts: now } = used.storage;
      expect([await now.isClosed(account.id), await now.isClosed("acc_never")]).toEqual([true, false]);
    });
  });
}
