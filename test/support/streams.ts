import type { JsonObject } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { type Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { MemoryService, WatchNamespaceResponseSchema } from "../../gen/recalld/v1/memory_pb.js";

/** One event of a watch, in the same form for every protocol. */
export interface Told {
  readonly kind: string;
  readonly position: string;
  readonly data: JsonObject;
}

export interface Watching {
  readonly namespace: string;
  readonly position?: string;
  readonly key: string;
  readonly signal?: AbortSignal;
  readonly header?: Readonly<Record<string, string>>;
}

/** Error of a stream, as every protocol has it. */
export class StreamError extends Error {
  override readonly name = "StreamError";

  constructor(
    readonly code: string,
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}

/** One protocol by which callers get streams. */
export interface StreamProtocol {
  readonly name: string;
  watch(asked: Watching): AsyncIterable<Told>;
  exportMemories(
    asked: Pick<Watching, "namespace" | "key" | "signal"> & { includeVectors?: boolean; filter?: JsonObject },
  ): AsyncIterable<string>;
}

/** Lists every protocol of the server at `url`. */
export function streamProtocolsOf(url: string): StreamProtocol[] {
  return [
    plainProtocol(url),
    rpcProtocol("Connect JSON", createConnectTransport({ baseUrl: url, httpVersion: "1.1" })),
    rpcProtocol(
      "Connect binary over HTTP/2",
      createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: true }),
    ),
    rpcProtocol("gRPC", createGrpcTransport({ baseUrl: url })),
    rpcProtocol("gRPC-Web", createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })),
  ];
}

function rpcProtocol(name: string, transport: Transport): StreamProtocol {
  const client = createClient(MemoryService, transport);
  const options = (key: string, signal: AbortSignal, header = {}) => ({
    headers: { authorization: `Bearer ${key}`, ...header },
    signal,
  });
  return {
    name,
    async *watch({ namespace, position = "", key, signal, header }) {
      const open = (ending: AbortSignal) =>
        client.watchNamespace({ namespace, position }, options(key, ending, header));
      for await (const message of caught(signal, open)) {
        const json = toJson(WatchNamespaceResponseSchema, message, {
          useProtoFieldName: true,
          alwaysEmitImplicit: true,
        }) as JsonObject;
        const kind = message.event.case ?? "none";
        yield { kind, position: message.position, data: json[kind] as JsonObject };
      }
    },
    async *exportMemories({ namespace, includeVectors = false, filter, key, signal }) {
      const open = (ending: AbortSignal) =>
        client.exportMemories({ namespace, includeVectors, ...(filter && { filter }) }, options(key, ending));
      for await (const { line } of caught(signal, open)) yield line;
    },
  };
}

/** Passes a stream on, ends the call when it is left, and makes its errors those of every protocol. */
async function* caught<T>(
  outer: AbortSignal | undefined,
  open: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const left = new AbortController();
  try {
    yield* open(outer === undefined ? left.signal : AbortSignal.any([outer, left.signal]));
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    throw new StreamError(codeToString(code as Code), rawMessage);
  } finally {
    left.abort();
  }
}

function plainProtocol(url: string): StreamProtocol {
  return {
    name: "plain paths",
    async *watch({ namespace, position, key, signal, header = {} }) {
      const query = position === undefined ? "" : `?position=${encodeURIComponent(position)}`;
      const path = `${url}/namespaces/${encodeURIComponent(namespace)}/events${query}`;
      yield* eventsIn(await opened(path, { key, header, ...(signal && { signal }) }));
    },
    async *exportMemories({ namespace, key, signal, filter, includeVectors = false }) {
      const asked = [
        ...(includeVectors ? ["include_vectors=true"] : []),
        ...(filter ? [`filter=${encodeURIComponent(JSON.stringify(filter))}`] : []),
      ];
      const query = asked.length > 0 ? `?${asked.join("&")}` : "";
      const path = `${url}/namespaces/${encodeURIComponent(namespace)}/export${query}`;
      for await (const line of partsOf(await opened(path, { key, ...(signal && { signal }) }), "\n")) {
        const { error } = JSON.parse(line) as { error?: { code: string; message: string } };
        if (error !== undefined) throw new StreamError(error.code, error.message);
        yield line;
      }
    },
  };
}

async function opened(
  path: string,
  { key, signal, header = {} }: Pick<Watching, "key" | "signal" | "header">,
): Promise<Response> {
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${key}`, ...header },
    ...(signal && { signal }),
  });
  if (response.status === 200) return response;
  const { code, message } = (await response.json()) as { code: string; message: string };
  throw new StreamError(code, message, response.status);
}

/** Reads server-sent events as a browser does; a block without data moves the last id alone. */
export async function* eventsIn(response: Response): AsyncGenerator<Told> {
  for await (const block of partsOf(response, "\n\n")) {
    const lines = block.split("\n");
    const field = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = JSON.parse(field("data") ?? "{}") as JsonObject;
    if (field("event") === "failure") throw new StreamError(String(data.code), String(data.message));
    yield { kind: field("event") ?? "heartbeat", position: field("id") ?? "", data };
  }
}

async function* partsOf(response: Response, end: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const parts = rest.split(end);
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/** Takes this many changes of a watch, without its heartbeats, and then leaves it. */
export async function changesIn(told: AsyncIterable<Told>, count: number): Promise<Told[]> {
  const watch = new OpenWatch(told);
  try {
    return await watch.changes(count);
  } finally {
    await watch.leave();
  }
}

/** A watch that a test takes event by event. */
export class OpenWatch {
  readonly #told: AsyncIterator<Told>;

  constructor(told: AsyncIterable<Told>) {
    this.#told = told[Symbol.asyncIterator]();
  }

  async next(): Promise<Told> {
    const { done, value } = await this.#told.next();
    if (done) throw new Error("the watch ended");
    return value;
  }

  /** Takes this many changes, and skips heartbeats. */
  async changes(count: number): Promise<Told[]> {
    const changes: Told[] = [];
    while (changes.length < count) {
      const each = await this.next();
      if (each.kind !== "heartbeat") changes.push(each);
    }
    return changes;
  }

  async leave(): Promise<void> {
    await this.#told.return?.();
  }
}
