import { hash } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { addKey } from "../../src/accounts/changes.js";
import { consent, redeem } from "../../src/accounts/oauth/granting.js";
import type { Grants } from "../../src/accounts/oauth/grants.js";
import { openLocal } from "../../src/storage/local/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { aKey, anAccount } from "../contract/samples.js";
import { newDataDir } from "../support/server.js";

const VERIFIER = "v".repeat(43);
const REQUEST = {
  client: { id: "rcc_x", name: "An app", redirectUris: ["https://app.example/back"] },
  redirectUri: "https://app.example/back",
  challenge: hash("sha256", VERIFIER, "base64url"),
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

/** Grants that do something in another way. */
function grantsWith(changes: Partial<Grants>): Grants {
  const { grants } = storage;
  const get = (_: Grants, name: keyof Grants) =>
    changes[name] ?? (grants[name] as () => unknown).bind(grants);
  return new Proxy(grants, { get: get as ProxyHandler<Grants>["get"] & object });
}

const askedWith = (code: string) => ({
  clientId: REQUEST.client.id,
  redirectUri: REQUEST.redirectUri,
  verifier: VERIFIER,
  code,
});

describe("a code", () => {
  it("gives a key once, to the application that it was given to", async () => {
    const { options, give, keys } = await consented();
    const asked = askedWith(await give());
    await expect(redeem(options, { ...asked, clientId: "rcc_y" })).rejects.toThrow("another application's");
    expect(await redeem(options, asked)).toMatchObject({ access: "full" });
    expect(await keys()).toHaveLength(2);
    await expect(redeem(options, asked)).rejects.toMatchObject({ code: "failed_precondition" });
    expect(await keys()).toHaveLength(1);
  });

  it("is used up by a wrong verifier, and by a wrong address", async () => {
    const { options, give, keys } = await consented();
    for (const wrong of [{ verifier: "w".repeat(43) }, { verifier: undefined }, { redirectUri: undefined }]) {
      const asked = askedWith(await give());
      await expect(redeem(options, { ...asked, ...wrong })).rejects.toThrow(/code_verifier|redirect_uri/);
      await expect(redeem(options, asked)).rejects.toThrow("code is unknown, used");
    }
    expect(await keys()).toHaveLength(1);
  });

  it("is good for a minute", async () => {
    const { options, give, keys } = await consented();
    const code = await give();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_001 });
    await expect(redeem(options, askedWith(code))).rejects.toThrow("code has expired");
    expect(await keys()).toHaveLength(1);
  });

  it("leaves no key if it comes again after it was used, and before its key was made", async () => {
    const { options, give, keys } = await consented();
    const asked = askedWith(await give());
    const grants = grantsWith({
      take: async (request) => {
        const isTaken = await storage.grants.take(request);
        await expect(redeem(options, asked)).rejects.toThrow("code is unknown, used");
        return isTaken;
      },
    });
    await expect(redeem({ ...options, grants }, asked)).rejects.toThrow("code is unknown, used");
    expect(await keys()).toHaveLength(1);
  });

  it("leaves no key if it comes again between its making and the look at the mark", async () => {
    const { options, give, keys } = await consented();
    const asked = askedWith(await give());
    const grants = grantsWith({
      find: async (codeHash) => {
        const isMade = (await keys()).length === 2;
        if (isMade) await expect(redeem(options, asked)).rejects.toThrow("code is unknown, used");
        return storage.grants.find(codeHash);
      },
    });
    await expect(redeem({ ...options, grants }, asked)).rejects.toThrow("code is unknown, used");
    expect(await keys()).toHaveLength(1);
  });

  it("gives no key where the account has all that it may have, and is not given there", async () => {
    const { options, give, keys, accountId } = await consented();
    const code = await give();
    while (await addKey(storage.accounts, { accountId, key: aKey() }));
    await expect(redeem(options, askedWith(code))).rejects.toMatchObject({ reason: "KEYS_LIMIT" });
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
      kept = grant.codeHash;
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
    const { options, give, keys } = await consented(name);
    await redeem(options, askedWith(await give()));
    expect((await keys()).at(-1)?.name).toBe(shown);
  });
});
