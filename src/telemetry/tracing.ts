import type { Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
import { MemoryError } from "../errors.js";
import type { CallStep, Steps } from "../memory/steps.js";
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

  /**
   * The span of a call, in the caller's trace when its headers name one. Its steps are spans within it
   * when the call is sampled; else they go to `steps` alone.
   */
  begin({ method, protocol, header }: Begun, steps: Steps<CallStep>): Ongoing {
    const { api, propagator } = this.library;
    // One for all spans of a call: the wall clock is too coarse to put them in their order.
    const epochMs = Date.now() - performance.now();
    const now = () => epochMs + performance.now();
    const attributes = { "rpc.system.name": systemOf(protocol), "rpc.method": method };
    const parent = propagator.extract(api.ROOT_CONTEXT, header, HEADERS);
    const options = { kind: api.SpanKind.SERVER, attributes, startTime: now() };
    const span = this.#tracer.startSpan(method, options, parent);
    const within = api.trace.setSpan(parent, span);
    return {
      traceId: span.spanContext().traceId,
      steps: span.isRecording() ? this.#spans(steps, { within, now }) : steps,
      end: (code) => {
        span.setAttribute("rpc.response.status_code", code);
        if (SERVER_ERRORS.has(code)) this.#fail(span, code);
        span.end(now());
      },
    };
  }

  /** Each step is a span; one that has waited before it began shows both in spans of their own. */
  #spans(steps: Steps<CallStep>, { within, now }: { within: Context; now: () => number }): Steps<CallStep> {
    return {
      time: async (step, work) => {
        const startTime = now();
        let begun: number | undefined;
        const onBegin = () => {
          begun ??= now();
        };
        const span = this.#tracer.startSpan(step, { startTime }, within);
        const record = (name: string, { from, to }: { from: number; to: number }) => {
          const context = this.library.api.trace.setSpan(within, span);
          this.#tracer.startSpan(`${step} ${name}`, { startTime: from }, context).end(to);
        };
        try {
          return await steps.time(step, () => work(onBegin));
        } catch (error) {
          if (isFault(error)) this.#fail(span, error instanceof MemoryError ? error.code : "_OTHER");
          throw error;
        } finally {
          const end = now();
          if (begun !== undefined) {
            record("wait", { from: startTime, to: begun });
            record("run", { from: begun, to: end });
          }
          span.end(end);
        }
      },
    };
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
