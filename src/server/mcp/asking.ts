import { fromBinary } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { once } from "../wire/plain-errors.js";
import { type Ask, type Json, Refusal } from "./tools/tool.js";

const SERVICE = "/recalld.v1.MemoryService/";

/** Headers of a request that its calls have too: who asks, which request it is, and how it may be repeated. */
const PASSED_ON = [
  ...["authorization", "x-api-key", "x-request-id", "traceparent", "tracestate", "user-agent"],
  "idempotency-key",
];

/** Headers of a call's answer that the request's answer has too. */
export const HANDED_BACK = ["ratelimit", "ratelimit-policy", "retry-after", "idempotent-replayed"];

export interface Asking {
  handlerOf(rpc: string): UniversalHandler;
  readonly header: Headers;
  /** Makes the context of a call. */
  values(): ContextValues;
  readonly signal: AbortSignal;
  /** Called with the headers of an answer. */
  onAnswer(header: Headers): void;
}

/** Makes what asks an RPC's own handler, as if its JSON had been posted. */
export function asking({ handlerOf, header, values, signal, onAnswer }: Asking): Ask {
  return async (rpc, request) => {
    const url = `${SERVICE}${rpc}`;
    const response = await handlerOf(url)({
      ...{ httpVersion: "1.1", method: "POST", url: `http://localhost${url}`, signal },
      header: headersOf(header),
      contextValues: values(),
      body: once(Buffer.from(written(request))),
    });
    onAnswer(response.header ?? new Headers());
    const answer = await jsonIn(response.body ?? []);
    if (response.status === 200) return answer;
    throw refusalIn(answer, response.header ?? new Headers(), header.get("x-request-id"));
  };
}

/** Writes a request as JSON, which recursion limits in depth where reading it has none. */
function written(request: Json): string {
  try {
    return JSON.stringify(request);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal("invalid_argument", "the arguments are nested too deep");
  }
}

function headersOf(header: Headers): Headers {
  const passed = new Headers({ "content-type": "application/json" });
  for (const name of PASSED_ON) {
    const value = header.get(name);
    if (value !== null) passed.set(name, value);
  }
  return passed;
}

async function jsonIn(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Json> {
  const chunks: Uint8Array[] = [];
  // The call counts as ended when its answer was read to the end.
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Json;
}

interface Detail {
  readonly type: string;
  readonly value: string;
}

function refusalIn({ code, message, details }: Json, header: Headers, requestId: string | null): Refusal {
  const retryAfter = header.get("retry-after");
  return new Refusal(String(code), String(message), {
    requestId: requestId ?? undefined,
    reason: reasonIn((details ?? []) as readonly Detail[]),
    ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
  });
}

function reasonIn(details: readonly Detail[]): string | undefined {
  const info = details.find(({ type }) => type === ErrorInfoSchema.typeName);
  return info && fromBinary(ErrorInfoSchema, Buffer.from(info.value, "base64")).reason;
}
