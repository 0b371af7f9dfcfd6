import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const ROOT = join(import.meta.dirname, "../..");
/** Maximum attempts: the first one and four more, which is gRPC's limit for a policy. */
const ATTEMPTS_MAX = 5;
const BACKOFF_MS = 100;

export type Rpc = "Store" | "Recall" | "GetMemory" | "DeleteMemory";

export interface Answer {
  readonly body: JsonObject;
  /** Number of attempts before the one that was answered. */
  readonly retries: number;
}

/** A client that retries `unavailable` and nothing else. */
export interface RetryingClient {
  readonly protocol: "HTTP/1.1" | "gRPC";
  /**
   * Calls.
   *
   * @throws CallFailedError when the last attempt failed, or an attempt in another way than `unavailable`.
   */
  call(rpc: Rpc, request: JsonObject, header: Readonly<Record<string, string>>): Promise<Answer>;
  close(): void;
}

/** A call that its client gave up. */
export class CallFailedError extends Error {
  override readonly name = "CallFailedError";

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(`${code}: ${message}`);
  }
}

/**
 * Calls by Node's `fetch`, which keeps connections. Answers with 502, 503 or 504, which Connect's clients
 * call `unavailable`, are retried after `Retry-After`, else after 100 ms, 200 ms, 400 ms and 800 ms. A broken
 * connection is a failure, because the call's outcome is not known.
 */
export function httpClient(url: string): RetryingClient {
  return {
    protocol: "HTTP/1.1",
    async call(rpc, request, header) {
      for (let attempt = 0; ; attempt++) {
        const response = await post(`${url}/recalld.v1.MemoryService/${rpc}`, request, header);
        const body = (await response.text()) || "{}";
        if (response.ok) return { body: JSON.parse(body) as JsonObject, retries: attempt };
        if (![502, 503, 504].includes(response.status) || attempt + 1 === ATTEMPTS_MAX) {
          throw new CallFailedError(codeOf(body) ?? `HTTP ${response.status}`, body);
        }
        const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
        await sleep(Number.isNaN(seconds) ? BACKOFF_MS * 2 ** attempt : seconds * 1000);
      }
    },
    close: () => {},
  };
}

async function post(
  url: string,
  request: JsonObject,
  header: Readonly<Record<string, string>>,
): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...header },
      body: JSON.stringify(request),
    });
  } catch (error) {
    throw new CallFailedError("broken connection", String((error as Error).cause ?? error));
  }
}

function codeOf(body: string): string | undefined {
  return /^\{"code":"(\w+)"/.exec(body)?.[1];
}

/** Service config of gRPC, by which the library retries without the program's help. */
const SERVICE_CONFIG = {
  methodConfig: [
    {
      name: [{ service: "recalld.v1.MemoryService" }],
      retryPolicy: {
        maxAttempts: ATTEMPTS_MAX,
        initialBackoff: "0.1s",
        maxBackoff: "1s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
};

/** Calls by @grpc/grpc-js with a retry policy for UNAVAILABLE in its service config. */
export function grpcClient(address: string): RetryingClient {
  const definition = loadSync("recalld/v1/memory.proto", {
    includeDirs: [join(ROOT, "proto"), join(ROOT, "third_party")],
    keepCase: true,
    longs: Number,
    defaults: true,
  });
  const found = grpc.loadPackageDefinition(definition) as unknown as {
    recalld: { v1: { MemoryService: grpc.ServiceClientConstructor } };
  };
  const client = new found.recalld.v1.MemoryService(address, grpc.credentials.createInsecure(), {
    "grpc.service_config": JSON.stringify(SERVICE_CONFIG),
    // Each client of this kind has its own connection, like separate programs.
    "grpc.use_local_subchannel_pool": 1,
  });
  return {
    protocol: "gRPC",
    call: (rpc, request, header) => callGrpc(client, rpc, { request, header }),
    close: () => client.close(),
  };
}

function callGrpc(
  client: grpc.Client,
  rpc: Rpc,
  { request, header }: { request: JsonObject; header: Readonly<Record<string, string>> },
): Promise<Answer> {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(header)) metadata.set(name, value);
  const method = (client as unknown as Record<string, (...args: unknown[]) => grpc.ClientUnaryCall>)[rpc];
  return new Promise((resolve, reject) => {
    let retries = 0;
    const done = (error: grpc.ServiceError | null, body: JsonObject) => {
      if (error === null) resolve({ body, retries });
      else reject(new CallFailedError(grpc.status[error.code] ?? String(error.code), error.details));
    };
    const running = method?.call(client, request, metadata, done);
    running?.on("metadata", (received) => {
      retries = Number(received.get("grpc-previous-rpc-attempts")[0] ?? 0);
    });
  });
}
