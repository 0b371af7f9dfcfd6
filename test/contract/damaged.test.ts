import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect, promisify } from "node:util";
import { open } from "lmdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectWhole } from "../../src/memory/ports/names.js";
import { readContents } from "../../src/storage/local/backup/manifest.js";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, anAccount, aScope, entriesOf } from "./samples.js";

const TRY_OUT = join(import.meta.dirname, "children", "try-out.ts");
const MEMORIES = 200;
const PAGE = 4096;

type Damaging = (file: Buffer) => Buffer | undefined;

const DAMAGES: readonly [name: string, damaging: Damaging, reason: RegExp][] = [
  ["is empty", () => Buffer.alloc(0), /is empty/],
  ["has a few bytes", (file) => file.subarray(0, 100), /has only 100 bytes/],
  ["is cut off in its second page", (file) => file.subarray(0, PAGE + 100), /has only 4196 bytes/],
  ["is cut off in the middle", (file) => file.subarray(0, file.length / 2), /ends before page/],
  ["has a first page of zeros", (file) => void file.fill(0, 0, PAGE), /its header is all zeros/],
  ["has headers of zeros", (file) => void file.fill(0, 0, 2 * PAGE), /is all zeros/],
  ["is all zeros", (file) => void file.fill(0), /is all zeros/],
  ["is of another program", (file) => void file.fill("text "), /is not that of an LMDB database/],
  [
    "has another data version",
    (file) => void file.writeUInt16LE(1, 28),
    /data version 1; this program reads 2/,
  ],
  ["has a page size of nothing", (file) => void file.writeUInt32LE(0, 48), /page size of 0 bytes/],
  [
    "has a last page that no file has",
    (file) => void file.writeBigUInt64LE(1n << 60n, PAGE + 144),
    /it has no page 11529215046068/,
  ],
  ["has flags that nobody set", (file) => void file.writeUInt16LE(0xffff, 52), /unknown flags/],
];

describe("a damaged file of the local database", () => {
  let folder: string;
  let whole: Buffer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "recalld-damaged-"));
    whole = await aDatabase(join(folder, "whole"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Tries each copy in a process that continues with the next one unless a damage kills it. */
  const tryOut = async (damagings: readonly Damaging[]) => {
    const dataDirs: string[] = [];
    for (const [i, damaging] of damagings.entries()) {
      const copy = Buffer.from(whole);
      const dataDir = join(folder, `copy-${i}`);
      dataDirs.push(dataDir);
      await rm(dataDir, { recursive: true, force: true });
      await mkdir(dataDir);
      await writeFile(join(dataDir, "recalld.mdb"), damaging(copy) ?? copy);
    }
    const args = ["--import", "tsx", TRY_OUT, ...dataDirs];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 }).catch(
      ({ signal, stdout }) => {
        throw new Error(`ended by ${signal}: ${stdout.slice(-200)}`);
      },
    );
    return stdout.split(/^trying .*\n/m).slice(1);
  };

  const REFUSED =
    /^failed_precondition: the database .*recalld\.mdb is damaged: (.*)\. It is left as it is; .* recalld-admin restore/;

  describe("is refused, and told apart,", () => {
    let said: string[];
    beforeAll(async () => {
      said = await tryOut(DAMAGES.map(([, damaging]) => damaging));
      expect(said).toHaveLength(DAMAGES.length);
    });

    it.each(DAMAGES.map(([name, , reason], i) => ({ name, reason, i })))("when it $name", ({ reason, i }) => {
      expect(said[i]).toMatch(REFUSED);
      expect(REFUSED.exec(said[i] ?? "")?.[1]).toMatch(reason);
    });
  });

  it("is left as it was when it is refused", async () => {
    const damaging: Damaging = (file) => void file.fill(0, 0, PAGE);
    await tryOut([damaging]);
    const expected = Buffer.from(whole);
    damaging(expected);
    const left = await readFile(join(folder, "copy-0", "recalld.mdb"));
    expect(left.equals(expected)).toBe(true);
  });

  it("is not taken for damaged when free pages at its end were never written", async () => {
    const [said] = await tryOut([(file) => void bothMetas(file, 120, file.length / PAGE + 20)]);
    expect(said).toMatch(/^works, with 180 memories/);
  });

  it.each<[string, Damaging]>([
    ["lacks its last pages", (file) => file.subarray(0, file.length - 4 * PAGE)],
    ["lacks pages that only its latest snapshot has", withoutLatestPages],
    ["has trees of zeros", (file) => void file.fill(0, 2 * PAGE)],
    ["has a root that is none", (file) => void bothMetas(file, 112, 1e9)],
  ])("ends no process by a signal when it %s", async (_, damaging) => {
    expect(await tryOut([damaging])).toEqual([expect.stringMatching(/^(failed_precondition|unavailable)/)]);
  });
});

