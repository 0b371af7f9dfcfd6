import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { open, type RootDatabase } from "lmdb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { changePlan, touchKey } from "../../src/accounts/changes.js";
import type { Key } from "../../src/accounts/key.js";
import { LocalAccounts } from "../../src/storage/local/accounts.js";
import { UNWRITTEN_CALLS_MAX, UNWRITTEN_MS_MAX } from "../../src/storage/local/charges.js";
import { writesOf } from "../../src/storage/local/durably.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, anAccount, anLogId } from "../contract/samples.js";

let dataDir: string;
let root: RootDatabase;
let accounts: LocalAccounts;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "recalld-charges-"));
  root = open({ path: join(dataDir, "recalld.mdb"), maxDbs: 32 });
  accounts = new LocalAccounts(root);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await accounts.charges.close().catch(() => {});
  await root.close();
  await rm(dataDir, { recursive: true });
});

async function create(given = {}) {
  const account = anAccount(given);
  await accounts.create(account);
  return { accountId: account.id, keyHash: (account.keys[0] as Key).hash };
}

const leftOf = async (accountId: string) => (await accounts.find(accountId))?.callsLeft;
const times = <T>(length: number, make: () => T) => Array.from({ length }, make);
/** Reads what would be found if the process were killed now. */
const writtenOf = (accountId: string) =>
  (root.openDB("accounts", { encoding: "json" }).get(accountId) as { callsLeft: number }).callsLeft;

interface Transactions {
  transaction<T>(action: () => T): Promise<T>;
}

/** Returns what all databases of LMDB inherit their transactions from. */
function transactions(): Transactions {
  let found: Transactions = root;
  while (!Object.hasOwn(found, "transaction")) found = Object.getPrototypeOf(found);
  return found;
}

/** Lets transactions fail as if the disk were full, until the returned function is called. */
function fillDisk(): () => void {
  const full = () => Promise.reject(Object.assign(new Error("no space"), { code: 28 }));
  const spy = vi.spyOn(transactions(), "transaction").mockImplementation(full);
  return () => spy.mockRestore();
}

/** Holds transactions up as if the disk hung, until the returned function is called. */
function stopDisk(): () => void {
  const { transaction } = transactions();
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const spy = vi.spyOn(transactions(), "transaction");
  spy.mockImplementation((action) => released.then(() => transaction.call(root, action)) as never);
  return goOn;
}

it("lets exactly the last 1,000 of 1,500 calls at once through, beside changes of the plan", async () => {
  const payer = await create({ callsLimit: 1_000, callsLeft: 900 });
  const plan = { accountId: payer.accountId, plan: "other", callsLimit: 1_100 };
  const charges = times(750, () => accounts.charge(payer));
  await changePlan(accounts, plan);
  charges.push(...times(750, () => accounts.charge(payer)));
  const charged = (await Promise.all(charges)).filter(Boolean);
  expect(charged).toHaveLength(1_000);
  expect(await leftOf(payer.accountId)).toBe(0);
  await accounts.charges.write();
  expect(writtenOf(payer.accountId)).toBe(0);
});

it("writes the charges of some milliseconds in one transaction, which no call waits for", async () => {
  const [one, other] = [await create({ callsLeft: 500 }), await create({ callsLeft: 500 })];
  const spy = vi.spyOn(transactions(), "transaction");
  await Promise.all(times(100, () => accounts.charge(one)));
  for (const payer of times(100, () => other)) await accounts.charge(payer);
  expect([await leftOf(one.accountId), await leftOf(other.accountId)]).toEqual([400, 400]);
  expect(writtenOf(one.accountId)).toBe(500);
  await vi.waitFor(
    () => expect([one, other].map((payer) => writtenOf(payer.accountId))).toEqual([400, 400]),
    1_000,
  );
  expect(spy).toHaveBeenCalledOnce();
});

it("counts each charge once at every moment, while groups are written", async () => {
  const payer = await create({ callsLimit: 100_000, callsLeft: 100_000 });
  let taken = 0;
  for (const endMs = performance.now() + 500; performance.now() < endMs; ) {
    if (await accounts.charge(payer)) taken++;
    if (taken % 3 === 0) accounts.charges.send();
    if (taken % 7 === 0) await touchKey(accounts, { ...payer, atMs: taken });
    if (taken % 5 === 0) await new Promise(setImmediate);
    expect(await leftOf(payer.accountId)).toBe(100_000 - taken);
  }
  await accounts.charges.write();
  expect(writtenOf(payer.accountId)).toBe(100_000 - taken);
});

