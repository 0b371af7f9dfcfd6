import { readlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { threadId } from "node:worker_threads";

// Node loads this into the server's main thread and into each of its workers before their own code
// (--import). It notes which thread of the system runs which code: Node names none of its threads.
// The folder for the notes is in the query of this module's address.

const folder = new URL(import.meta.url).searchParams.get("folder");
if (folder !== null && process.platform === "linux") {
  const script = process.argv[1] ?? "";
  const name = join(basename(dirname(script)), basename(script));
  const systemId = basename(readlinkSync("/proc/thread-self"));
  writeFileSync(
    join(folder, `${process.pid}-${threadId}.json`),
    JSON.stringify({ systemId, threadId, name }),
  );
}
