import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
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
    const grants = () => used.storage.grants;
    const added = async (given: Partial<Grant> = {}) => {
      const grant = aGrant(given);
      await grants().add(grant);
      return grant;
    };
    const past = { expiresAtMs: Date.now() - HOUR_MS, keptUntilMs: Date.now() - 1 };

    it("keeps one secret, whoever brings the first one, and keeps it when it is opened again", async () => {
      const told = await Promise.all(["a", "b", "c"].map((fresh) => grants().secret(fresh)));
      expect(new Set(told).size).toBe(1);
      await used.reopen();
      expect(await grants().secret("d")).toBe(told[0]);
    });

    it("keeps a grant as it was given, with a namespace and without", async () => {
      const scoped = await added();
      const { namespace, ...all } = aGrant();
      await grants().add(all);
      await used.reopen();
      expect(await grants().find(scoped.id)).toEqual(scoped);
      expect(await grants().find(all.id)).toEqual(all);
      expect(await grants().find("no such code")).toBeUndefined();
    });

    it("lets a code be used once, of however many at once", async () => {
      const { id } = await added();
      const keyIds = Array.from({ length: 10 }, (_, n) => `key_${n}`);
      const took = await Promise.all(keyIds.map((keyId) => grants().take({ id, keyId })));
      expect(took.filter(Boolean)).toHaveLength(1);
      expect(await grants().find(id)).toMatchObject({ keyId: keyIds[took.indexOf(true)] });
      expect(await grants().take({ id, keyId: "key_late" })).toBe(false);
    });

    it("refuses a code whose time is over, and knows that it was used", async () => {
      const late = await added({ expiresAtMs: Date.now() - 1 });
      expect(await grants().take({ id: late.id, keyId: "key_1" })).toBe(false);
      expect(await grants().take({ id: "no such code", keyId: "key_1" })).toBe(false);
      const { id } = await added();
      await grants().take({ id, keyId: "key_1" });
      expect(await grants().markReplayed(id)).toMatchObject({ keyId: "key_1", replayed: true });
      expect(await grants().find(id)).toMatchObject({ replayed: true });
    });

    it("marks no code that was not used", async () => {
      const grant = await added();
      expect(await grants().markReplayed(grant.id)).toEqual(grant);
      expect(await grants().markReplayed("no such code")).toBeUndefined();
      expect(await grants().take({ id: grant.id, keyId: "key_1" })).toBe(true);
    });

    it("knows no grant after the time for which it is kept", async () => {
      const { id } = await added(past);
      const kept = await added();
      await added(past);
      expect(await grants().find(id)).toBeUndefined();
      expect(await grants().markReplayed(id)).toBeUndefined();
      expect(await grants().find(kept.id)).toEqual(kept);
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
