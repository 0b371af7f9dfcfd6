import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toJson } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { GetUsageRequestSchema, GetUsageResponseSchema } from "../../gen/recalld/v1/account_pb.js";
import type { Account, Accounts } from "../../src/accounts/account.js";
import type { CallRecord, Calls } from "../../src/accounts/calls/calls.js";
import {
  CALLS_SEARCHED_MAX,
  type CallsFilter,
  listRecentCalls,
  readShares,
  SHARES_MAX,
} from "../../src/accounts/calls/read-calls.js";
import {
  type CallRecorder,
  type CallRecorderOptions,
  openCallRecorder,
  RECORD_AGE_MS_MAX,
  WAITING_BYTES_MAX,
  WRITE_MS,
} from "../../src/accounts/calls/record-calls.js";
import { makeKey } from "../../src/accounts/key.js";
import { DAY_MS, NOTHING } from "../../src/accounts/usage.js";
import type { Call } from "../../src/server/call.js";
import { type AccountPorts, accountService } from "../../src/server/rpc/account-service.js";
import { openLocal } from "../../src/storage/local/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { aCall } from "../contract/calls.js";
import { aScope } from "../contract/samples.js";

const KEYS = ["one", "two"].map((name) => makeKey({ name }).key);
const [ONE, TWO] = KEYS.map(({ id }) => id) as [string, string];
const dataDir = mkdtempSync(join(tmpdir(), "recalld-calls-"));
let storage: Storage;
const recorders: CallRecorder[] = [];
beforeAll(async () => {
  storage = await openLocal({ dataDir });
});
afterEach(async () => {
  vi.useRealTimers();
  for (const recorder of recorders.splice(0)) await recorder.close();
});
afterAll(async () => {
  await storage.close();
  rmSync(dataDir, { recursive: true });
});

function aRecorder(given: Partial<CallRecorderOptions> & { calls?: Calls } = {}): CallRecorder {
  const { calls = storage.calls, ...options } = given;
  const recorder = openCallRecorder(calls, {
    accounts: storage.accounts,
    names: storage.names,
    days: 30,
    max: 1_000,
    onLost: vi.fn(),
    onTrouble: vi.fn(),
    ...options,
  });
  recorders.push(recorder);
  return recorder;
}

function setUp() {
  const account: Account = {
    id: aScope().accountId,
    email: "",
    plan: "free",
    callsLimit: 9,
    callsLeft: 9,
    keys: KEYS,
    createdAtMs: 0,
  };
  const accounts = { findByKey: async () => account } as unknown as Accounts;
  const caller = { accountId: account.id, keyHash: KEYS[0]?.hash ?? "", access: "full" as const };
  const note = (recorder: CallRecorder, given: Partial<CallRecord> = {}) => {
    const { id: _, ...call } = aCall({ accountId: account.id, keyId: ONE, ...given });
    recorder.note({}, call);
  };
  return { account, accounts, caller, note };
}

describe("calls", () => {
  it("are written in time without anyone asking", async () => {
    const { account, note } = setUp();
    const recorder = aRecorder();
    note(recorder);
    await vi.waitFor(
      async () => expect(await storage.calls.list({ accountId: account.id, limit: 9 })).toHaveLength(1),
      2 * WRITE_MS,
    );
  });

  it("wait within a bound for a database that is away, and are lost when they are late", async () => {
    vi.useFakeTimers();
    const { note } = setUp();
    const add = vi.fn().mockRejectedValue(new Error("away"));
    const [onLost, onTrouble] = [vi.fn(), vi.fn()];
    const recorder = aRecorder({ calls: { add } as unknown as Calls, onLost, onTrouble });
    note(recorder);
    await vi.advanceTimersByTimeAsync(RECORD_AGE_MS_MAX - 1);
    expect(onTrouble).toHaveBeenCalled();
    expect(onLost).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(WRITE_MS + 1);
    expect(onLost.mock.calls).toEqual([[1]]);
    const message = "x".repeat(1_000);
    for (let bytes = 0; bytes <= WAITING_BYTES_MAX; bytes += 2_000) note(recorder, { message });
    const refused = onLost.mock.calls.length - 1;
    expect(refused).toBeGreaterThan(0);
    add.mockResolvedValue(undefined);
    await vi.advanceTimersByTimeAsync(WRITE_MS);
    note(recorder, { message });
    expect(onLost).toHaveBeenCalledTimes(1 + refused);
  });

  it("of an account that calls much stay within its limit, about, and 0 keeps none", async () => {
    const { account, note } = setUp();
    const recorder = aRecorder({ max: 5 });
    for (let i = 0; i < 50; i++) note(recorder, { requestId: `${i}` });
    const kept = await recorder.list({ accountId: account.id, limit: 99 });
    expect(kept.map(({ requestId }) => requestId)).toEqual(["49", "48", "47", "46", "45"]);
    const without = aRecorder({ max: 0 });
    note(without, { requestId: "none" });
    expect((await without.list({ accountId: account.id, limit: 1 }))[0]?.requestId).toBe("49");
  });

  it("are removed when they are old, and with a closed account, also if another process was late", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "Date"] });
    const [old, closed] = [setUp(), setUp()];
    const isClosed = async (id: string) => id === closed.account.id;
    const recorder = aRecorder({ accounts: { isClosed } });
    old.note(recorder, { atMs: Date.now() - 31 * DAY_MS, ms: 31 * DAY_MS });
    old.note(recorder, { requestId: "new" });
    closed.note(recorder);
    await recorder.list({ accountId: "", limit: 1 });
    vi.advanceTimersByTime(60_000);
    await vi.waitFor(async () => {
      const list = (accountId: string) => storage.calls.list({ accountId, limit: 9 });
      expect(await list(closed.account.id)).toEqual([]);
      expect(await list(old.account.id)).toMatchObject([{ requestId: "new" }]);
    });
  });
});

