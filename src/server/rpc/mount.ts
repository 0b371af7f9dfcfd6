import type { DescMethod, DescService, Registry } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type ServiceImpl,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Call, Protocol } from "../call.js";
import type { Calls } from "../calls.js";
import { sessionOf } from "../listen/session-cookie.js";
import { encodingOf, normalizeHeaders } from "../wire/content-type.js";
import { wireErrorOf } from "../wire/errors.js";
import { JSON_OPTIONS } from "../wire/json-options.js";
import { errorBody, unsupported } from "../wire/plain-errors.js";
import { checkedStream, decodedBody, emptyHeaders } from "../wire/request-body.js";
import { nameOf, type Rpc, type Served } from "./service.js";

/** Maximum size of an answer: a page of 100 texts and their metadata, each byte as an escape of six. */
const ANSWER_BYTES_MAX = 67_108_864;

/** The call that a request of Connect, gRPC or gRPC-Web makes. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });

/** The request of a call, before the call is opened. */
const requestKey = createContextKey<FastifyRequest | undefined>(undefined, { description: "request" });

export interface RpcOptions {
  readonly calls: Calls;
  /** Services of the contract: each call needs a key, is logged and measured. */
  readonly services: readonly Served[];
  /** Adds services that need no key and are not reported, such as health. */
  addOpen(router: ConnectRouter): void;
  bodyBytesMax(method: DescMethod): number;
  /** Maximum size of a request to an open service. */
  readonly openBytesMax: number;
  /** Aborted when the calls that still run must end. */
  readonly shutdownSignal: AbortSignal;
  /** Types that JSON may have in an Any. */
  readonly registry?: Registry;
}

/** Hands the message that was decoded here to the RPC, which got an empty one from Connect. */
const handMessage: Interceptor = (next) => (request) => {
  const message = request.contextValues.get(callKey)?.message;
  return message === undefined || request.stream ? next(request) : next({ ...request, message });
};

/** Mounts the RPCs at their own paths, for Connect, gRPC and gRPC-Web. */
export function mountRpcs(app: FastifyInstance, options: RpcOptions): void {
  const { calls, services, shutdownSignal, openBytesMax, bodyBytesMax } = options;
  app.register(fastifyConnectPlugin, {
    routes: (router) => {
      for (const { service, methods } of services)
        router.service(service, implementation({ service, methods }, calls));
      const open = router.handlers.length;
      options.addOpen(router);
      for (const [i, handler] of [...router.handlers].entries()) {
        const isReported = i < open;
        const bytesMax = isReported ? bodyBytesMax(handler.method) : openBytesMax;
        router.handlers[i] = withCall(handler, { calls, bytesMax, isReported });
      }
    },
    contextValues: (request) => createContextValues().set(requestKey, request),
    requestGate: async (context) => {
      endCheaply(context);
      const call = callOf(context);
      if (call.isReported) await calls.begin(call).catch((error) => fail(call, error));
    },
    interceptors: [handMessage],
    acceptCompression: [compressionGzip],
    // Bodies are read and bounded before Connect sees them.
    readMaxBytes: ANSWER_BYTES_MAX,
    writeMaxBytes: ANSWER_BYTES_MAX,
    jsonOptions: { ...JSON_OPTIONS, ...(options.registry && { registry: options.registry }) },
    shutdownSignal,
  });
}

function callOf({ values }: Pick<HandlerContext, "values">): Call {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("an RPC is served without a call");
  return call;
}

/** Notes what a call ended with, and throws it as Connect's error. */
function fail(call: Call, error: unknown): never {
  call.error = error;
  throw wireErrorOf(call, error);
}

/**
 * Adapts functions of a message and a call to Connect's of a message and a context. A unary call
 * needs no signal of Connect's: it ends by itself when its client has gone, its time is over or the server stops.
 */
function implementation({ service, methods }: Served, calls: Calls): ServiceImpl<DescService> {
  const adapted = service.methods.map(({ localName, methodKind }) => {
    const serve = methods[localName] as Rpc["serve"];
    const answer = async (request: never, context: HandlerContext) => {
      const call = callOf(context);
      // Also one that Connect has read, from a query.
      call.message = request;
      try {
        return await calls.run(call, serve);
      } catch (error) {
        return fail(call, error);
      }
    };
    async function* stream(request: never, context: HandlerContext) {
      const call = callOf(context);
      call.message = request;
      // Connect alone keeps the time that a client allows a stream.
      const { signal } = context;
      const onAbort = () => call.abort(ConnectError.from(signal.reason, Code.Canceled));
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort);
      try {
        yield* serve(request, call) as AsyncIterable<object>;
      } catch (error) {
        fail(call, error);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    }
    return [localName, methodKind === "unary" ? answer : stream];
  });
  return Object.fromEntries(adapted);
}