it("copies that LMDB makes of the local database are taken for whole, before and after they are written to", async () => {
  const folder = await mkdtemp(join(tmpdir(), "recalld-copies-"));
  const dataDir = join(folder, "original");
  await (await openLocal({ dataDir })).close();
  for (let round = 0; round < 4; round++) {
    const { log, backUp, close } = await openLocal({ dataDir });
    if (round > 0) await log.append({ logId: "i", from: round, entries: [aMemory()] });
    const copyDir = join(folder, `copy-${round}`);
    await mkdir(copyDir);
    await backUp?.(join(copyDir, "recalld.mdb"));
    await close();
    await readContents(join(copyDir, "recalld.mdb"));
    for (let again = 0; again < 3; again++) {
      const copy = await openLocal({ dataDir: copyDir });
      await copy.log.append({ logId: "j", from: again + 1, entries: [aMemory()] });
      expect(await entriesOf(copy.log, { logId: "i", from: 1, limit: 9 })).toHaveLength(round);
      await copy.close();
    }
  }
  await rm(folder, { recursive: true });
});

it("a database of another program is refused, and left as it is", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-foreign-"));
  const path = join(dataDir, "recalld.mdb");
  const root = open({ path, maxDbs: 2 });
  await root.openDB("theirs", {}).put("a", "b");
  await root.close();
  const before = await readFile(path);
  await expect(openLocal({ dataDir })).rejects.toThrow("is of an earlier format");
  expect((await readFile(path)).equals(before)).toBe(true);
  await rm(dataDir, { recursive: true });
});

it("a damaged record of the local database is told as such, and quoted nowhere", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-record-"));
  const scope = aScope();
  await (await openLocal({ dataDir })).close();
  const root = open({ path: join(dataDir, "recalld.mdb") });
  const account = anAccount();
  const accounts = root.openDB<Buffer, string>("accounts", { encoding: "binary" });
  await accounts.put(account.id, Buffer.from("secret words"));
  const names = root.openDB<Buffer, string>("namespaces", { encoding: "binary" });
  await names.put(`${scope.accountId}:${scope.namespace}`, Buffer.from("secret words"));
  await root.close();
  const storage = await openLocal({ dataDir });
  const calls = [
    storage.names.find(scope),
    storage.names.create(scope),
    storage.names.list({ accountId: scope.accountId, limit: 9 }).then(expectWhole),
    storage.names.list({ limit: 9 }).then(expectWhole),
    storage.accounts.find(account.id),
    storage.accounts.refund(account.id),
    storage.names.touch(scope, 9),
  ];
  for (const call of await Promise.allSettled(calls)) {
    expect(call).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
    expect(inspect(call, { depth: 9 })).toContain("could not be read");
    expect(inspect(call, { depth: 9 })).not.toContain("secret");
  }
  // A hint for the next start leaves it out.
  expect(await storage.names.recent(9)).toEqual([]);
  await storage.check();
  await storage.close();
  await rm(dataDir, { recursive: true });
});

function bothMetas(file: Buffer, at: number, value: number): void {
  for (const from of [0, PAGE / 2, PAGE]) file.writeBigUInt64LE(BigInt(value), from + at + 24);
}

/** Cuts a file off where its other snapshots end. */
function withoutLatestPages(file: Buffer): Buffer {
  const transaction = (from: number) => file.readBigUInt64LE(from + 128 + 24);
  const latest = transaction(0) > transaction(PAGE) ? 0 : PAGE;
  for (const from of [0, PAGE / 2, PAGE]) if (from !== latest) file.writeBigUInt64LE(11n, from + 120 + 24);
  return file.subarray(0, 12 * PAGE);
}

/** Makes a database in which no tree is empty, with long texts and free pages. */
async function aDatabase(dataDir: string): Promise<Buffer> {
  const { log, names, accounts, usage, systemRecords, close } = await openLocal({ dataDir });
  await systemRecords.pin({
    after: undefined,
    to: { modelVersion: "", model: { id: "m", revision: "r", dtype: "q8", dimensions: 8 } },
  });
  const scope = aScope();
  const logId = await names.create(scope);
  for (let from = 1; from <= MEMORIES; from += 20) {
    const entries = Array.from({ length: 20 }, (_, i) => aMemory({ text: "x".repeat(i * 300) }));
    await log.append({ logId, from, entries });
    await log.erase({ logId, sequences: [from, from + 19] });
    const account = anAccount();
    await accounts.create(account);
    await names.create({ ...scope, namespace: `n${from}` });
    await names.touch({ ...scope, namespace: `n${from}` }, from);
    const counts = { stores: 1, recalls: 1, tokensStored: 1, tokensQueried: 1 };
    await usage.add([{ accountId: account.id, date: "2026-01-01", hour: 7, ...counts }], {
      by: "a-process",
      number: 0,
    });
  }
  await close();
  return readFile(join(dataDir, "recalld.mdb"));
}

it("a damaged record of an erasure hides no other one", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-erasure-"));
  const erasure = { scope: aScope("a"), logId: "log", begunAtMs: 0 };
  const storage = await openLocal({ dataDir });
  for (const id of ["a", "b", "c"]) await storage.erasures.findOrInsert({ id, ...erasure });
  await storage.close();
  const root = open({ path: join(dataDir, "recalld.mdb") });
  await root.openDB<Buffer>("erasures", { encoding: "binary" }).put("b", Buffer.from("{spoilt"));
  await root.close();
  const again = await openLocal({ dataDir });
  const lost = { id: "b", lost: true };
  expect(await again.erasures.list({ limit: 9 })).toEqual([
    { id: "a", ...erasure },
    lost,
    { id: "c", ...erasure },
  ]);
  await again.close();
  await rm(dataDir, { recursive: true });
});
