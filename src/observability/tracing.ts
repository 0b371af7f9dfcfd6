import type { Context, Span } from "@opentelemetry/api";
import { MemoryError } from "../errors.js";
import type { BegunCall, CallStep, CallWatcher, StepTimer } from "../memory/ports/step-timer.js";
import { VERSION } from "../version.js";
import { isFault, systemOf } from "./measured.js";

/** Codes that OpenTelemetry's conventions treat as a server's error. */
const SERVER_ERRORS = new Set([
  "unknown",
  "deadline_exceeded",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
]);

/** Time to deliver the last spans at the end of the program. */
const FLUSH_TIMEOUT_MS = 5_000;

export type Tracing = Awaited<ReturnType<typeof openTracing>>;

/**
 * Sends spans of calls and of their steps by OTLP. The standard `OTEL_*` variables configure it, and the
 * library reads them itself. Its packages are loaded only here: without tracing they cost nothing. `onTrouble` is
 * called with the library's complaints: settings it cannot use, spans it dropped or did not deliver.
 */
export async function openTracing(onTrouble: (message: string) => void) {
  const { api, provider, propagator } = await loadLibrary(onTrouble);
  const tracer = provider.getTracer("recalld", VERSION);

  /** Marks the span as failed, without the error's message: it may quote the caller's data. */
  const fail = (span: Span, type: string) => {
    span.setAttribute("error.type", type);
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  };

  /** Times steps as spans within that of a call. */
  const stepsOf = (timer: StepTimer<CallStep>, within: Context, now: () => number): StepTimer<CallStep> => ({
    time: async (name, work) => {
      const span = tracer.startSpan(name, { startTime: now() }, within);
      try {
        return await timer.time(name, work);
      } catch (error) {
        if (isFault(error)) fail(span, error instanceof MemoryError ? error.code : "_OTHER");
        throw error;
      } finally {
        span.end(now());
      }
    },
  });

  return {
    /**
     * Begins the span of a call, in the caller's trace if its headers name one. Its steps are spans within it
     * if the call is sampled; otherwise they go to `timer` alone.
     */
    begin({ method, protocol, headers }: BegunCall, timer: StepTimer<CallStep>): CallWatcher {
      // One clock for all spans of a call, in ms since 1970: the wall clock is too coarse to put them in order.
      const epochMs = Date.now() - performance.now();
      const now = () => epochMs + performance.now();
      const attributes = { "rpc.system.name": systemOf(protocol), "rpc.method": method };
      const parent = propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
      const kind = api.SpanKind.SERVER;
      const span = tracer.startSpan(method, { kind, attributes, startTime: now() }, parent);
      const within = api.trace.setSpan(parent, span);
      return {
        traceId: span.spanContext().traceId,
        timer: span.isRecording() ? stepsOf(timer, within, now) : timer,
        end: ({ code }) => {
          span.setAttribute("rpc.response.status_code", code);
          if (SERVER_ERRORS.has(code)) fail(span, code);
          span.end(now());
        },
      };
    },
    async close(): Promise<void> {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS).unref());
      // Spans that no collector takes are lost, and nothing waits for them.
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

async function loadLibrary(onTrouble: (message: string) => void) {
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
  const named = resources.resourceFromAttributes({ "service.name": "recalld", "service.version": VERSION });
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