/** Reason of the signal of a call that has ended. */
const ENDED = new DOMException("the call has ended", "AbortError");

/**
 * Lets Connect end the call's signal with a reason that exists. It aborts the signal of each call after its
 * end, without a reason, and Node then makes an exception with a stack for each.
 */
function endCheaply(context: HandlerContext): void {
  const ending = context as HandlerContext & { abort?(reason?: unknown): void };
  const { abort } = ending;
  if (abort !== undefined) ending.abort = (reason: unknown = ENDED) => abort(reason);
}

interface WithCall {
  readonly calls: Calls;
  readonly bytesMax: number;
  readonly isReported: boolean;
}

/**
 * Wraps a handler: opens the call, reads the body strictly after the gate, explains what HTTP alone refuses, and
 * ends the call with its answer.
 */
function withCall(handler: UniversalHandler, { calls, bytesMax, isReported }: WithCall): UniversalHandler {
  const method = nameOf(handler.method);
  const streams = handler.method.methodKind !== "unary";
  const serve = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const { header, contextValues = createContextValues() } = request;
    const from = contextValues.get(requestKey);
    if (from === undefined) throw new Error("an RPC is served without its request");
    normalizeHeaders(header);
    const protocol = protocolOf(header);
    const added: [string, string][] = [];
    const call = calls.open({
      method,
      protocol,
      request: from.raw,
      streams,
      isReported,
      // The portal speaks Connect; a browser's session is for no other protocol here.
      session: protocol === "connect" ? sessionOf(from.raw) : undefined,
      setHeader: (name, value) => void added.push([name, value]),
    });
    contextValues.set(callKey, call);
    try {
      const body = readBody(handler, { request, call, bytesMax });
      const response = withErrorBody(handler, request, await handler({ ...request, contextValues, body }));
      for (const [name, value] of added) response.header?.set(name, value);
      return { ...response, body: ending(response, call, calls) };
    } catch (error) {
      call.error ??= error;
      calls.end(call);
      throw error;
    }
  };
  return Object.assign(serve, handler);
}

interface Reading {
  readonly request: UniversalServerRequest;
  readonly call: Call;
  readonly bytesMax: number;
}

/** Makes the body that Connect reads: an empty message in place of the one that is decoded here. */
function readBody({ method }: UniversalHandler, { request, call, bytesMax }: Reading) {
  const { header } = request;
  const encoding = encodingOf(header);
  if (encoding === undefined) return request.body;
  const options = { message: method.input, ...encoding, bytesMax };
  if (method.methodKind !== "unary")
    return checkedStream(request.body as AsyncIterable<Uint8Array>, { ...options, call });
  const body = decodedBody({ ...options, call });
  emptyHeaders(header, encoding);
  return body;
}

/** Adds a body that explains a bare 405 or 415. */
function withErrorBody(
  { allowedMethods }: UniversalHandler,
  request: UniversalServerRequest,
  response: UniversalServerResponse,
): UniversalServerResponse {
  const { status, body } = response;
  if (body !== undefined) return response;
  const header = new Headers(response.header);
  header.set("content-type", "application/json");
  let message = `HTTP ${status}`;
  if (status === 405) {
    const allow = allowedMethods.join(", ");
    header.set("allow", allow);
    message = `${request.method.slice(0, 16)} is not served here; use ${allow}`;
  } else if (status === 415) {
    message = unsupported(request.header.get("content-type") ?? "none");
  }
  const bytes = Buffer.from(JSON.stringify(errorBody(status, message)));
  return { ...response, header, body: createAsyncIterable([bytes]) };
}

/** Passes the answer's body on, and ends the call behind it. */
async function* ending(response: UniversalServerResponse, call: Call, calls: Calls) {
  try {
    yield* response.body as AsyncIterable<Uint8Array>;
  } finally {
    if (call.error === undefined) call.refusedWith = refusalOf(response);
    calls.end(call);
  }
}

/** Name of the error with which Connect itself refused a call; undefined if it did not. */
function refusalOf({ status, header, trailer }: UniversalServerResponse): string | undefined {
  const grpcStatus = Number(trailer?.get("grpc-status") ?? header?.get("grpc-status") ?? 0);
  if (grpcStatus !== 0) return codeToString(grpcStatus as Code);
  return status === 200 ? undefined : errorBody(status, "").code;
}

function protocolOf(header: Headers): Protocol {
  const type = header.get("content-type") ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
