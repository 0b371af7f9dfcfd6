/**
 * Loaded into a server under test (`--import`), this writes the maximum processor time of the server's main
 * thread in one iteration of the event loop since the last SIGUSR2, in milliseconds, to the file that
 * LOOP_WATCH_FILE names. Other programs on the machine make an iteration longer, but not this time.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const SAMPLE_MS = 10;
const file = process.env.LOOP_WATCH_FILE;

function threadMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

if (file !== undefined && isMainThread) {
  let maxMs = 0;
  let lastMs = threadMs();
  // A due timer fires once in each iteration, so one long iteration or several short ones lie between two
  // checks.
  setInterval(() => {
    const nowMs = threadMs();
    if (nowMs - lastMs > maxMs) {
      maxMs = nowMs - lastMs;
      writeFileSync(file, String(maxMs));
    }
    lastMs = nowMs;
  }, SAMPLE_MS).unref();
  // The start does not count.
  process.on("SIGUSR2", () => {
    maxMs = 0;
    writeFileSync(file, "0");
  });
}
