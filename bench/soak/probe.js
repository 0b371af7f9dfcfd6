import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

// Node loads this into the server before the server's own code (--import). It answers each message over IPC
// with what only the process itself knows, and ends the server together with its parent.

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on("disconnect", () => process.exit(1));
  process.on("message", () => {
    process.send({
      delayP99Ms: delay.percentile(99) / 1e6,
      delayMaxMs: delay.max / 1e6,
      resources: process.getActiveResourcesInfo().length,
      heapUsedBytes: process.memoryUsage().heapUsed,
    });
    delay.reset();
  });
}
