import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { listMemories } from "../../src/memory/operations/list.js";
import { recall } from "../../src/memory/operations/recall.js";
import { store } from "../../src/memory/operations/store.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";
import { scoreOf } from "../../src/memory/search/score.js";
import { QUICK, quickly } from "../support/quick.js";
import { CALLER, TestService } from "./domain.js";
import { modelVersionsOf } from "./models.js";

const DIMENSIONS = 384;
/** Maximum number of windows of the longest text; that of the longest query follows. */
const TEXT_WINDOWS = 1025;
const QUERY_WINDOWS = 128;
const MEMORIES = 19;
const MB = 1_000_000;

const services: TestService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

/** Vectors for the longest text and the longest query. Each request gets another part of them. */
const random = Float32Array.from({ length: 2 * TEXT_WINDOWS * DIMENSIONS }, () => Math.random() - 0.5);
for (let at = 0; at < random.length; at += DIMENSIONS) {
  const vector = random.subarray(at, at + DIMENSIONS);
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  vector.forEach((x, i) => {
    vector[i] = x / length;
  });
}

/** Makes a model that makes this many random vectors of a text. */
function modelOf(windowsOf: (field: string) => number): Embedder {
  let asked = 0;
  return {
    model: { id: "m", revision: "", dtype: "", dimensions: DIMENSIONS },
    unreadShare: () => 0,
    embed: async ({ field }) => {
      const count = windowsOf(field);
      const from = ((asked++ * 53) % TEXT_WINDOWS) * DIMENSIONS;
      const windows = Array.from({ length: count }, (_, i) => ({ start: i, end: i + 1 }));
      return { vectors: random.slice(from, from + count * DIMENSIONS), tokens: 1, windows };
    },
  };
}

/** Makes a namespace of memories of the maximum length. */
async function heavyService(memories: number, tailRowsMax: number) {
  const service = await TestService.open({ dimensions: DIMENSIONS, tailRowsMax });
  services.push(service);
  const modelVersions = modelVersionsOf(
    modelOf((field) => (field === "query" ? QUERY_WINDOWS : TEXT_WINDOWS)),
  );
  const { ports } = service.domain({ modelVersions });
  const charges = { charged: 0, refunded: 0, counted: 0 };
  const quota = {
    charge: async () => void charges.charged++,
    refund: async () => void charges.refunded++,
    verify: async () => {},
    count: () => void charges.counted++,
  };
  const all = { ...ports, quota, clock: systemClock, idempotency: undefined as never };
  for (let i = 0; i < memories; i++) {
    await store(all, { caller: CALLER, text: "#".repeat(65_536), namespace: "heavy" });
  }
  Object.assign(charges, { charged: 0, refunded: 0, counted: 0 });
  return { ports: all, charges };
}

/** Measures the peak memory of the work, beyond that before it. */
async function watched<T>(work: () => Promise<T>) {
  globalThis.gc?.();
  const begun = process.memoryUsage();
  let [heapBytes, bufferBytes, pauseMs, lastMs] = [0, 0, 0, performance.now()];
  const timer = setInterval(() => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    heapBytes = Math.max(heapBytes, heapUsed - begun.heapUsed);
    bufferBytes = Math.max(bufferBytes, arrayBuffers - begun.arrayBuffers);
    pauseMs = Math.max(pauseMs, performance.now() - lastMs - 5);
    lastMs = performance.now();
  }, 5);
  const result = await work();
  clearInterval(timer);
  return { result, heapBytes, bufferBytes, pauseMs };
}

it.each([QUICK ? (["a flat index", 20_000] as const) : (["a graph", 1_000] as const)])(
  "a recall of the longest query over the longest memories is bounded in memory: %s",
  async (_, tailRowsMax) => {
    const { ports } = await heavyService(MEMORIES, tailRowsMax);
    const recalling = () => recall(ports, { caller: CALLER, query: "#", namespace: "heavy", topK: 20 });
    const { result, heapBytes, bufferBytes, pauseMs } = await watched(recalling);
    expect(result.results).toHaveLength(MEMORIES);
    expect(heapBytes).toBeLessThan(60 * MB);
    expect(bufferBytes).toBeLessThan(120 * MB);
    // A busy machine pauses its programs, so the best of several measurements counts.
    const again = [pauseMs, (await watched(recalling)).pauseMs, (await watched(recalling)).pauseMs];
    expect(Math.min(...again)).toBeLessThan(500);
  },
  120_000,
);

quickly(
  "a recall that nobody waits for any more stops working, and is not charged",
  async () => {
    const { ports, charges } = await heavyService(MEMORIES, 20_000);
    const stopping = new AbortController();
    const begunMs = performance.now();
    const request = { caller: CALLER, query: "#", namespace: "heavy", topK: 20, controller: stopping };
    const recalling = recall(ports, request).catch((error) => error);
    await sleep(30);
    stopping.abort(new Error("too late"));
    expect(await recalling).toMatchObject({ message: "too late" });
    const tookMs = performance.now() - begunMs;
    expect(charges).toEqual({ charged: 1, refunded: 1, counted: 0 });
    const whole = performance.now();
    await recall(ports, { ...request, controller: new AbortController() });
    expect(tookMs).toBeLessThan((performance.now() - whole) / 2);
  },
  120_000,
);

quickly(
  "pages of the longest memories are read without their vectors",
  async () => {
    const { ports } = await heavyService(60, 1_000_000);
    const page = () =>
      listMemories(ports, { caller: CALLER, namespace: "heavy", pageSize: 100, pageToken: "" });
    const { result, bufferBytes } = await watched(() => Promise.all(Array.from({ length: 8 }, page)));
    // A megabyte of text fills a page.
    expect(result.map(({ items }) => items.length)).toEqual(new Array(8).fill(16));
    expect(bufferBytes).toBeLessThan(30 * MB);
  },
  120_000,
);

quickly(
  "a store that depends on the longest memories that are like it lets other work run between two of them",
  async () => {
    const { ports } = await heavyService(4, 20_000);
    const [some, others] = [0, 1].map((part) =>
      Array.from({ length: TEXT_WINDOWS }, (_, i) => {
        const from = (part * TEXT_WINDOWS + i) * DIMENSIONS;
        return random.subarray(from, from + DIMENSIONS);
      }),
    ) as [Float32Array[], Float32Array[]];
    const begunMs = performance.now();
    scoreOf(some, others);
    const oneMs = performance.now() - begunMs;
    const request = {
      caller: CALLER,
      text: "#",
      namespace: "heavy",
      similarAbove: 0.1,
      onSimilar: "keep",
    } as const;
    const { pauseMs } = await watched(() => store(ports, request));
    expect(pauseMs / oneMs).toBeLessThan(1);
  },
  120_000,
);
