import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A span as it arrived. */
export interface ArrivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** Kind of the span; 2 is a server's. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  /** Status code; 2 is an error. */
  readonly status: number;
}

export interface Collector {
  readonly url: string;
  readonly spans: ArrivedSpan[];
  /** Everything that arrived, to search it for forbidden content. */
  readonly bytes: Buffer[];
  readonly requests: { url: string; type: string | undefined; answered: boolean }[];
  /** Status of its answers from now on, or `never` for none. */
  answer: number | "never";
  /** Body of its answers. */
  body: string;
  /** Resolves when this many spans have arrived. */
  arrived(spans: number): Promise<readonly ArrivedSpan[]>;
  close(): Promise<void>;
}

const WAIT_TIMEOUT_MS = 20_000;

/** Starts a collector that takes traces by OTLP over HTTP, in Protobuf, as OpenTelemetry's does. */
export async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const answered = collector.answer !== "never";
    const { url = "", headers } = request;
    collector.requests.push({ url, type: headers["content-type"], answered });
    const body = await bodyOf(request);
    if (collector.answer === "never") return;
    if (collector.answer === 200) {
      collector.bytes.push(body);
      collector.spans.push(...spansOf(body));
    }
    response.writeHead(collector.answer, { "content-type": "application/x-protobuf" }).end(collector.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bytes: [],
    requests: [],
    answer: 200,
    body: "",
    arrived: async (count) => {
      const untilMs = Date.now() + WAIT_TIMEOUT_MS;
      while (collector.spans.length < count) {
        if (Date.now() > untilMs) throw new Error(`${collector.spans.length} of ${count} spans have arrived`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return collector.spans;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return collector;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

// The field numbers come from opentelemetry-proto, trace/v1/trace.proto and common/v1/common.proto.

function spansOf(exportRequest: Uint8Array): ArrivedSpan[] {
  return messages(exportRequest, 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).flatMap((one) => messages(one, 1));
    const spans = messages(resourceSpans, 2).flatMap((scope) => messages(scope, 2));
    return spans.map((span) => spanOf(span, attributesOf(resource)));
  });
}

function spanOf(bytes: Uint8Array, resource: Record<string, unknown>): ArrivedSpan {
  const hex = (field: number) => Buffer.from(messages(bytes, field)[0] ?? []).toString("hex");
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: text(messages(bytes, 5)[0]),
    kind: Number(numbers(bytes, 6)[0] ?? 0),
    startNs: BigInt(numbers(bytes, 7)[0] ?? 0),
    endNs: BigInt(numbers(bytes, 8)[0] ?? 0),
    attributes: attributesOf(messages(bytes, 9)),
    resource,
    status: Number(messages(bytes, 15).flatMap((status) => numbers(status, 3))[0] ?? 0),
  };
}

function attributesOf(keyValues: readonly Uint8Array[]): Record<string, unknown> {
  const entries = keyValues.map((keyValue) => {
    const value = messages(keyValue, 2)[0] ?? new Uint8Array();
    const [string] = messages(value, 1);
    return [text(messages(keyValue, 1)[0]), string ? text(string) : numbers(value, 3)[0]];
  });
  return Object.fromEntries(entries);
}

/** Reads the values of a length-delimited field. */
function messages(bytes: Uint8Array, field: number): Uint8Array[] {
  return fieldsOf(bytes).flatMap(([number, value]) =>
    number === field && value instanceof Uint8Array ? [value] : [],
  );
}

function numbers(bytes: Uint8Array, field: number): (number | bigint | string)[] {
  return fieldsOf(bytes).flatMap(([number, value]) =>
    number === field && !(value instanceof Uint8Array) ? [value] : [],
  );
}

function fieldsOf(bytes: Uint8Array): [field: number, value: Uint8Array | number | bigint | string][] {
  const reader = new BinaryReader(bytes);
  const fields: [number, Uint8Array | number | bigint | string][] = [];
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType === 0) fields.push([field, reader.uint64()]);
    else if (wireType === 1) fields.push([field, reader.fixed64()]);
    else if (wireType === 2) fields.push([field, reader.bytes()]);
    else if (wireType === 5) fields.push([field, reader.fixed32()]);
    else throw new Error(`wire type ${wireType}`);
  }
  return fields;
}

function text(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
