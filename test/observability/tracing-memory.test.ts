import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished, vi } from "vitest";
import { NO_TIMINGS } from "../../src/memory/ports/step-timer.js";
import { openTracing, type Tracing } from "../../src/observability/tracing.js";
import { startCollector } from "../support/collector.js";

/** Number of calls that makes more spans than wait in the library's queue (2048). */
const FILLED_CALLS = 4_000;
const CALLS = 40_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heldBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

async function trace(tracing: Tracing, calls: number): Promise<void> {
  for (let i = 0; i < calls; i++) {
    const { timer, end } = tracing.begin({ method: "s/m", protocol: "connect", headers: {} }, NO_TIMINGS);
    await timer.time("search", async () => {});
    end({ code: "ok", ms: 1 });
    // The exporter has its turn.
    if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

it("holds no more spans for a collector that never answers the longer it does not", async () => {
  const collector = await startCollector();
  collector.answer = "never";
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
  vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "10");
  const tracing = await openTracing(() => {});
  onTestFinished(async () => {
    await collector.close();
    await tracing.close();
    vi.unstubAllEnvs();
  });
  await trace(tracing, FILLED_CALLS);
  const filled = heldBytes();
  await trace(tracing, CALLS);
  const grownBytes = heldBytes() - filled;
  expect(collector.requests.length).toBeGreaterThan(0);
  // If they were kept, each would take at least 500 bytes.
  expect(grownBytes).toBeLessThan(CALLS * 50);
}, 60_000);
