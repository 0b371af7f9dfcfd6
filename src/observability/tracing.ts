import type { Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
import { MemoryError } from "../errors.js";
import type { CallStep, StepTimer } from "../memory/ports/step-timer.js";
import { type Begun, isFault, type Ongoing, systemOf } from "./measured.js";

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

interface SpanPosition {
  readonly within: Context;
  /**
   * One clock for all spans of a call, in ms since 1970: the wall clock is too coarse to put them in order.
   */
  readonly now: () => number;
}

type Library = Awaited<ReturnType<typeof loadLibrary>>;

export interface TracingOptions {
  readonly version: string;
  /** Called with the library's complaints: settings it cannot use, spans it dropped or did not deliver. */
  onTrouble(message: string): void;
}

/**
 * Sends spans of calls and of their steps by OTLP. The standard `OTEL_*` variables configure it, and the
 * library reads them itself. Its packages are loaded only here: without tracing they cost nothing.
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
   * Begins the span of a call, in the caller's trace if its headers name one. Its steps are spans within it
   * if the call is sampled; otherwise they go to `timer` alone.
   */
  begin({ method, protocol, headers }: Begun, timer: StepTimer<CallStep>): Ongoing {
    const { api, propagator } = this.library;
    const epochMs = Date.now() - performance.now();
    const now = () => epochMs + performance.now();
    const attributes = { "rpc.system.name": systemOf(protocol), "rpc.method": method };
    const parent = propagator.extract(api.ROOT_CONTEXT, headers, HEADERS);
    const options = { kind: api.SpanKind.SERVER, attributes, startTime: now() };
    const span = this.#tracer.startSpan(method, options, parent);
    const within = api.trace.setSpan(parent, span);
    return {
      traceId: span.spanContext().traceId,
      timer: span.isRecording() ? this.#spans(timer, { within, now }) : timer,
      end: ({ code }) => {
        span.setAttribute("rpc.response.status_code", code);
        if (SERVER_ERRORS.has(code)) this.#fail(span, code);
        span.end(now());
      },
    };
  }

  #spans(timer: StepTimer<CallStep>, place: SpanPosition): StepTimer<CallStep> {
    return {
      time: (step, work) => this.#span(step, place, (onBegin) => timer.time(step, () => work(onBegin))),
    };
  }

  async #span<T>(name: CallStep, place: SpanPosition, work: (onBegin: () => void) => Promise<T>): Promise<T> {
    const { within, now } = place;
    const startTime = now();
    let begun: number | undefined;
    const span = this.#tracer.startSpan(name, { startTime }, within);
    try {
      return await work(() => {
        begun ??= now();
      });
    } catch (error) {
      if (isFault(error)) this.#fail(span, error instanceof MemoryError ? error.code : "_OTHER");
      throw error;
    } finally {
      const end = now();
      if (begun !== undefined) this.#divide(name, { span, times: [startTime, begun, end] });
      span.end(end);
    }
  }

  /** Records a step. A step that waited before it began has one span for the wait and one for the work. */
  #divide(name: CallStep, { span, times }: { span: Span; times: readonly [number, number, number] }): void {
    const within = this.library.api.trace.setSpan(this.library.api.ROOT_CONTEXT, span);
    const [start, begun, end] = times;
    this.#tracer.startSpan(`${name} wait`, { startTime: start }, within).end(begun);
    this.#tracer.startSpan(`${name} run`, { startTime: begun }, within).end(end);
  }

  async close(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS).unref());
    // Spans that no collector takes are lost, and nothing waits for them.
    await Promise.race([this.library.provider.shutdown().catch(() => {}), timeout]);
  }

  /** Marks the span as failed, without the error's message: it may quote the caller's data. */
  #fail(span: Span, type: string): void {
    span.setAttribute("error.type", type);
    span.setStatus({ code: this.library.api.SpanStatusCode.ERROR });
  }
}

const HEADERS: TextMapGetter<Begun["headers"]> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name] as string | undefined,
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
