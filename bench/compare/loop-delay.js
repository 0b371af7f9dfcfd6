import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

// Node loads this into the server before the server's own code (--import). It reports over IPC how long the
// event loop was blocked, and ends the server together with its parent.

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on("disconnect", () => process.exit(1));
  process.on("message", (message) => {
    if (message === "begin") {
      delay.reset();
      delay.enable();
    } else {
      delay.disable();
      process.send({ p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 });
    }
  });
}
