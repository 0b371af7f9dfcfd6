import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { addKey } from "../../src/accounts/changes.js";
import { hashKey } from "../../src/accounts/key.js";
import { consent, findGrant, makeGrantedKey, useCode } from "../../src/accounts/oauth/granting.js";
import type { Grants, StoredGrant } from "../../src/accounts/oauth/grants.js";
import { openLocal } from "../../src/storage/local/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { aKey, anAccount } from "../contract/samples.js";
import { newDataDir } from "../support/server.js";

const REQUEST = {
  client: { id: "rcc_x", name: "An app", redirectUris: ["https://app.example/back"] },
  redirectUri: "https://app.example/back",
  challenge: "c",
  resource: "https://m.example/mcp",
};

let storage: Storage;
beforeAll(async () => {
  storage = await openLocal({ dataDir: newDataDir() });
});
afterAll(() => storage.close());
afterEach(() => {
  vi.useRealTimers();
});

async function consented(name = REQUEST.client.name) {
  const account = anAccount();
  await storage.accounts.create(account);
  const { accounts, grants } = storage;
  const options = { accounts, grants };
  const keyHash = String(account.keys[0]?.hash);
  const caller = { accountId: account.id, keyHash, access: "full" } as const;
  const choice = { access: "full", namespace: "", days: 1 } as const;
  const client = { ...REQUEST.client, name };
  const give = () => consent(options, { ...REQUEST, client, caller, choice });
  const keys = async () => (await accounts.find(account.id))?.keys ?? [];
  return { options, give, keys, accountId: account.id };
}

describe("a code", () => {
  it("is good for a minute", async () => {
    const { options, give } = await consented();
    const code = await give();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_001 });
    const grant = await findGrant(options, code);
    expect(grant?.expiresAtMs).toBeLessThan(Date.now());
    expect(await useCode(options, { id: hashKey(code), keyId: "key_1" })).toBe(false);
  });

  it("leaves no key if it comes again after it was used, and before its key was made", async () => {
    const { options, give, keys } = await consented();
    const code = await give();
    const grant = (await findGrant(options, code)) as StoredGrant;
    expect(await useCode(options, { ...grant, keyId: "key_1" })).toBe(true);
    expect(await findGrant(options, code)).toBeUndefined();
    expect(await makeGrantedKey(options, { grant, keyId: "key_1" })).toBeUndefined();
    expect(await keys()).toHaveLength(1);
  });

  it("leaves no key if it comes again between its making and the look at the mark", async () => {
    const { options, give, keys } = await consented();
    const code = await give();
    const grant = (await findGrant(options, code)) as StoredGrant;
    await useCode(options, { ...grant, keyId: "key_1" });
    const late: Grants = Object.create(storage.grants);
    late.find = async (id) => {
      await findGrant(options, code);
      return storage.grants.find(id);
    };
    expect(await makeGrantedKey({ ...options, grants: late }, { grant, keyId: "key_1" })).toBeUndefined();
    expect(await keys()).toHaveLength(1);
  });

  it("gives no key where the account has all that it may have, and is not given there", async () => {
    const { options, give, keys, accountId } = await consented();
    const code = await give();
    const grant = (await findGrant(options, code)) as StoredGrant;
    while (await addKey(storage.accounts, { accountId, key: aKey() }));
    await useCode(options, { ...grant, keyId: "key_1" });
    expect(await makeGrantedKey(options, { grant, keyId: "key_1" })).toBeUndefined();
    await expect(give()).rejects.toMatchObject({ reason: "KEYS_LIMIT" });
    expect(await keys()).toHaveLength(50);
  });

  it("is left nowhere if the account is closed while it is made", async () => {
    const { options, give, accountId } = await consented();
    const late: Grants = Object.create(storage.grants);
    late.removeOf = (id) => storage.grants.removeOf(id);
    let kept = "";
    late.add = async (grant) => {
      await storage.grants.removeOf(accountId);
      await storage.accounts.remove(accountId);
      await storage.grants.removeOf(accountId);
      kept = grant.id;
      await storage.grants.add(grant);
    };
    options.grants = late;
    await expect(give()).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await storage.grants.find(kept)).toBeUndefined();
  });

  it.each([
    ["An app", "An app (app.example)"],
    ["", "app.example"],
    ["ß".repeat(64), `${"ß".repeat(25)} (app.example)`],
  ])("gives a key a name that fits and says whose it is: %s", async (name, shown) => {
    const { options, give } = await consented(name);
    expect((await findGrant(options, await give()))?.keyName).toBe(shown);
  });
});
