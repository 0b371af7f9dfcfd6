import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { type ArrivedSpan, type Collector, startCollector } from "../support/collector.js";
import { protocolsOf } from "../support/protocols.js";
import { startServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Word that occurs only in stored texts and queries. */
const SECRET = `zanzibar-${randomBytes(6).toString("hex")}`;

let collector: Collector;
let server: TestServer;
let caller: Caller;

function traced(endpoint: string, env: Record<string, string> = {}): Promise<TestServer> {
  return startServer({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: "100", ...env },
  });
}

beforeAll(async () => {
  collector = await startCollector();
  server = await traced(collector.url, { METRICS_PORT: "0" });
  caller = await signUp(server.url);
});
afterAll(async () => {
  await server.stop();
  await collector.close();
});

/** Makes a caller's own trace: the header to send, and the ids that the server should use. */
function newTrace(sampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, spanId, header: { traceparent: `00-${traceId}-${spanId}-0${sampled ? 1 : 0}` } };
}

async function spansOf(traceId: string, count: number): Promise<ArrivedSpan[]> {
  const spans = () => collector.spans.filter((span) => span.traceId === traceId);
  while (spans().length < count) await collector.arrived(collector.spans.length + 1);
  return spans();
}

/** Makes the tree below a span: names, with children in the order of their beginning. */
function treeOf(spans: readonly ArrivedSpan[], parentSpanId: string): unknown[] {
  return spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .sort((a, b) => Number(a.startNs - b.startNs))
    .map(({ name, spanId }) => {
      const below = treeOf(spans, spanId);
      return below.length > 0 ? { [name]: below } : name;
    });
}

/** Lists the names of a tree's first two levels, sorted, because some spans run in parallel. */
function branchesOf(tree: readonly unknown[]): string[] {
  const [root] = tree as [Record<string, unknown[]>];
  const [below = []] = Object.values(root);
  return below
    .map((each) => (typeof each === "string" ? each : (Object.keys(each as object)[0] as string)))
    .sort();
}

describe("a trace", () => {
  it("shows the steps of a store, in the caller's own trace", async () => {
    const { traceId, spanId, header } = newTrace();
    await caller.store({ text: `${SECRET} text`, namespace: SECRET, metadata: { [SECRET]: SECRET } }, header);
    const spans = await spansOf(traceId, 4);
    const tree = treeOf(spans, spanId);
    expect(Object.keys(tree[0] as object)).toEqual(["recalld.v1.MemoryService/Store"]);
    expect(branchesOf(tree)).toEqual(["append", "charge", "embed"]);
  });

  it("shows the steps of a recall", async () => {
    const { traceId, spanId, header } = newTrace();
    const request = { query: `${SECRET} text`, namespace: SECRET };
    const [plain] = protocolsOf(server.url);
    expect((await plain?.call("Recall", request, { key: caller.key, header }))?.code).toBe("ok");
    const tree = treeOf(await spansOf(traceId, 6), spanId);
    expect(branchesOf(tree)).toEqual(["catch_up", "charge", "embed", "fetch", "search"]);
  });

  it.each(["gRPC", "gRPC-Web", "Connect binary over HTTP/2"])(
    "goes through the protocol of %s as well",
    async (name) => {
      const { traceId, spanId, header } = newTrace();
      const protocol = protocolsOf(server.url).find((each) => each.name === name);
      await protocol?.call(
        "Recall",
        { query: `${SECRET} ${name}`, namespace: SECRET },
        { key: caller.key, header },
      );
      const spans = await spansOf(traceId, 6);
      expect(branchesOf(treeOf(spans, spanId))).toEqual(["catch_up", "charge", "embed", "fetch", "search"]);
      const root = spans.find((span) => span.parentSpanId === spanId);
      expect(root?.attributes["rpc.system.name"]).toBe(name.startsWith("gRPC") ? "grpc" : "connectrpc");
    },
  );

  it("says what a call was and how it ended, by OpenTelemetry's names", async () => {
    const { traceId, header } = newTrace();
    await caller.at(server.url).store({ text: " ", namespace: SECRET }, header);
    const [root] = await spansOf(traceId, 1);
    expect(root).toMatchObject({
      name: "recalld.v1.MemoryService/Store",
      kind: 2,
      // A caller's mistake is no error of the server.
      status: 0,
      attributes: {
        "rpc.system.name": "connectrpc",
        "rpc.method": "recalld.v1.MemoryService/Store",
        "rpc.response.status_code": "invalid_argument",
      },
      resource: { "service.name": "recalld", "telemetry.sdk.language": "nodejs" },
    });
  });

  it("has its id in the call's log line", async () => {
    const { traceId, header } = newTrace();
    const { header: answered } = await caller.store({ text: "x", namespace: "log" }, header);
    const line = server.output().match(new RegExp(`^.*${answered.get("x-request-id")}.*$`, "m"))?.[0];
    expect(JSON.parse(line ?? "{}").traceId).toBe(traceId);
  });

  it("begins here when the caller has none", async () => {
    const before = collector.spans.length;
    await caller.store({ text: "x", namespace: "own" });
    await vi.waitFor(() => {
      const roots = collector.spans.slice(before).filter(({ parentSpanId }) => parentSpanId === "");
      expect(roots.map(({ name }) => name)).toContain("recalld.v1.MemoryService/Store");
    });
  });

  it("is not sent when its caller does not sample it, and its id is logged still", async () => {
    const { traceId, header } = newTrace(false);
    await caller.store({ text: "x", namespace: "unsampled" }, header);
    const after = newTrace();
    await caller.store({ text: "x", namespace: "unsampled" }, after.header);
    await spansOf(after.traceId, 4);
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
    expect(server.output()).toContain(`"traceId":"${traceId}"`);
  });

  it("has no span of a call that is none of its own", async () => {
    // Many simultaneous stores share their writes.
    const traces = Array.from({ length: 20 }, () => newTrace());
    await Promise.all(
      traces.map(({ header }, i) => caller.store({ text: `text ${i}`, namespace: "many" }, header)),
    );
    for (const { traceId, spanId } of traces) {
      const spans = await spansOf(traceId, 4);
      const root = spans.find((span) => span.parentSpanId === spanId) as ArrivedSpan;
      const isWithin = ({ startNs }: ArrivedSpan) => startNs >= root.startNs && startNs <= root.endNs;
      expect(spans.filter((span) => !isWithin(span))).toEqual([]);
      expect(spans.filter(({ name }) => name === "append")).toHaveLength(1);
    }
  });

  it("holds no text, no namespace, no metadata and no key", () => {
    const all = Buffer.concat(collector.bytes).toString("latin1");
    expect(all).toContain("recalld.v1.MemoryService/Store");
    expect(all).not.toContain(SECRET);
    expect(all).not.toContain(caller.key.slice(4, 20));
    expect(all).not.toContain(caller.id);
  });
});

