import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, entriesOf } from "./samples.js";

const FILL = join(import.meta.dirname, "children", "fill.ts");
/** A process whose files may have 2,000 KiB: to it, a larger one is a disk that is full. */
const LIMITED = `trap "" XFSZ; ulimit -f 2000; exec "${process.execPath}" --import tsx "${FILL}" "$0"`;

it("the local database says that its disk is full, keeps what it had, and goes on when there is room", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "recalld-full-"));
  const { stdout } = await promisify(execFile)("bash", ["-c", LIMITED, dataDir]);
  const { code, message, kept, read } = JSON.parse(stdout);
  expect({ code, message }).toEqual({
    code: "unavailable",
    message: "the database could not write; its disk may be full",
  });
  expect(kept).toBeGreaterThan(50);
  expect(read).toBe(kept);
  const { log, close } = await openLocal({ dataDir });
  expect(await log.append({ incarnation: "full", from: kept + 1, entries: [aMemory()] })).toBe(1);
  expect(await entriesOf(log, { incarnation: "full", from: 1, limit: kept + 9 })).toHaveLength(kept + 1);
  await close();
  await rm(dataDir, { recursive: true });
}, 30_000);
