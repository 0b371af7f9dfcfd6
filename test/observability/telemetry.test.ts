import { expect, it, onTestFinished, vi } from "vitest";
import { MemoryError, unavailable } from "../../src/errors.js";
import { LogEndedError } from "../../src/memory/log/replica.js";
import type { Embedder, EmbeddingThread } from "../../src/memory/ports/embedder.js";
import type { Quota } from "../../src/memory/ports/quota.js";
import { NO_TIMINGS } from "../../src/memory/ports/step-timer.js";
import { openTelemetry } from "../../src/observability/telemetry.js";
import { startCollector } from "../support/collector.js";

const CALLER = { accountId: "acc_x", keyHash: "h", access: "full" } as const;

async function open(metrics = true) {
  const telemetry = await openTelemetry({
    metrics,
    tracing: false,
    onTrouble: () => {},
  });
  const value = async (line: string) => {
    const text = (await telemetry.exposition?.read()) ?? "";
    return Number(
      text
        .split("\n")
        .find((each) => each.startsWith(`${line} `))
        ?.split(" ")
        .at(-1),
    );
  };
  const step = (name: string, outcome: string) =>
    value(`recalld_step_duration_seconds_count{step="${name}",outcome="${outcome}"}`);
  return { telemetry, value, step };
}

function quotaThat(charge: () => Promise<void>): Quota {
  return { charge, verify: async () => {}, refund: async () => {}, count: () => {} };
}

it("without metrics and traces leaves steps untimed, and has nothing to show", async () => {
  const { telemetry } = await open(false);
  expect(telemetry.timer).toBe(NO_TIMINGS);
  expect(telemetry.exposition).toBeUndefined();
  expect(telemetry.metrics).toBeUndefined();
  await telemetry.close();
});

it("keeps the metrics of two services in one process apart", async () => {
  const [one, other] = [await open(), await open()];
  one.telemetry.metrics?.caughtUp.inc(5);
  expect(await one.value("recalld_catch_up_entries_total")).toBe(5);
  expect(await other.value("recalld_catch_up_entries_total")).toBe(0);
});

it.each([
  ["charged", undefined],
  ["quota_exhausted", new MemoryError("resource_exhausted", "used", { reason: "QUOTA_EXHAUSTED" })],
  ["unauthenticated", new MemoryError("unauthenticated", "revoked")],
  ["failed", unavailable("the database is away")],
  ["failed", new Error("a fault")],
])("counts a charge that is %s, and passes on what came of it (%s)", async (outcome, error) => {
  const { telemetry, value } = await open();
  const quota = telemetry.quota(
    quotaThat(async () => {
      if (error !== undefined) throw error;
    }),
  );
  const charging = quota.charge(CALLER);
  if (error === undefined) await charging;
  else await expect(charging).rejects.toBe(error);
  expect(await value(`recalld_charges_total{outcome="${outcome}"}`)).toBe(1);
});

it("counts what is given back, what is caught up with, and what fails behind the calls", async () => {
  const { telemetry, value } = await open();
  telemetry.metrics?.charges.inc({ outcome: "refunded" });
  telemetry.metrics?.charges.inc({ outcome: "refund_failed" });
  telemetry.metrics?.charges.inc({ outcome: "refund_failed" });
  telemetry.metrics?.lostEntries.inc();
  telemetry.metrics?.troubles.inc({ part: "index" });
  telemetry.metrics?.storageAvailable.set(0);
  expect(await value('recalld_charges_total{outcome="refunded"}')).toBe(1);
  expect(await value('recalld_charges_total{outcome="refund_failed"}')).toBe(2);
  expect(await value("recalld_lost_entries_total")).toBe(1);
  expect(await value('recalld_troubles_total{part="index"}')).toBe(1);
  expect(await value("recalld_storage_available")).toBe(0);
  telemetry.metrics?.storageAvailable.set(1);
  expect(await value("recalld_storage_available")).toBe(1);
});

