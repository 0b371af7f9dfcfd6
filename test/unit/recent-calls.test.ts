import { describe, expect, it } from "vitest";
import type { Account, Accounts } from "../../src/accounts/account.js";
import { listRecentCalls } from "../../src/accounts/calls/list-recent-calls.js";
import { PerAccount } from "../../src/accounts/calls/per-account.js";
import { type NotedCall, RECENT_CALLS_MAX, RecentCalls } from "../../src/accounts/calls/recent-calls.js";
import { COUNTED_APART_MAX, SHARES_MAX, UsageShares } from "../../src/accounts/calls/usage-shares.js";
import { makeKey } from "../../src/accounts/key.js";

const KEYS = ["one", "two"].map((name) => makeKey({ name }).key);
const [ONE, TWO] = KEYS.map(({ hash }) => hash) as [string, string];
const ACCOUNT: Account = {
  ...{ id: "acc_a", email: "", plan: "free", callsLimit: 9, callsLeft: 9 },
  keys: KEYS,
  createdAtMs: 0,
};
const accounts = { findByKey: async () => ACCOUNT } as unknown as Accounts;
const caller = { accountId: "acc_a", keyHash: ONE, access: "full" as const };
const aCall = (given: Partial<NotedCall> = {}): NotedCall => ({
  ...{ atMs: 1, method: "s/Recall", protocol: "json", keyHash: ONE, code: "ok", ms: 2, requestId: "r" },
  ...given,
});

