import { AsyncLocalStorage } from "node:async_hooks";
import type { Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
import { MemoryError } from "../errors.js";
import type { Step, Steps } from "../memory/steps.js";
import { type Begun, type Ongoing, systemOf } from "./calls.js";
import { isFault } from "./fault.js";

/** Codes that OpenTelemetry's conventions call a server's error. */
const SERVER_ERRORS = new Set([
  "unknown",
  "deadline_exceeded",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
]);

/** How long the last spans may take to leave at the end of the program. */
const FLUSH_TIMEOUT_MS = 5_000;

/** A call under way. */
class TracedCall {
  ended = false;
  /** One for all spans of a call: the wall clock is too coarse to put them in their order. */
  readonly #epochMs = Date.now() - performance.now();

  /** @param ms as of `performance.now()` */
  timeOf(ms = performance.now()): number {
    return this.#epochMs + ms;
  }
}

/** Where work stands in a trace. */
interface Place {
  readonly context: Context;
  readonly call: TracedCall;
}

type Library = Awaited<ReturnType<typeof loadLibrary>>;

export interface TracingOptions {
  readonly version: string;
  /** Told what the library complains of: settings it cannot use, spans that were dropped or not delivered. */
  onTrouble(message: string): void;
}

/**
 * Spans of calls and of their steps, sent by OTLP. What it does is set by the standard `OTEL_*`
 * variables, which the library reads itself. Its packages are loaded only here: without tracing they
 * cost nothing.
 */
export class Tracing {
  readonly #place = new AsyncLocalStorage<Place>();
  /** Sampled calls under way. */
  #sampled = 0;
  readonly #tracer: Tracer;

  private constructor(
    private readonly library: Library,
    version: string,
  ) {
    this.#tracer = library.provider.getTracer("recalld", version);
  }

  static async open(options: TracingOptions): Promise<Tracing> {
    return new Tracing(await loadLibrary(options), options.version);
  }

  /** The span of a call, in the caller's trace when its headers name one. */
  begin({ method, protocol, header }: Begun): Ongoing {
    const { api, propagator } = this.library;
    const attributes = { "rpc.system.name": systemOf(protocol), "rpc.method": method };
    const call = new TracedCall();
    const parent = propagator.extract(api.ROOT_CONTEXT, header, HEADERS);
    const options = { kind: api.SpanKind.SERVER, attributes, startTime: call.timeOf() };
    const span = this.#tracer.startSpan(method, options, parent);
    const place = { context: api.trace.setSpan(parent, span), call };
    const isSampled = span.isRecording();
    if (isSampled) this.#sampled++;
    return {
      traceId: span.spanContext().traceId,
      run: (work) => (isSampled ? this.#place.run(place, work) : work()),
      end: (code) => {
        call.ended = true;
        if (isSampled) this.#sampled--;
        // In Node 20 it makes every promise dearer, from its first use on: not while no call is sampled.
        if (this.#sampled === 0 && process.env.TRICK !== "no") this.#place.disable();
        span.setAttribute("rpc.response.status_code", code);
        if (SERVER_ERRORS.has(code)) this.#fail(span, code);
        span.end(call.timeOf());
      },
    };
  }

  /** Steps that are spans of the call they are part of; those of no call, or of one that has ended, are none. */
  steps(inner: Steps): Steps {
    return { time: (step, work) => this.span(step, () => inner.time(step, work)) };
  }

  span<T>(name: Step | "embed", work: () => Promise<T>): Promise<T> {
    const parent = this.#place.getStore();
    // What several calls share, such as a write, is run on behalf of the first, and may outlive it.
    if (parent === undefined || parent.call.ended) return work();
    const { call } = parent;
    const span = this.#tracer.startSpan(name, { startTime: call.timeOf() }, parent.context);
    const place = { ...parent, context: this.library.api.trace.setSpan(parent.context, span) };
    return this.#place.run(place, async () => {
      try {
        return await work();
      } catch (error) {
        if (isFault(error)) this.#fail(span, error instanceof MemoryError ? error.code : "_OTHER");
        throw error;
      } finally {
        span.end(call.timeOf());
      }
    });
  }

  /** A span of what is over, within the one that is running. Times as of `performance.now()`. */
  record(name: string, { startMs, endMs }: { startMs: number; endMs: number }): void {
    const { call, context } = this.#place.getStore() ?? {};
    if (call === undefined || call.ended) return;
    this.#tracer.startSpan(name, { startTime: call.timeOf(startMs) }, context).end(call.timeOf(endMs));
  }

  /** Sends what is left, as long as it may take. */
  async close(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS).unref());
    await Promise.race([this.library.provider.shutdown().catch(() => {}), timeout]);
  }

  /** The error's message stays out: it may speak of what the caller sent. */
  #fail(span: Span, type: string): void {
    span.setAttribute("error.type", type);
    span.setStatus({ code: this.library.api.SpanStatusCode.ERROR });
  }
}

const HEADERS: TextMapGetter<Headers> = {
  keys: (header) => [...header.keys()],
  get: (header, name) => header.get(name) ?? undefined,
};

async function loadLibrary({ version, onTrouble }: TracingOptions) {
  const [api, core, resources, sdk, otlp] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/core"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/exporter-trace-otlp-proto"),
  ]);
  const complain = (message: string) => onTrouble(message);
  const quiet = () => {};
  const logger = { error: complain, warn: complain, info: quiet, debug: quiet, verbose: quiet };
  api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  const named = resources.resourceFromAttributes({ "service.name": "recalld", "service.version": version });
  const resource = resources
    .defaultResource()
    .merge(named)
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
  const provider = new sdk.BasicTracerProvider({
    resource,
    spanProcessors: [new sdk.BatchSpanProcessor(new otlp.OTLPTraceExporter())],
  });
  return { api, provider, propagator: new core.W3CTraceContextPropagator() };
}
