import { gunzipSync } from "node:zlib";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { createMetricsApp } from "../../src/server/metrics.js";

const readiness = { alive: true, now: () => true };
const logger = pino({ level: "silent" });

it("no reading of the metrics begins while another one runs, also after one that failed", async () => {
  let running = 0;
  let most = 0;
  let readings = 0;
  const read = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 300));
    running -= 1;
    if (++readings === 1) throw new Error("not this time");
    return "metrics";
  };
  const app = createMetricsApp({ exposition: { type: "text/plain", read }, readiness, logger });
  onTestFinished(() => app.close());
  const scrapes: Promise<{ readonly statusCode: number }>[] = [];
  for (let n = 0; n < 25; n++) {
    scrapes.push(app.inject({ url: "/metrics" }));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const codes = (await Promise.all(scrapes)).map(({ statusCode }) => statusCode);
  expect({ most, codes: [...new Set(codes)] }).toEqual({ most: 1, codes: [500, 200] });
});

it("scrapes without a pause share few readings of the metrics, and each sees what was there when it asked", async () => {
  let readings = 0;
  const exposition = { type: "text/plain", read: async () => `readings ${++readings}\n` };
  const app = createMetricsApp({ exposition, readiness, logger });
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
