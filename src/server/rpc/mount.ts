import { create, type DescMethod, type Message, type Registry } from "@bufbuild/protobuf";
import {
  type Code,
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
  type MethodImpl,
} from "@connectrpc/connect";
import {
  createAsyncIterable,
  encodeEnvelope,
  type UniversalHandler,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod, RouteOptions } from "fastify";
import { inTimeSlices, toEnd } from "../../concurrency/time-slices.js";
import { yieldToEventLoop } from "../../concurrency/yield-to-event-loop.js";
import { type Messages, readMessage, readMessages, readQueried } from "../body.js";
import type { Call, Protocol } from "../call.js";
import { type Calls, SIGN_UP } from "../calls.js";
import { encodingOf, unsupported } from "../content-type.js";
import { errorBody, grpcErrorOf, httpErrorOf, wireErrorOf } from "../errors.js";
import { JSON_OPTIONS } from "../json.js";
import { nameOf, type Rpc } from "./service.js";
import { withStoredJson, withStoredStructs } from "./stored-json.js";

/** Maximum size of an answer: a page of 100 texts and their metadata, each byte as an escape of six. */
const ANSWER_BYTES_MAX = 67_108_864;

const UTF8 = new TextEncoder();
const YIELDING = { yield: yieldToEventLoop };

/** The call that a request of Connect, gRPC or gRPC-Web makes. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });

/** The request of a call, before the call is opened. */
const requestKey = createContextKey<FastifyRequest | undefined>(undefined, { description: "request" });

/** The messages that a call sends, and its body, or the URL whose query has the message. */
type Input = Messages & { readonly body: AsyncIterable<Uint8Array>; readonly url?: string };

const inputKey = createContextKey<Input | undefined>(undefined, { description: "input" });

export interface RpcOptions {
  readonly calls: Calls;
  /** RPCs of the contract: each call needs a key, is logged and measured. */
  readonly rpcs: readonly Rpc[];
  /** Adds services that need no key and are not reported, such as health. */
  addOpen(router: ConnectRouter): void;
  /** Maximum size of a request to an open service. */
  readonly openBytesMax: number;
  /** Types that JSON may have in an Any. */
  readonly registry?: Registry;
}

/**
 * Reads the messages of a call, in place of the empty one that Connect has read. What cannot be read is the caller's
 * mistake; Connect would call it a fault of the server, and not name the field.
 */
const readInput: Interceptor = (next) => async (request) => {
  const call = callOf({ values: request.contextValues });
  const input = request.contextValues.get(inputKey);
  if (input === undefined) return next(request);
  if (request.stream)
    return next(Object.assign(request, { message: readStream(request.message, call, input) }));
  const reading = input.url === undefined ? readMessage(call, input) : readQueried(call, input.url, input);
  const message = await reading.catch((error) => fail(call, error));
  return next(Object.assign(request, { message }));
};

async function* readStream(empty: AsyncIterable<Message>, call: Call, { body, ...messages }: Input) {
  // It has no message, but Connect's own refusals, such as of an unknown compression.
  yield* empty;
  try {
    yield* readMessages(call, body, messages);
  } catch (error) {
    fail(call, error);
  }
}

