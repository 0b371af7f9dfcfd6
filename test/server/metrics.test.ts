import { gunzipSync } from "node:zlib";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { createMetricsApp } from "../../src/server/metrics.js";

it("scrapes without a pause share few readings of the metrics, and each sees what was there when it asked", async () => {
  let readings = 0;
  const exposition = { type: "text/plain", read: async () => `readings ${++readings}\n` };
  const readiness = { alive: true, now: () => true };
  const app = createMetricsApp({ exposition, readiness, logger: pino({ level: "silent" }) });
  onTestFinished(() => app.close());
  const scrape = async (headers = {}) => {
    const before = readings;
    const { rawPayload } = await app.inject({ url: "/metrics", headers });
    const text = "accept-encoding" in headers ? gunzipSync(rawPayload) : rawPayload;
    expect(Number(/\d+/.exec(String(text)))).toBeGreaterThan(before);
  };

  const began = performance.now();
  await Promise.all(
    Array.from({ length: 64 }, async (_, i) => {
      for (let n = 0; n < 3; n++) await scrape(i % 2 === 0 ? {} : { "accept-encoding": "gzip" });
    }),
  );
  // One at once, and no other until the time between two has passed.
  expect(readings).toBeLessThan(2 + (performance.now() - began) / 150);
});
