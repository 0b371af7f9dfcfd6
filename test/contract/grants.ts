import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashKey } from "../../src/accounts/key.js";
import { findGrant, useCode } from "../../src/accounts/oauth/granting.js";
import type { Grant } from "../../src/accounts/oauth/grants.js";
import { type MakeDatabase, useDatabase } from "./database.js";

const HOUR_MS = 3_600_000;

function aGrant(given: Partial<Grant> = {}): Grant {
  const nowMs = Date.now();
  return {
    id: `hash ${randomUUID()}`,
    accountId: `acc_${randomUUID()}`,
    clientId: "rcc_client",
    redirectUri: "http://localhost/back",
    challenge: "challenge",
    resource: "https://a.example/mcp",
    client: "localhost",
    keyName: "an app",
    access: "read_only",
    namespace: "ß",
    keyTtlMs: HOUR_MS,
    expiresAtMs: nowMs + HOUR_MS,
    keptUntilMs: nowMs + 2 * HOUR_MS,
    ...given,
  };
}

/** Contract of every adapter of grants. */
export function grantsContract(name: string, make: MakeDatabase): void {
  describe(`grants: ${name}`, () => {
    const used = useDatabase(make);
    /** What granting does with grants. */
    const grants = () => {
      const { accounts, grants: records, grantSecrets } = used.storage;
      const options = { accounts, grants: records };
      return {
        secret: async (fresh: string) =>
          (await grantSecrets.findOrInsert({ id: "clients", secret: fresh })).secret,
        add: (grant: Grant) => records.findOrInsert(grant, Date.now()),
        find: (id: string) => records.find(id),
        ofCode: (code: string) => findGrant(options, code),
        use: (grant: Grant, keyId: string) => useCode(options, { ...grant, keyId }),
        removeOf: (accountId: string) => records.remove({ accountId }),
      };
    };
    const added = (given: Partial<Grant> = {}) => grants().add(aGrant(given));

    it("keeps one secret, whoever brings the first one, and keeps it when it is opened again", async () => {
      const told = await Promise.all(["a", "b", "c"].map((fresh) => grants().secret(fresh)));
      expect(new Set(told).size).toBe(1);
      await used.reopen();
      expect(await grants().secret("d")).toBe(told[0]);
    });

    it("keeps a grant as it was given, with a namespace and without", async () => {
      const scoped = aGrant();
      const { namespace, ...all } = aGrant();
      await grants().add(scoped);
      await grants().add(all);
      await used.reopen();
      expect(await grants().find(scoped.id)).toEqual(scoped);
      expect(await grants().find(all.id)).toEqual(all);
      expect(await grants().find("no such code")).toBeUndefined();
    });

    it("lets a code be used once, of however many at once, and knows that it came again", async () => {
      const grant = await added();
      const keyIds = Array.from({ length: 10 }, (_, n) => `key_${n}`);
      const took = await Promise.all(keyIds.map((keyId) => grants().use(grant, keyId)));
      expect(took.filter(Boolean)).toHaveLength(1);
      const used = { keyId: keyIds[took.indexOf(true)], replayed: true };
      expect(await grants().find(grant.id)).toMatchObject(used);
      expect(await grants().use(grant, "key_late")).toBe(false);
      expect(await grants().find(grant.id)).toMatchObject(used);
    });

    it("refuses a code whose time is over, and one that is gone, and marks none that was not used", async () => {
      const late = await added({ expiresAtMs: Date.now() - 1 });
      expect(await grants().use(late, "key_1")).toBe(false);
      expect(await grants().find(late.id)).toEqual(late);
      expect(await grants().use(aGrant(), "key_1")).toBe(false);
      const grant = await added();
      expect(await grants().use(grant, "key_1")).toBe(true);
      expect(await grants().find(grant.id)).toEqual({ ...grant, keyId: "key_1" });
    });

    it("knows no grant after the time for which it is kept", async () => {
      const past = { expiresAtMs: Date.now() - HOUR_MS, keptUntilMs: Date.now() - 1 };
      const [code, another] = ["rco_one", "rco_another"];
      const { id } = await added({ ...past, id: hashKey(code), keyId: "key_1" });
      const kept = await added({ id: hashKey(another) });
      await added(past);
      expect(await grants().ofCode(code)).toBeUndefined();
      expect((await grants().find(id))?.replayed).toBeUndefined();
      expect(await grants().ofCode(another)).toEqual(kept);
    });

    it("forgets the grants of an account, and no others", async () => {
      const [one, other] = [await added(), await added()];
      const second = await added({ accountId: one.accountId });
      await grants().removeOf(one.accountId);
      const found = await Promise.all([one, second, other].map(({ id }) => grants().find(id)));
      expect(found).toEqual([undefined, undefined, other]);
    });
  });
}