/** Mounts the RPCs at their own paths, for Connect, gRPC and gRPC-Web. */
export function mountRpcs(app: FastifyInstance, options: RpcOptions): void {
  const { calls, rpcs, openBytesMax } = options;
  const routes = new Map<string, Pick<RouteOptions, "method" | "config">>();
  const connectOptions: Parameters<typeof fastifyConnectPlugin>[1] = {
    routes: (router) => {
      for (const rpc of rpcs) router.rpc(rpc.descriptor, implementation(rpc, calls));
      options.addOpen(router);
      for (const [i, handler] of router.handlers.entries()) {
        const isReported = i < rpcs.length;
        const bytesMax = rpcs[i]?.bytesMax ?? openBytesMax;
        router.handlers[i] = withCall(handler, { calls, bytesMax, isReported });
        const open = !isReported || nameOf(handler.method) === SIGN_UP;
        routes.set(handler.requestPath, { method: handler.allowedMethods, config: { open } });
      }
    },
    contextValues: (request) => createContextValues().set(requestKey, request),
    requestGate: async (context) => {
      endCheaply(context);
      const call = callOf(context);
      if (call.isReported) await calls.begin(call).catch((error) => fail(call, error));
    },
    interceptors: [readInput],
    acceptCompression: [compressionGzip],
    // Bodies are read and bounded before Connect sees them.
    readMaxBytes: ANSWER_BYTES_MAX,
    writeMaxBytes: ANSWER_BYTES_MAX,
    jsonOptions: {
      ...JSON_OPTIONS,
      ...(options.registry && { registry: options.registry }),
      // Connect has an answer's JSON encoded by this.
      ...{ textEncoder: { encode: (json: string) => UTF8.encode(withStoredJson(json)) } },
    },
  };
  app.register((instance, _options, done) => {
    // Connect's plugin asks for a route for every method that Node can read: a tenth of the start. Those that an RPC
    // does not have are answered as at any other path.
    instance.all = ((url: string, _: object, handler: RouteHandlerMethod) =>
      instance.route({ ...(routes.get(url) as RouteOptions), url, handler })) as typeof instance.all;
    fastifyConnectPlugin(instance, connectOptions, done);
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
 * Adapts a function of a message and a call to Connect's of a message and a context. A call needs no signal of
 * Connect's: it ends by itself when its client has gone, its time is over or the server stops.
 */
function implementation({ descriptor, serve }: Rpc, calls: Calls): MethodImpl<DescMethod> {
  const { output } = descriptor;
  const answer = async (request: Message, context: HandlerContext) => {
    const call = callOf(context);
    call.message = request;
    try {
      const fields = await calls.run(call, serve);
      if (!isBinary(context)) return fields;
      return await inTimeSlices(withStoredStructs(output, create(output, fields)), YIELDING);
    } catch (error) {
      return fail(call, error);
    }
  };
  async function* stream(request: Message, context: HandlerContext) {
    const call = callOf(context);
    call.message = request;
    try {
      for await (const fields of serve(request as never, call) as AsyncIterable<Record<string, unknown>>)
        yield isBinary(context) ? toEnd(withStoredStructs(output, create(output, fields))) : fields;
    } catch (error) {
      fail(call, error);
    }
  }
  return (descriptor.methodKind === "unary" ? answer : stream) as MethodImpl<DescMethod>;
}

function isBinary({ values }: HandlerContext): boolean {
  return values.get(inputKey)?.encoding.codec === "proto";
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
    const from = request.contextValues?.get(requestKey);
    if (from === undefined) throw new Error("an RPC is served without its request");
    const protocol = protocolOf(request.header);
    const added: [string, string][] = [];
    const call = calls.open({
      method,
      protocol,
      request: from.raw,
      streams,
      isReported,
      // The portal speaks Connect; a browser's session is for no other protocol here.
      credential: protocol === "connect" ? "either" : "key",
      setHeader: (name, value) => void added.push([name, value]),
    });
    request.contextValues?.set(callKey, call);
    try {
      // Changed in place: in V8 of Node 20, a spread object before other properties takes 2 us.
      request.body = bodyFor(handler, request, bytesMax);
      const response = withErrorBody(request, await handler(request));
      for (const [name, value] of added) response.header?.set(name, value);
      response.body = ending(response.body as AsyncIterable<Uint8Array>, response, { call, calls });
      return response;
    } catch (error) {
      call.error ??= error;
      calls.end(call);
      throw error;
    }
  };
  return Object.assign(serve, handler);
}

/** Empty message, which Connect reads in place of the one that is read here. */
const EMPTY = { json: Buffer.from("{}"), proto: Buffer.alloc(0) };

/** Makes the body that Connect reads: one without a message that says anything, and not compressed. */
function bodyFor(
  { method }: UniversalHandler,
  request: UniversalServerRequest,
  bytesMax: number,
): UniversalServerRequest["body"] {
  const { header } = request;
  if (request.method === "GET") emptyQuery(request, { message: method.input, bytesMax });
  const encoding = request.method === "POST" ? encodingOf(header.get("content-type") ?? "") : undefined;
  if (encoding === undefined) return request.body;
  const { codec, enveloped } = encoding;
  const body = request.body as AsyncIterable<Uint8Array>;
  request.contextValues?.set(inputKey, { message: method.input, encoding, bytesMax, body });
  header.delete("content-length");
  if (!enveloped && header.get("content-encoding") === "gzip") header.delete("content-encoding");
  if (method.methodKind !== "unary") return createAsyncIterable([]);
  return createAsyncIterable([enveloped ? encodeEnvelope(0, EMPTY[codec]) : EMPTY[codec]]);
}

/** Does the same with the message in the query of Connect's GET. */
function emptyQuery(request: UniversalServerRequest, messages: Omit<Messages, "encoding">): void {
  const url = new URL(request.url);
  const { searchParams: query } = url;
  const codec = query.get("encoding");
  if (codec !== "json" && codec !== "proto") return;
  const encoding = { codec, enveloped: false, header: "" } as const;
  const body = createAsyncIterable<Uint8Array>([]);
  request.contextValues?.set(inputKey, { ...messages, encoding, body, url: request.url });
  query.set("message", EMPTY[codec].toString());
  query.delete("base64");
  if (query.get("compression") === "gzip") query.delete("compression");
  request.url = url.href;
}

/** Explains a bare 415, in the form of the request's protocol. */
function withErrorBody(
  request: UniversalServerRequest,
  response: UniversalServerResponse,
): UniversalServerResponse {
  const { status, body } = response;
  if (body !== undefined) return response;
  const header = new Headers(response.header);
  const type = request.header.get("content-type") ?? "none";
  const reason = request.method === "GET" ? "encoding of the query must be json or proto" : unsupported(type);
  const message = status === 415 ? reason : `HTTP ${status}`;
  const grpc = grpcErrorOf({ method: request.method, type }, httpErrorOf(status, message));
  if (grpc !== undefined) return { status: 200, ...grpc, body: createAsyncIterable([]) };
  header.set("content-type", "application/json");
  const bytes = Buffer.from(JSON.stringify(errorBody(status, message)));
  return { ...response, header, body: createAsyncIterable([bytes]) };
}

/** Passes the answer's body on, and ends the call behind it. */
async function* ending(
  body: AsyncIterable<Uint8Array>,
  response: UniversalServerResponse,
  { call, calls }: { readonly call: Call; readonly calls: Calls },
) {
  try {
    yield* body;
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