it("counts on from what an account includes, long after its charges were written", async () => {
  const payer = await create({ callsLimit: 10, callsLeft: 10 });
  for (const left of [8, 6]) {
    await accounts.charge({ ...payer, calls: 3 });
    await accounts.charges.write();
    await accounts.refund(payer.accountId);
    expect(await leftOf(payer.accountId)).toBe(left);
    await accounts.charges.write();
    await sleep(1_100);
    expect([await leftOf(payer.accountId), writtenOf(payer.accountId)]).toEqual([left, left]);
  }
});

it("keeps charges that could not be written, refuses others meanwhile, and writes them later", async () => {
  const payer = await create({ callsLimit: 10, callsLeft: 10 });
  await accounts.charge(payer);
  const freeDisk = fillDisk();
  await accounts.charge(payer);
  await expect(accounts.charges.write()).rejects.toMatchObject({ code: "unavailable" });
  await expect(accounts.charge(payer)).rejects.toMatchObject({ code: "unavailable" });
  expect([await leftOf(payer.accountId), writtenOf(payer.accountId)]).toEqual([8, 10]);
  await accounts.refund(payer.accountId);
  expect(await leftOf(payer.accountId)).toBe(9);
  freeDisk();
  await sleep(1_100);
  await writesOf(root).check();
  // Nothing asks for it: a pause after the failure it is tried again.
  await vi.waitFor(() => expect(writtenOf(payer.accountId)).toBe(9), 3_000);
  expect(await accounts.charge(payer)).toBe(true);
});

it("counts right after a transaction that failed though other charges followed it", async () => {
  const payer = await create({ callsLimit: 10, callsLeft: 10 });
  await accounts.charge(payer);
  const freeDisk = fillDisk();
  const failed = accounts.charges.write();
  await accounts.charge(payer);
  freeDisk();
  await expect(failed).rejects.toMatchObject({ code: "unavailable" });
  expect(await leftOf(payer.accountId)).toBe(8);
});

it("lets no more charges through than a bound while the disk takes nothing, then lets them wait", async () => {
  const payer = await create({ callsLimit: 5_000, callsLeft: 5_000 });
  const goOn = stopDisk();
  let through = 0;
  const charging = (async () => {
    for (; through < 3 * UNWRITTEN_CALLS_MAX; through++) await accounts.charge(payer);
  })();
  await sleep(2 * UNWRITTEN_MS_MAX);
  // On a slow machine, the time is over first.
  const before = through;
  expect(before).toBeLessThanOrEqual(UNWRITTEN_CALLS_MAX);
  await sleep(UNWRITTEN_MS_MAX);
  expect(through).toBe(before);
  goOn();
  await charging;
  expect(await leftOf(payer.accountId)).toBe(5_000 - 3 * UNWRITTEN_CALLS_MAX);
});

it("lets a charge wait for the disk when an older one has waited too long", async () => {
  const payer = await create({ callsLeft: 9 });
  const goOn = stopDisk();
  await accounts.charge(payer);
  await sleep(UNWRITTEN_MS_MAX + 10);
  const waiting = accounts.charge(payer);
  expect(await Promise.race([waiting, sleep(50, "it waits")])).toBe("it waits");
  goOn();
  expect(await waiting).toBe(true);
  expect([await leftOf(payer.accountId), writtenOf(payer.accountId)]).toEqual([7, 8]);
});

it("has the charges in a backup, after an append and after the end", async () => {
  const [folder, copy] = [join(dataDir, "all"), join(dataDir, "copy.mdb")];
  const storage = await openLocal({ dataDir: folder });
  const account = anAccount({ callsLeft: 100 });
  await storage.accounts.create(account);
  const payer = { accountId: account.id, keyHash: (account.keys[0] as Key).hash };
  const inFile = async (path: string) => {
    const file = open({ path, maxDbs: 32, readOnly: true });
    const { callsLeft } = file.openDB("accounts", { encoding: "json" }).get(account.id) as typeof account;
    await file.close();
    return callsLeft;
  };
  await storage.accounts.charge(payer);
  await storage.backUp?.(copy);
  expect(await inFile(copy)).toBe(99);
  await storage.accounts.charge(payer);
  await storage.log.append({ logId: anLogId(), from: 1, entries: [aMemory()] });
  await storage.backUp?.(`${copy}.mdb`);
  expect(await inFile(`${copy}.mdb`)).toBe(98);
  await storage.accounts.charge(payer);
  await storage.close();
  expect(await inFile(join(folder, "recalld.mdb"))).toBe(97);
});
