/** Takes a backup of the given folder on a full disk, and reports the outcome. */
import { execFileSync } from "node:child_process";
import { backUp } from "../../../src/storage/local/backup/back-up.js";
import { openLocal } from "../../../src/storage/local/open.js";
import { aMemory } from "../samples.js";

const [dataDir = "", folder = ""] = process.argv.slice(2);
const { log, close, backUp: copy } = await openLocal({ dataDir });
const entries = Array.from({ length: 300 }, () => aMemory({ text: "x".repeat(10_000) }));
await log.append({ logId: "i", from: 1, entries });
// From here on, a file may have a megabyte. A larger one is a full disk to this process.
execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=1000000"]);
try {
  await backUp({ folder, copy: async (path) => copy?.(path) });
  console.log("taken");
} catch (error) {
  const { code, message } = error as Error & { code: string };
  console.log(JSON.stringify({ code, message }));
}
await close();
