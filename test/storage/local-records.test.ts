import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { expect, it } from "vitest";
import { LocalRecords } from "../../src/storage/local/records.js";

it("records that have expired are removed though the process is started again after each new one", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-records-"));
  const root = open({ path: join(dataDir, "records.mdb"), maxDbs: 1 });
  const db = root.openDB<{ untilMs: number }, string>("records", { encoding: "json" });
  const ids = Array.from({ length: 600 }, (_, i) => createHash("sha256").update(String(i)).digest("hex"));
  const [old, fresh] = [ids.slice(0, 200), ids.slice(200)];
  const insert = (id: string, untilMs: number, nowMs: number) =>
    new LocalRecords<{ id: string; untilMs: number }>(db, "untilMs").findOrInsert({ id, untilMs }, nowMs);
  await Promise.all(old.map((id) => insert(id, 10, 0)));
  await Promise.all(fresh.map((id) => insert(id, 20, 10)));
  expect(old.filter((id) => db.doesExist(id)).length).toBeLessThan(20);
  expect(fresh.every((id) => db.doesExist(id))).toBe(true);
  await root.close();
  await rm(dataDir, { recursive: true });
});
