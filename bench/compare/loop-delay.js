import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

// Loaded into the server before its own code (--import): tells over IPC how long its event loop was held,
// and ends the server with whoever started it.

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
