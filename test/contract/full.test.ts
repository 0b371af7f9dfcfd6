import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, entriesOf } from "./samples.js";

const FILL = join(import.meta.dirname, "children", "fill.ts");
const PANIC = join(import.meta.dirname, "children", "panic.ts");
const COMPACT = join(import.meta.dirname, "children", "compact.ts");
/** Maximum number of lines in stderr. LMDB writes several for each write that fails. */
const LINES_MAX = 60;

it("the local database says that its disk is full, keeps what it had, and goes on by itself when there is room", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-full-"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", "tsx", FILL, dataDir]);
  const { code, message, kept, read, wellWhileFull, refused, refusedMs, after } = JSON.parse(stdout);
  expect({ code, message }).toEqual({
    code: "unavailable",
    message: "the database could not write; its disk may be full",
  });
  expect(kept).toBeGreaterThanOrEqual(50);
  expect(read).toBe(kept);
  expect(wellWhileFull).toBe(false);
  expect(refused).toBe(500);
  expect(refusedMs).toBeLessThan(2_000);
  expect(stderr.split("\n").length).toBeLessThan(LINES_MAX);
  expect(after).toBe(1);
  const { log, close } = await openLocal({ dataDir });
  expect(await log.append({ logId: "full", from: kept + 2, entries: [aMemory()] })).toBe(1);
  expect(await entriesOf(log, { logId: "full", from: 1, limit: kept + 9 })).toHaveLength(kept + 2);
  await close();
  await rm(dataDir, { recursive: true });
}, 60_000);

it("a compaction that the disk has no room for says so, and leaves the database as it was", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-full-"));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", COMPACT, dataDir]);
  expect(JSON.parse(stdout)).toEqual({
    code: "unavailable",
    message: "the database could not write; its disk may be full",
    files: ["recalld.mdb", "recalld.mdb-lock"],
    read: 60,
  });
  await rm(dataDir, { recursive: true });
}, 60_000);

// Those that waited were told after ten seconds, or never, and the process did not end: LMDB waited for a lock.
it.skipIf(process.platform !== "linux")(
  "a process whose write of the header has failed tells all that wait at once, and can end",
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "recalld-panic-"));
    const told = { timeout: 40_000, killSignal: "SIGKILL" } as const;
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", PANIC, dataDir], told);
    const { codes, next, closed, ms } = JSON.parse(stdout);
    expect({ next, closed }).toEqual({ next: "unavailable", closed: "unavailable" });
    expect(ms).toBeLessThan(5_000);
    const { log, close } = await openLocal({ dataDir });
    for (const [i, code] of codes.entries()) {
      // LMDB answers what it had committed, and then cannot write a second header.
      expect(["ok", "unavailable"]).toContain(code);
      if (code === "ok") expect(await log.last(`waiting-${i}`)).toBeDefined();
    }
    expect(await log.last("before")).toBeDefined();
    await close();
    await rm(dataDir, { recursive: true });
  },
  60_000,
);
