/** Compacts a database in the given folder on a disk that is full before the copy is complete, and reports what follows. */
import { execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { compactLocal } from "../../../src/storage/local/backup/compact.js";
import { openLocal } from "../../../src/storage/local/open.js";
import { aMemory, entriesOf } from "../samples.js";

/** Size below the database's. A larger file is a full disk to this process. */
const FULL_BYTES = 300_000;
const MEMORIES = 60;

const dataDir = process.argv[2] as string;
const logId = "full";
const text = "x".repeat(20_000);
const { log, close } = await openLocal({ dataDir });
await log.append({ logId, from: 1, entries: Array.from({ length: MEMORIES }, () => aMemory({ text })) });
await close();
const limit = (bytes: string) =>
  execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
limit(String(FULL_BYTES));
const { code, message } = await compactLocal(dataDir).then(
  () => ({ code: "done", message: "" }),
  (error) => error,
);
limit("unlimited");
const files = await readdir(dataDir);
const opened = await openLocal({ dataDir });
const read = await entriesOf(opened.log, { logId, from: 1, limit: 2 * MEMORIES });
await opened.close();
console.log(JSON.stringify({ code, message, files, read: read.length }));