describe("a list of calls", () => {
  const request = { pageSize: undefined, pageToken: "", filter: {} };

  it("goes on after a page although others came meanwhile", async () => {
    const { accounts, caller, note } = setUp();
    const calls = aRecorder();
    for (let i = 0; i < 4; i++) note(calls, { requestId: `${i}` });
    const ports = { accounts, calls };
    const first = await listRecentCalls(ports, { ...request, caller, pageSize: 2 });
    note(calls, { requestId: "new" });
    const pageToken = first.nextPageToken;
    const second = await listRecentCalls(ports, { ...request, caller, pageSize: 2, pageToken });
    expect(second.calls.map(({ requestId }) => requestId)).toEqual(["1", "0"]);
    expect(second.nextPageToken).toBe("");
    expect(first.sinceMs).toBeGreaterThan(Date.now() - 31 * DAY_MS);
  });

  it("has failures alone on request, names the key while it lives, and hides others from a limited key", async () => {
    const { accounts, caller, note } = setUp();
    const calls = aRecorder();
    note(calls);
    note(calls, { code: "not_found", keyId: TWO });
    note(calls, { code: "unavailable", keyId: "key_gone" });
    const failed = await listRecentCalls(
      { accounts, calls },
      { ...request, caller, filter: { errorsOnly: true } },
    );
    expect(failed.calls.map(({ code, keyId }) => [code, keyId])).toEqual([
      ["unavailable", ""],
      ["not_found", TWO],
    ]);
    const limited = { ...caller, namespace: "n" };
    const own = await listRecentCalls({ accounts, calls }, { ...request, caller: limited });
    expect(own.calls).toMatchObject([{ code: "ok", keyId: ONE }]);
  });

  it("has what fits every part of a choice, page by page", async () => {
    const { account, accounts, caller } = setUp();
    const { id: accountId } = account;
    const [stored, other, failed] = [
      aCall({ accountId, keyId: ONE, method: "s/Store", namespace: "näme" }),
      aCall({ accountId, keyId: TWO, method: "s/Store", namespace: "other" }),
      aCall({ accountId, keyId: ONE, namespace: "other", code: "aborted" }),
    ] as const;
    // More than are read at a time lie between them.
    const between = () => Array.from({ length: 300 }, () => aCall({ accountId, keyId: ONE }));
    await storage.calls.add([stored, ...between(), other, ...between(), failed]);
    const ports = { accounts, calls: aRecorder() };
    const list = async (filter: CallsFilter) =>
      (await listRecentCalls(ports, { ...request, caller, filter })).calls;
    expect(await list({ method: "s/Store" })).toEqual([other, stored]);
    expect(await list({ namespace: "näme" })).toEqual([stored]);
    expect(await list({ code: "aborted", errorsOnly: true })).toEqual([failed]);
    expect(await list({ code: "ok", errorsOnly: true })).toEqual([]);
    expect(await list({ code: "ok", keyId: TWO, namespace: "other" })).toEqual([other]);
    expect(await list({ keyId: TWO, namespace: "näme" })).toEqual([]);
    const some = { ...request, caller, pageSize: 1, filter: { method: "s/Store" } };
    const first = await listRecentCalls(ports, some);
    expect(first).toMatchObject({ calls: [other], nextPageToken: other.id });
    const second = await listRecentCalls(ports, { ...some, pageToken: other.id });
    expect(second).toMatchObject({ calls: [stored], nextPageToken: "" });
  });

  it("looks through a bounded number of records for a filtered page, and names where to go on", async () => {
    const { account, accounts, caller } = setUp();
    const one = { accountId: account.id, keyId: ONE };
    const wanted = aCall({ ...one, code: "aborted" });
    const others = Array.from({ length: CALLS_SEARCHED_MAX }, () => aCall(one));
    await storage.calls.add([wanted, ...others]);
    const ports = { accounts, calls: aRecorder() };
    const filtered = { ...request, caller, filter: { code: "aborted" } };
    const first = await listRecentCalls(ports, filtered);
    expect(first).toMatchObject({ calls: [], nextPageToken: others[0]?.id });
    const second = await listRecentCalls(ports, { ...filtered, pageToken: first.nextPageToken });
    expect(second).toMatchObject({ calls: [wanted], nextPageToken: "" });
  });

  it("of a limited key has nothing of another key", async () => {
    const { accounts, caller, note } = setUp();
    const calls = aRecorder();
    note(calls, { keyId: TWO });
    const limited = { ...request, caller: { ...caller, namespace: "n" }, filter: { keyId: TWO } };
    expect(await listRecentCalls({ accounts, calls }, limited)).toMatchObject({
      calls: [],
      nextPageToken: "",
    });
  });

  it("refuses a page size and a token that are none", async () => {
    const { accounts, caller } = setUp();
    const ports = { accounts, calls: aRecorder() };
    for (const pageSize of [0, 101, 1.5]) {
      const refused = listRecentCalls(ports, { ...request, caller, pageSize });
      await expect(refused).rejects.toMatchObject({ field: "page_size" });
    }
    for (const pageToken of ["0", "call_", "call_zzzzzzzzzzzzzzzzzzzzzzzzzz"]) {
      const refused = listRecentCalls(ports, { ...request, caller, pageToken });
      await expect(refused).rejects.toMatchObject({ field: "page_token" });
    }
  });
});