it("calls a step that failed an error only when it is a fault of the service", async () => {
  const { telemetry, step } = await open();
  const timer = telemetry.timer;
  const failing = (error: Error) => timer.time("search", () => Promise.reject(error));
  await expect(failing(new LogEndedError())).rejects.toBeInstanceOf(LogEndedError);
  expect(await step("search", "error")).toBe(0);
  await expect(failing(unavailable("busy"))).rejects.toThrow("busy");
  await expect(failing(new TypeError("x"))).rejects.toThrow("x");
  expect([await step("search", "ok"), await step("search", "error")]).toEqual([1, 2]);
});

// Another process may make a wait long, but hardly every time.
it("tells the wait for a thread from the reading; what needs no thread is in neither", {
  retry: 4,
}, async () => {
  const { telemetry, value } = await open();
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const embedding = { vectors: new Float32Array(1), tokens: 1 };
  const inner = (embed: Embedder["embed"]) => telemetry.embed({ embed });
  const slow = inner(async ({ onBegin }) => {
    await sleep(40);
    onBegin?.("worker");
    await sleep(80);
    onBegin?.("worker");
    return embedding;
  });
  expect(await slow({ text: "x", field: "query", owner: "acc" })).toBe(embedding);
  await inner(async () => embedding)({ text: "x", field: "query", owner: "acc" });
  expect(await value('recalld_embed_wait_seconds_count{field="query"}')).toBe(1);
  const wait = await value('recalld_embed_wait_seconds_sum{field="query"}');
  const run = await value('recalld_embed_run_seconds_sum{field="query"}');
  expect(wait).toBeGreaterThan(0.03);
  expect(run).toBeGreaterThan(0.07);
  expect(wait).toBeLessThan(run);
});

it("counts the texts that the main thread embeds, once each", async () => {
  const { telemetry, value } = await open();
  const embed = (thread: EmbeddingThread) =>
    telemetry.embed({
      embed: async ({ onBegin }) => {
        onBegin?.(thread);
        return { vectors: new Float32Array(1), tokens: 1 };
      },
    })({ text: "x", field: "text", owner: "acc" });
  for (const thread of ["main", "worker", "main"] as const) await embed(thread);
  expect(await value('recalld_embed_main_thread_total{field="text"}')).toBe(2);
  expect(await value('recalld_embed_run_seconds_count{field="text"}')).toBe(3);
});

async function openTraced(env: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const complaints: string[] = [];
  const onTrouble = (message: string) => void complaints.push(message);
  const telemetry = await openTelemetry({
    metrics: true,
    tracing: true,
    onTrouble,
  });
  onTestFinished(() => telemetry.close());
  const call = () =>
    telemetry.begin({ method: "s/m", protocol: "connect", headers: {} }).end({ code: "ok", ms: 1 });
  return { complaints, call };
}

it("complains of every setting of tracing that it cannot use", async () => {
  const { complaints } = await openTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_EXPORTER_OTLP_TIMEOUT: "abc",
    OTEL_TRACES_SAMPLER: "foo",
    OTEL_EXPORTER_OTLP_CERTIFICATE: "/nope",
  });
  expect(complaints).toHaveLength(3);
  const all = complaints.join("\n");
  for (const part of ["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_TRACES_SAMPLER", "root certificate"]) {
    expect(all).toContain(part);
  }
});

it("complains shortly of a collector that answers at length, and once", async () => {
  const collector = await startCollector();
  Object.assign(collector, { answer: 400, body: "x".repeat(3_000_000) });
  const { complaints, call } = await openTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: "10",
  });
  onTestFinished(() => collector.close());
  for (let asked = 1; asked <= 3; asked++) {
    call();
    await vi.waitUntil(() => collector.requests.length >= asked, { timeout: 10_000 });
  }
  await vi.waitUntil(() => complaints.length > 0, { timeout: 10_000 });
  expect(complaints).toEqual([expect.stringMatching(/^.{1,1001}$/)]);
  expect(complaints[0]).toContain("Bad Request");
});