describe("a collector that", () => {
  it.each([
    ["refuses", 400 as const],
    ["never answers", "never" as const],
  ])("%s fails and slows no call", async (_, answer) => {
    collector.answer = answer;
    const asked = collector.requests.length;
    const untilMs = Date.now() + 1500;
    for (let i = 0; Date.now() < untilMs; i++) {
      expect((await caller.store({ text: `x ${i}`, namespace: "away" })).code).toBe("ok");
      // A quick machine would use up the plan's calls.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(collector.requests.length).toBeGreaterThan(asked);
    collector.answer = 200;
  });

  it("is away is complained of in the log, once a minute, and counted", async () => {
    const away = await traced("http://127.0.0.1:9", { METRICS_PORT: "0", OTEL_EXPORTER_OTLP_TIMEOUT: "300" });
    const own = await signUp(away.url);
    for (let i = 0; i < 4; i++) {
      await own.store({ text: "x", namespace: "n" });
      await new Promise((resolve) => setTimeout(resolve, 600));
    }
    expect(away.output().match(/"msg":"tracing"/g)).toHaveLength(1);
    const metrics = await (await fetch(away.metricsUrl)).text();
    expect(Number(/recalld_troubles_total\{part="tracing"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(1);
    expect(await away.stop()).toBe(0);
  });

  it("never answers does not hold up the end", async () => {
    const silent = await startCollector();
    silent.answer = "never";
    const stopping = await traced(silent.url, { OTEL_BSP_SCHEDULE_DELAY: "60000" });
    await signUp(stopping.url);
    const startMs = Date.now();
    expect(await stopping.stop()).toBe(0);
    expect(Date.now() - startMs).toBeLessThan(10_000);
    expect(silent.requests).toHaveLength(1);
    await silent.close();
  });
});

it("sends what is left when the server ends", async () => {
  const last = await startCollector();
  const stopping = await traced(last.url, { OTEL_BSP_SCHEDULE_DELAY: "60000" });
  await signUp(stopping.url);
  expect(last.spans).toEqual([]);
  expect(await stopping.stop()).toBe(0);
  expect(last.spans.map(({ name }) => name)).toEqual(["recalld.v1.AccountService/SignUp"]);
  expect(last.requests).toMatchObject([{ url: "/v1/traces", type: "application/x-protobuf" }]);
  await last.close();
});

it("samples as the standard variables say", async () => {
  const few = await startCollector();
  const sampling = await traced(few.url, { OTEL_TRACES_SAMPLER: "always_off" });
  const own = await signUp(sampling.url);
  await own.store({ text: "x", namespace: "n" });
  expect(await sampling.stop()).toBe(0);
  expect(few.requests).toEqual([]);
  await few.close();
});
