import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Account, Accounts } from "../../src/accounts/account.js";
import { type Credential, openAuthenticator, PLAN_TTL_MS } from "../../src/accounts/authenticate.js";
import { crowdedOut } from "../../src/accounts/changes.js";
import { eraseAccount } from "../../src/accounts/close.js";
import { type Key, makeKey, makeSession, NEVER_MS } from "../../src/accounts/key.js";
import { openLastUsed } from "../../src/accounts/last-used.js";
import { type AccountHour, getUsage, openUsageCounter, type Usage } from "../../src/accounts/usage.js";
import { VISIT_MS } from "../../src/accounts/visiting-accounts.js";

const NOON_MS = Date.UTC(2026, 10, 21, 12);
const EVERY_MS = 1_000;

beforeEach(() => void vi.useFakeTimers({ now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

function anAccount(keys: readonly Key[]): Account {
  return { id: "acc_a", email: "", plan: "free", callsLimit: 9, callsLeft: 9, keys, createdAtMs: 0 };
}

describe("a key", () => {
  it("is made with its own id and prefix, without an end, and without its secret", () => {
    const { secret, key } = makeKey({ name: "a" });
    expect(key).toMatchObject({
      name: "a",
      prefix: secret.slice(0, 8),
      access: "full",
      expiresAtMs: NEVER_MS,
    });
    expect(key.id).toMatch(/^key_[0-9a-z]{26}$/);
    expect(JSON.stringify(key)).not.toContain(secret);
    expect(makeKey({ name: "a" }).key.id).not.toBe(key.id);
  });
});

describe("the authenticate", () => {
  const authenticatorOf = (account: Account) => {
    const changed: (readonly Key[] | undefined)[] = [];
    const findByKey = vi.fn(async () => account);
    const change: Accounts["change"] = async (_id, to) => changed.push(to(account)?.keys) > 0;
    const accounts = { findByKey, change };
    const used = vi.fn();
    const from = openAuthenticator({ accounts: accounts as unknown as Accounts, onUse: used });
    const open = (credential: Credential | undefined) => from(credential, "192.0.2.1");
    const authenticate = (key: string | undefined) => open(key === undefined ? undefined : { key });
    return { from, open, authenticate, changed, findByKey, used };
  };

  it("says what a key may do, and remembers it", async () => {
    const { secret, key } = makeKey({ name: "", access: "read_only", namespace: "n" });
    const { authenticate, findByKey, used } = authenticatorOf(anAccount([key]));
    const caller = {
      accountId: "acc_a",
      keyId: key.id,
      keyHash: key.hash,
      access: "read_only",
      namespace: "n",
      plan: "free",
    };
    expect([await authenticate(secret), await authenticate(secret)]).toEqual([caller, caller]);
    expect(findByKey).toHaveBeenCalledTimes(1);
    expect(used).toHaveBeenCalledTimes(2);
  });

  it("follows a change of the plan within a minute, also at the first call after a long time", async () => {
    const { secret, key } = makeKey({ name: "" });
    const { authenticate, findByKey } = authenticatorOf(anAccount([key]));
    await authenticate(secret);
    findByKey.mockResolvedValue({ ...anAccount([key]), plan: "team" });
    await vi.advanceTimersByTimeAsync(2 * PLAN_TTL_MS + 1);
    const plans = await Promise.all([authenticate(secret), authenticate(secret)]);
    expect(plans.map(({ plan }) => plan)).toEqual(["team", "team"]);
    expect(findByKey).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["is away", () => Promise.reject(new Error("away"))],
    ["does not answer", () => new Promise<never>(() => {})],
  ])(
    "keeps the plan of long ago where the database %s, and waits for it but once, and not long",
    async (_, read) => {
      const { secret, key } = makeKey({ name: "" });
      const { authenticate, findByKey } = authenticatorOf(anAccount([key]));
      await authenticate(secret);
      findByKey.mockImplementation(read);
      await vi.advanceTimersByTimeAsync(2 * PLAN_TTL_MS + 1);
      const waiting = authenticate(secret);
      await vi.advanceTimersByTimeAsync(1_000);
      expect([(await waiting).plan, (await authenticate(secret)).plan]).toEqual(["free", "free"]);
      expect(findByKey).toHaveBeenCalledTimes(2);
    },
  );

  it("reads a plan again behind a call that comes soon, and a database that is away changes nothing", async () => {
    const { secret, key } = makeKey({ name: "" });
    const { authenticate, findByKey } = authenticatorOf(anAccount([key]));
    expect((await authenticate(secret)).plan).toBe("free");
    findByKey.mockRejectedValue(new Error("away"));
    await vi.advanceTimersByTimeAsync(PLAN_TTL_MS + 1);
    expect([(await authenticate(secret)).plan, (await authenticate(secret)).plan]).toEqual(["free", "free"]);
    expect(findByKey).toHaveBeenCalledTimes(2);
    findByKey.mockResolvedValue({ ...anAccount([key]), plan: "team" });
    await vi.advanceTimersByTimeAsync(PLAN_TTL_MS + 1);
    expect([(await authenticate(secret)).plan, (await authenticate(secret)).plan]).toEqual(["free", "team"]);
  });

  it("refuses a revoked key by itself from the next reading of its plan on", async () => {
    const { secret, key } = makeKey({ name: "" });
    const { authenticate, findByKey } = authenticatorOf(anAccount([key]));
    await authenticate(secret);
    findByKey.mockResolvedValue(undefined as never);
    await vi.advanceTimersByTimeAsync(PLAN_TTL_MS + 1);
    // The charge refuses this one.
    await authenticate(secret);
    for (let times = 0; times < 3; times++)
      await expect(authenticate(secret)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(findByKey).toHaveBeenCalledTimes(2);
  });

  it("ends the replaced key at the new one's first use, and only then", async () => {
    const old = makeKey({ name: "" }).key;
    const { secret, key } = makeKey({ name: "", replaces: old.id, graceMs: 5_000 });
    const { authenticate, changed } = authenticatorOf(anAccount([old, key]));
    await authenticate(secret);
    await authenticate(secret);
    const { replaces, graceMs, ...settled } = key;
    expect(changed).toEqual([[{ ...old, expiresAtMs: NOON_MS + 5_000 }, settled]]);
  });

  it("ends a key whose successor was itself replaced before anybody used it", async () => {
    const oldest = makeKey({ name: "" }).key;
    const unused = makeKey({ name: "", replaces: oldest.id, graceMs: 60_000 }).key;
    const { secret, key } = makeKey({ name: "", replaces: unused.id, graceMs: 5_000 });
    const { authenticate, changed } = authenticatorOf(anAccount([oldest, unused, key]));
    await authenticate(secret);
    const expiresAtMs = NOON_MS + 5_000;
    expect(changed[0]).toMatchObject([
      { ...oldest, expiresAtMs },
      { ...unused, expiresAtMs },
      { id: key.id },
    ]);
  });

  it("leaves the end to the next use when the database fails", async () => {
    const { secret, key } = makeKey({ name: "", replaces: "key_old" });
    const { authenticate, changed, findByKey } = authenticatorOf(anAccount([key]));
    findByKey.mockRejectedValueOnce(new Error("away"));
    await expect(authenticate(secret)).rejects.toThrow("away");
    await authenticate(secret);
    expect(changed).toHaveLength(1);
  });

  it("lets a session stand for its key, under the key's hash and its own", async () => {
    const { key } = makeKey({ name: "", access: "read_only", namespace: "n" });
    const { secret, session } = makeSession({ expiresAtMs: NOON_MS + 1_000 });
    const { open, used } = authenticatorOf(anAccount([{ ...key, sessions: [session] }]));
    const ids = { accountId: "acc_a", keyId: key.id };
    const caller = { ...ids, keyHash: key.hash, sessionHash: session.hash, namespace: "n" };
    expect(await open({ session: secret })).toEqual({ ...caller, access: "read_only", plan: "free" });
    expect(used).toHaveBeenCalledTimes(1);
    // Neither is taken for the other.
    await expect(open({ key: secret })).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(open({ session: makeKey({ name: "" }).secret })).rejects.toThrow("not a session");
  });

  it.each([
    ["key", { expiresAtMs: NOON_MS + 1_000 }, {}],
    ["session", {}, { expiresAtMs: NOON_MS + 1_000 }],
    ["session whose key ends first", { expiresAtMs: NOON_MS + 1_000 }, {}],
  ])("refuses a known %s from its end on, without asking the database", async (what, ofKey, ofSession) => {
    const { secret: whole, key } = makeKey({ name: "", ...ofKey });
    const { secret, session } = makeSession({ expiresAtMs: NEVER_MS, ...ofSession });
    const { open, findByKey } = authenticatorOf(anAccount([{ ...key, sessions: [session] }]));
    const shown = what === "key" ? { key: whole } : { session: secret };
    await open(shown);
    vi.setSystemTime(NOON_MS + 999);
    await open(shown);
    vi.setSystemTime(NOON_MS + 1_000);
    await expect(open(shown)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(findByKey).toHaveBeenCalledTimes(1);
  });

  it("turns away keys that no account has", async () => {
    const { authenticate } = authenticatorOf(anAccount([]));
    for (const key of [undefined, "nonsense", makeKey({ name: "" }).secret]) {
      await expect(authenticate(key)).rejects.toMatchObject({ code: "unauthenticated" });
    }
  });

  const unknown = () => ({ key: makeKey({ name: "" }).secret });
  const limited = { code: "resource_exhausted", reason: "RATE_LIMITED", retryAfterMs: 1_000 };
  const codesOf = async (calls: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(calls)).map((each) => (each.status === "rejected" ? each.reason.code : "ok"));

  it("looks up 100 unknown keys of a network, and then one a second", async () => {
    const { from, findByKey } = authenticatorOf(anAccount([]));
    for (let n = 0; n < 100; n++) {
      await expect(from(unknown(), "a")).rejects.toMatchObject({ code: "unauthenticated" });
    }
    await expect(from(unknown(), "a")).rejects.toMatchObject(limited);
    expect(findByKey).toHaveBeenCalledTimes(100);
    await expect(from(unknown(), "b")).rejects.toMatchObject({ code: "unauthenticated" });
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(from(unknown(), "a")).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(from(unknown(), "a")).rejects.toMatchObject(limited);
  });

  it("looks up any number of keys that exist, as a network of many users shows them after a restart", async () => {
    const keys = Array.from({ length: 500 }, () => makeKey({ name: "" }));
    const { from, findByKey } = authenticatorOf(anAccount(keys.map(({ key }) => key)));
    for (const { secret } of keys) await from({ key: secret }, "a");
    expect(findByKey).toHaveBeenCalledTimes(500);
    await expect(from(unknown(), "a")).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("lets known keys pass where the network has shown too many unknown ones, but no new ones", async () => {
    const [old, fresh] = [makeKey({ name: "" }), makeKey({ name: "" })];
    const { from } = authenticatorOf(anAccount([old.key, fresh.key]));
    await from({ key: old.secret }, "a");
    await codesOf(Array.from({ length: 100 }, () => from(unknown(), "a")));
    await from({ key: old.secret }, "a");
    await expect(from({ key: fresh.secret }, "a")).rejects.toMatchObject(limited);
    await from({ key: fresh.secret }, "b");
  });

  it("looks a key up once for all calls that show it at the same time", async () => {
    const { secret, key } = makeKey({ name: "" });
    const { from, findByKey } = authenticatorOf(anAccount([key]));
    const codes = await codesOf(Array.from({ length: 1_000 }, () => from({ key: secret }, "a")));
    expect(new Set(codes)).toEqual(new Set(["ok"]));
    expect(findByKey).toHaveBeenCalledTimes(1);
  });

  it("refuses an unknown key that comes again from memory, and looks it up again after ten seconds", async () => {
    const { from, findByKey } = authenticatorOf(anAccount([]));
    const wrong = unknown();
    for (let n = 0; n < 1_000; n++) {
      await expect(from(wrong, "a")).rejects.toMatchObject({ code: "unauthenticated" });
    }
    expect(findByKey).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_001);
    await expect(from(wrong, "a")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(findByKey).toHaveBeenCalledTimes(2);
  });

  it("counts an expired key as an unknown one", async () => {
    const { secret, key } = makeKey({ name: "", expiresAtMs: NOON_MS });
    const { from, findByKey } = authenticatorOf(anAccount([key]));
    for (let n = 0; n < 3; n++) {
      await expect(from({ key: secret }, "a")).rejects.toMatchObject({ code: "unauthenticated" });
    }
    expect(findByKey).toHaveBeenCalledTimes(1);
  });

  it("looks up 100 keys of a network at a time, and counts none that the database had no answer for", async () => {
    const { from, findByKey } = authenticatorOf(anAccount([]));
    findByKey.mockImplementation(async () => {
      await new Promise((done) => setTimeout(done, 50));
      throw new Error("away");
    });
    const calls = codesOf(Array.from({ length: 101 }, () => from(unknown(), "a")));
    await vi.advanceTimersByTimeAsync(50);
    expect((await calls).filter((code) => code === "resource_exhausted")).toHaveLength(1);
    findByKey.mockReset();
    await codesOf(Array.from({ length: 99 }, () => from(unknown(), "a")));
    await expect(from(unknown(), "a")).rejects.toMatchObject({ code: "unauthenticated" });
  });
});

describe("when keys were last used", () => {
  let account = anAccount([]);
  const change = vi.fn<Accounts["change"]>(async (_, to) => {
    account = to(account) ?? account;
    return true;
  });
  const trouble = vi.fn();
  const open = () => openLastUsed({ change }, { everyMs: EVERY_MS, onTrouble: trouble });
  const use = { accountId: "acc_a", keyHash: "h" };
  const usedAt = () => account.keys.map(({ lastUsedAtMs }) => lastUsedAtMs);
  beforeEach(() => {
    account = anAccount(["h", "other"].map((hash) => ({ ...makeKey({ name: hash }).key, hash })));
    change.mockClear();
  });

  it("is written once a minute for each key, and is never before the key was made", async () => {
    const lastUsed = open();
    const atMs = NOON_MS + 59_000;
    vi.setSystemTime(atMs);
    for (let i = 0; i < 5; i++) lastUsed.note(use);
    lastUsed.note({ ...use, keyHash: "other" });
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(usedAt()).toEqual([atMs, atMs]);
    expect(change).toHaveBeenCalledTimes(2);
    lastUsed.note(use);
    await lastUsed.close();
    expect(usedAt()).toEqual([NOON_MS + 60_000, atMs]);
    expect(change).toHaveBeenCalledTimes(3);
  });

  it("is lost, and said, when it cannot be written", async () => {
    const lastUsed = open();
    change.mockRejectedValueOnce(new Error("away"));
    lastUsed.note(use);
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
    expect(trouble).toHaveBeenCalledTimes(1);
    expect(change).toHaveBeenCalledTimes(1);
    await lastUsed.close();
  });
});

describe("usage", () => {
  const kept: AccountHour[][] = [];
  const add = vi.fn<Usage["add"]>(async (days) => void kept.push([...days]));
  const usage = { add, read: async () => [], remove: async () => {}, nextAccount: async () => undefined };
  const trouble = vi.fn();
  const accounts = { isClosed: async () => false };
  const open = () => openUsageCounter(usage, { accounts, everyMs: EVERY_MS, onTrouble: trouble });
  const none = { stores: 0, recalls: 0, tokensStored: 0, tokensQueried: 0 };
  beforeEach(() => {
    kept.length = 0;
    add.mockClear();
  });

  it("is added up by account and UTC hour, and written together", async () => {
    const counter = open();
    counter.count("acc_a", { call: "store", tokens: 3 });
    counter.count("acc_a", { call: "store", tokens: 4 });
    counter.count("acc_b", { call: "recall", tokens: 5 });
    vi.setSystemTime(NOON_MS + 12 * 60 * 60 * 1000);
    counter.count("acc_a", { call: "recall", tokens: 6 });
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(kept).toEqual([
      [
        { accountId: "acc_a", date: "2026-11-21", hour: 12, ...none, stores: 2, tokensStored: 7 },
        { accountId: "acc_b", date: "2026-11-21", hour: 12, ...none, recalls: 1, tokensQueried: 5 },
        { accountId: "acc_a", date: "2026-11-22", hour: 0, ...none, recalls: 1, tokensQueried: 6 },
      ],
    ]);
    await vi.advanceTimersByTimeAsync(5 * EVERY_MS);
    await counter.close();
    expect(add).toHaveBeenCalledTimes(1);
  });

  it("is written again as the same write, and what came later as another, when it cannot be written", async () => {
    const counter = open();
    add.mockRejectedValueOnce(new Error("away"));
    counter.count("acc_a", { call: "store", tokens: 1 });
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(trouble).toHaveBeenCalledTimes(1);
    counter.count("acc_a", { call: "store", tokens: 1 });
    await counter.close();
    expect(kept).toMatchObject([[{ stores: 1, tokensStored: 1 }], [{ stores: 1, tokensStored: 1 }]]);
    const writes = add.mock.calls.map(([, write]) => write);
    expect(writes.map(({ number }) => number)).toEqual([0, 0, 1]);
    expect(new Set(writes.map(({ by }) => by)).size).toBe(1);
  });

  it("is written before it is read", async () => {
    const counter = open();
    counter.count("acc_a", { call: "store", tokens: 1 });
    await counter.read({ accountId: "acc_a", from: "2026-11-01" });
    expect(kept).toHaveLength(1);
    await counter.close();
  });

  it("has an entry for each day asked for, the oldest first", async () => {
    const day = { date: "2026-11-20", ...none, stores: 1 };
    const usage = { read: async () => [day] };
    const accountId = "acc_a";
    expect(await getUsage(usage, { accountId, days: 3 })).toEqual([
      { date: "2026-11-19", ...none },
      day,
      { date: "2026-11-21", ...none },
    ]);
    expect(await getUsage(usage, { accountId })).toHaveLength(30);
    for (const days of [0, 91, 1.5]) {
      await expect(getUsage(usage, { accountId, days })).rejects.toMatchObject({ field: "days" });
    }
  });
});

describe("the sessions of an account", () => {
  const keyWith = (count: number): Key => ({
    ...makeKey({ name: "" }).key,
    sessions: Array.from({ length: count }, () => makeSession({ expiresAtMs: NEVER_MS }).session),
  });

  it("make room by ending the oldest of the key that has most", () => {
    const [few, most, more] = [keyWith(12), keyWith(20), keyWith(18)];
    const idsOf = ({ sessions = [] }: Key) => sessions.map(({ id }) => id);
    expect(crowdedOut({ keys: [few, most, more] })).toEqual(idsOf(most).slice(0, 1));
    expect(crowdedOut({ keys: [few, most, keyWith(17)] })).toEqual([]);
    expect(crowdedOut({ keys: [few, keyWith(20), most] })).toHaveLength(3);
  });
});

describe("closing an account", () => {
  const written: AccountHour[] = [];
  const closed = new Set<string>();
  const open = () =>
    openUsageCounter(
      {
        add: async (hours) => void written.push(...hours),
        read: async () => [],
        remove: async (id) => {
          const others = written.filter(({ accountId }) => accountId !== id);
          written.splice(0, written.length, ...others);
        },
        nextAccount: async (after) => written.map(({ accountId }) => accountId).find((id) => id > after),
      },
      {
        accounts: { isClosed: async (id) => closed.has(id) },
        everyMs: EVERY_MS,
        onTrouble: expect.unreachable,
      },
    );

  it("leaves no usage of calls that ended meanwhile, here or in another process, and no consent", async () => {
    const [usage, other] = [open(), open()];
    const grants = new Set<string>();
    const nothing = async () => {};
    const remove = async (id: string) => {
      for (const each of [usage, other]) each.count(id, { call: "store", tokens: 1 });
      grants.add(id);
      closed.add(id);
    };
    const ports = {
      accounts: { remove },
      grants: { remove: async ({ accountId = "" }) => void grants.delete(accountId) },
      usage,
      calls: { erase: nothing },
      eraseMemories: async () => 0,
    };
    await eraseAccount(ports, "acc_a");
    expect([...grants]).toEqual([]);
    usage.count("acc_a", { call: "recall", tokens: 1 });
    await usage.close();
    await vi.advanceTimersByTimeAsync(VISIT_MS);
    expect(written).toEqual([]);
    await other.close();
  });

  it("leaves no usage that a process wrote before it was killed", async () => {
    const counts = { stores: 1, recalls: 0, tokensStored: 1, tokensQueried: 0 };
    for (const accountId of ["acc_b", "acc_c"])
      written.push({ accountId, date: "2026-11-21", hour: 12, ...counts });
    closed.add("acc_c");
    const usage = open();
    await vi.advanceTimersByTimeAsync(VISIT_MS);
    expect(written.map(({ accountId }) => accountId)).toEqual(["acc_b"]);
    await usage.close();
  });
});