describe("shares of usage", () => {
  const store = { ...NOTHING, stores: 1, tokensStored: 3 };
  const recall = { ...NOTHING, recalls: 1, tokensQueried: 5 };

  it("are summed up by key and by namespace, those with most calls first", async () => {
    const { account, caller, note } = setUp();
    const calls = aRecorder();
    note(calls, { namespace: "n", used: store });
    note(calls, { namespace: "n", code: "aborted" });
    for (let i = 0; i < 700; i++) note(calls, { keyId: TWO, namespace: "m", used: recall });
    expect(await readShares(calls, account, caller)).toMatchObject({
      keys: [
        { name: TWO, stores: 0, recalls: 700, tokensStored: 0, tokensQueried: 3_500 },
        { name: ONE, stores: 1, recalls: 0, tokensStored: 3, tokensQueried: 0 },
      ],
      namespaces: [
        { name: "m", recalls: 700 },
        { name: "n", stores: 1, recalls: 0 },
      ],
    });
    const limited = { ...caller, namespace: "m" };
    expect(await readShares(calls, account, limited)).toMatchObject({
      keys: [{ name: ONE, stores: 1 }],
      namespaces: [{ name: "m", recalls: 700 }],
    });
  });

  it("of a key that is gone, and of all beyond the first ones, are one", async () => {
    const { account, caller, note } = setUp();
    const calls = aRecorder({ max: 100 });
    const atMs = Date.now() - 5_000;
    for (let i = 0; i < 100; i++)
      note(calls, { keyId: "gone", namespace: `n${i}`, atMs: atMs + i, used: store });
    const { keys, namespaces, sinceMs } = await readShares(calls, account, caller);
    expect(keys).toMatchObject([{ name: "", stores: 100 }]);
    expect(namespaces).toHaveLength(SHARES_MAX + 1);
    expect(namespaces.at(-1)).toMatchObject({ name: "", stores: 100 - SHARES_MAX });
    expect(sinceMs).toBe(atMs);
  });

  it("are told since a time that JSON has, though a call begins within a millisecond", async () => {
    const { accounts, caller, note } = setUp();
    const calls = aRecorder({ max: 2 });
    const atMs = Date.now() - 5_000;
    for (let i = 0; i < 3; i++) note(calls, { namespace: "n", atMs: atMs + 0.1, used: store });
    const service = accountService({ ...storage, accounts, calls } as unknown as AccountPorts);
    const answer = await service.getUsage(create(GetUsageRequestSchema), { caller } as Call);
    const json = toJson(GetUsageResponseSchema, create(GetUsageResponseSchema, answer));
    expect(json).toMatchObject({ since: new Date(atMs).toISOString() });
  });
});