describe("recent calls", () => {
  const list = (recentCalls: RecentCalls, given: object = {}) =>
    listRecentCalls(
      { accounts, recentCalls },
      { caller, pageSize: undefined, pageToken: "", errorsOnly: false, ...given },
    );

  it("are the last ones of the account, the newest first, page by page", async () => {
    const calls = new RecentCalls();
    for (let i = 0; i < RECENT_CALLS_MAX + 3; i++) calls.note("acc_a", aCall({ requestId: `${i}` }));
    calls.note("acc_b", aCall({ requestId: "of another" }));
    const seen: string[] = [];
    let pageToken = "";
    do {
      const page = await list(calls, { pageSize: 100, pageToken });
      seen.push(...page.calls.map(({ requestId }) => requestId));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(Array.from({ length: RECENT_CALLS_MAX }, (_, i) => `${RECENT_CALLS_MAX + 2 - i}`));
  });

  it("go on behind a page although others came meanwhile", async () => {
    const calls = new RecentCalls();
    for (let i = 0; i < 4; i++) calls.note("acc_a", aCall({ requestId: `${i}` }));
    const { nextPageToken: pageToken } = await list(calls, { pageSize: 2 });
    calls.note("acc_a", aCall({ requestId: "new" }));
    const page = await list(calls, { pageSize: 2, pageToken });
    expect(page.calls.map(({ requestId }) => requestId)).toEqual(["1", "0"]);
    expect(page.nextPageToken).toBe("");
  });

  it("can be those that failed, and name the key while it lives", async () => {
    const calls = new RecentCalls();
    calls.note("acc_a", aCall());
    calls.note("acc_a", aCall({ code: "not_found", keyHash: TWO }));
    calls.note("acc_a", aCall({ code: "unavailable", keyHash: "of a key that is gone" }));
    const page = await list(calls, { errorsOnly: true });
    expect(page.calls.map(({ code, keyId }) => [code, keyId])).toEqual([
      ["unavailable", undefined],
      ["not_found", KEYS[1]?.id],
    ]);
  });

  it("of others are hidden from a key for one namespace", async () => {
    const calls = new RecentCalls();
    calls.note("acc_a", aCall({ requestId: "mine" }));
    calls.note("acc_a", aCall({ keyHash: TWO }));
    const page = await list(calls, { caller: { ...caller, namespace: "n" } });
    expect(page.calls.map(({ requestId }) => requestId)).toEqual(["mine"]);
  });

  it("refuse a page size and a token that are none", async () => {
    const calls = new RecentCalls();
    for (const pageSize of [0, 101, 1.5])
      await expect(list(calls, { pageSize })).rejects.toMatchObject({ field: "page_size" });
    for (const pageToken of ["0", "x", "1e3", "-1"])
      await expect(list(calls, { pageToken })).rejects.toMatchObject({ field: "page_token" });
  });

  it("are forgotten with their account", async () => {
    const calls = new RecentCalls();
    calls.note("acc_a", aCall());
    calls.forget("acc_a");
    expect((await list(calls)).calls).toEqual([]);
  });
});

describe("what is held of each account", () => {
  it("is forgotten first of those that changed least recently, when all is too much", () => {
    const held = new PerAccount<string[]>({ bytesMax: 2_000, open: () => [] });
    const grow = (account: string, bytes: number) =>
      held.update(account, (words) => {
        words.push("x");
        return bytes;
      });
    grow("a", 500);
    grow("b", 500);
    grow("a", 100);
    grow("c", 200);
    expect(["a", "b", "c"].map((account) => held.get(account)?.length)).toEqual([2, undefined, 1]);
    held.forget("a");
    grow("d", 1_000);
    expect(["c", "d"].map((account) => held.get(account)?.length)).toEqual([1, 1]);
  });

  it("stays within the bound for one account alone, which bounds itself", () => {
    const held = new PerAccount<string[]>({ bytesMax: 100, open: () => [] });
    held.update("a", () => 500);
    expect(held.get("a")).toEqual([]);
  });
});

describe("shares of usage", () => {
  const store = { call: "store" as const, tokens: 3 };
  const recall = { call: "recall" as const, tokens: 5 };

  it("are counted by key and by namespace, those with most calls first", () => {
    const shares = new UsageShares();
    shares.count("acc_a", { keyHash: ONE, namespace: "n", ...store });
    shares.count("acc_a", { keyHash: TWO, namespace: "n", ...recall });
    shares.count("acc_a", { keyHash: TWO, namespace: "m", ...recall });
    shares.count("acc_b", { keyHash: "other", namespace: "n", ...recall });
    const [one, two] = KEYS.map(({ id }) => id);
    expect(shares.read(ACCOUNT, caller)).toMatchObject({
      keys: [
        { name: two, stores: 0, recalls: 2, tokensStored: 0, tokensQueried: 10 },
        { name: one, stores: 1, recalls: 0, tokensStored: 3, tokensQueried: 0 },
      ],
      namespaces: [
        { name: "n", stores: 1, recalls: 1 },
        { name: "m", stores: 0, recalls: 1 },
      ],
    });
  });

  it("of a key that is gone, and of all beyond the first ones, are summed up", () => {
    const shares = new UsageShares();
    const names = Array.from({ length: 1_000 }, (_, i) => `n${i}`);
    for (const namespace of names) {
      shares.count("acc_a", { keyHash: "gone", namespace, ...store });
      if (namespace === "n7") shares.count("acc_a", { keyHash: ONE, namespace, ...recall });
    }
    const { keys, namespaces } = shares.read(ACCOUNT, caller);
    expect(keys).toMatchObject([
      { name: KEYS[0]?.id, recalls: 1 },
      { name: "", stores: 1_000 },
    ]);
    expect(namespaces).toHaveLength(SHARES_MAX + 1);
    expect(namespaces[0]).toMatchObject({ name: "n7", stores: 1, recalls: 1 });
    expect(namespaces.at(-1)).toMatchObject({ name: "", stores: 1_000 - SHARES_MAX });
    expect(COUNTED_APART_MAX).toBeGreaterThan(SHARES_MAX);
  });

  it("of others are hidden from a key for one namespace", () => {
    const shares = new UsageShares();
    shares.count("acc_a", { keyHash: ONE, namespace: "n", ...store });
    shares.count("acc_a", { keyHash: TWO, namespace: "n", ...store });
    shares.count("acc_a", { keyHash: TWO, namespace: "m", ...store });
    const { keys, namespaces } = shares.read(ACCOUNT, { ...caller, namespace: "n" });
    expect(keys).toMatchObject([{ name: KEYS[0]?.id, stores: 1 }]);
    expect(namespaces).toMatchObject([{ name: "n", stores: 2 }]);
  });

  it("are forgotten with their account", () => {
    const shares = new UsageShares();
    shares.count("acc_a", { keyHash: ONE, namespace: "n", ...store });
    shares.forget("acc_a");
    expect(shares.read(ACCOUNT, caller)).toMatchObject({ keys: [], namespaces: [] });
  });
});
