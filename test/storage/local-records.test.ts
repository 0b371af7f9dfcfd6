import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LocalRecords } from "../../src/storage/local/records.js";

let dataDir: string;
let root: ReturnType<typeof open>;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "recalld-records-"));
  root = open({ path: join(dataDir, "records.mdb"), maxDbs: 1 });
});
afterEach(async () => {
  await root.close();
  await rm(dataDir, { recursive: true });
});

it("records that have expired are removed though the process is started again after each new one", async () => {
  const db = root.openDB<{ untilMs: number }, string>("records", { encoding: "json" });
  const ids = Array.from({ length: 600 }, (_, i) => createHash("sha256").update(String(i)).digest("hex"));
  const [old, fresh] = [ids.slice(0, 200), ids.slice(200)];
  const insert = (id: string, untilMs: number, nowMs: number) =>
    new LocalRecords<{ id: string; untilMs: number }>(root, "records", { expiry: "untilMs" }).findOrInsert(
      { id, untilMs },
      nowMs,
    );
  await Promise.all(old.map((id) => insert(id, 10, 0)));
  await Promise.all(fresh.map((id) => insert(id, 20, 10)));
  expect(old.filter((id) => db.doesExist(id)).length).toBeLessThan(20);
  expect(fresh.every((id) => db.doesExist(id))).toBe(true);
});

it("records of an account are removed beside one that is damaged, which nobody can tell whose it is", async () => {
  const db = root.openDB<{ owner: string }, string>("records", { encoding: "json" });
  const records = new LocalRecords<{ id: string; owner: string }>(root, "records");
  for (const [id, owner] of ["ab", "ba", "cb"].entries())
    await records.findOrInsert({ id: String(id), owner });
  await root.openDB<Buffer, string>("records", { encoding: "binary" }).put("0", Buffer.from("{"));
  await records.remove({ owner: "ba" });
  expect([...db.getKeys()]).toEqual(["0", "2"]);
});
