import { create, type DescMethod, type Message, type Registry } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
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
import { compressionGzip, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply } from "fastify";
import { inTimeSlices, runToEnd } from "../../concurrency/time-slices.js";
import { type Messages, readMessage, readMessages, readQueryMessage } from "../body.js";
import { type Call, type Protocol, TIMER_MS_MAX } from "../call.js";
import { type Calls, SIGN_UP } from "../calls.js";
import { type Encoding, encodingOf, unsupported } from "../content-type.js";
import { httpErrorOf, sendError, wireErrorOf } from "../errors.js";
import { JSON_OPTIONS } from "../json.js";
import { onTaken } from "../listen/open-requests.js";
import { noteRefusal } from "../listen/refusals.js";
import { type Endpoint, serve } from "../serve.js";
import { nameOf, type Rpc } from "./service.js";
import { withStoredJson, withStoredStructs } from "./stored-json.js";

/** Maximum size of an answer: a page of 100 texts and their metadata, each byte as an escape of six. */
const ANSWER_BYTES_MAX = 67_108_864;

const UTF8 = new TextEncoder();

/** The call that a request of Connect, gRPC or gRPC-Web makes. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });

/** The messages that a call sends. */
const inputKey = createContextKey<Messages | undefined>(undefined, { description: "input" });

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
  const reading = call.request.method === "GET" ? readQueryMessage(call, input) : readMessage(call, input);
  const message = await reading.catch((error) => fail(call, error));
  return next(Object.assign(request, { message }));
};

async function* readStream(empty: AsyncIterable<Message>, call: Call, messages: Messages) {
  // It has no message, but Connect's own refusals, such as of an unknown compression.
  yield* empty;
  try {
    yield* readMessages(call, messages);
  } catch (error) {
    fail(call, error);
  }
}

/** Mounts the RPCs at their own paths, for Connect, gRPC and gRPC-Web. */
export function mountRpcs(app: FastifyInstance, { calls, rpcs, ...options }: RpcOptions): void {
  const router = createConnectRouter({
    requestGate: async (context) => {
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
  });
  for (const rpc of rpcs) router.rpc(rpc.descriptor, implementation(rpc, calls));
  options.addOpen(router);
  for (const [i, handler] of router.handlers.entries()) {
    const isReported = i < rpcs.length;
    const bytesMax = rpcs[i]?.bytesMax ?? options.openBytesMax;
    const name = nameOf(handler.method);
    const endpoint: Endpoint = {
      method: handler.allowedMethods,
      url: handler.requestPath,
      name,
      streams: handler.method.methodKind !== "unary",
      credential: isReported && name !== SIGN_UP ? "either" : undefined,
      optionsFor: (type) => {
        const protocol = protocolOf(type);
        // The portal speaks Connect; a browser's session is for no other protocol here.
        return { protocol, isReported, credential: protocol === "connect" ? "either" : "key" };
      },
      answer: async (call, reply) => {
        const response = await handler(requestOf(call, handler, bytesMax));
        if (response.body === undefined) explain(response, reply);
        else await send(call, response, { reply, onFault: (fault) => calls.logFault(call, fault) });
        call.error ??= call.abortReason;
        if (call.error === undefined) noteOutcome(call, response);
        return undefined;
      },
    };
    serve(app, endpoint, calls);
  }
}

function callOf({ values }: Pick<HandlerContext, "values">): Call {
  return values.get(callKey) as Call;
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
function implementation(rpc: Rpc, calls: Calls): MethodImpl<DescMethod> {
  const { output, methodKind } = rpc.descriptor;
  const answer = async (request: Message, context: HandlerContext) => {
    const call = callOf(context);
    call.message = request;
    try {
      const message = await calls.run(call, rpc);
      return isBinary(context) ? await inTimeSlices(withStoredStructs(output, message)) : message;
    } catch (error) {
      return fail(call, error);
    }
  };
  async function* stream(request: Message, context: HandlerContext) {
    const call = callOf(context);
    call.message = request;
    let isWriting = false;
    try {
      for await (const fields of rpc.serve(request as never, call) as AsyncIterable<
        Record<string, unknown>
      >) {
        const message = isBinary(context)
          ? runToEnd(withStoredStructs(output, create(output, fields)))
          : fields;
        isWriting = true;
        yield message;
        isWriting = false;
      }
    } catch (error) {
      // At a yield, Connect tells that it could not write the message.
      fail(call, isWriting ? new ConnectError("the client has gone", Code.Canceled) : error);
    }
  }
  return (methodKind === "unary" ? answer : stream) as MethodImpl<DescMethod>;
}

function isBinary({ values }: HandlerContext): boolean {
  return values.get(inputKey)?.encoding.codec === "proto";
}

const TIMEOUT_HEADERS = ["connect-timeout-ms", "grpc-timeout"];

/** Empty message, which Connect reads in place of the one that is read here. */
const EMPTY = { json: Buffer.from("{}"), proto: Buffer.alloc(0) };

/** Makes the request that Connect reads: one without a message that says anything, and not compressed. */
function requestOf(call: Call, { method }: UniversalHandler, bytesMax: number): UniversalServerRequest {
  const { request, signal } = call;
  const url = new URL(request.url ?? "", "http://localhost");
  const header = new Headers();
  for (const [name, value] of Object.entries(call.headers))
    if (!name.startsWith(":")) header.set(name, String(value));
  // Connect would end the call at once: a timer of Node's waits no longer.
  if (call.timeoutMs > TIMER_MS_MAX) for (const name of TIMEOUT_HEADERS) header.delete(name);
  const contextValues = createContextValues().set(callKey, call);
  const isGet = request.method === "GET";
  // Some clients name a type on each request; of a GET it says nothing.
  if (isGet) header.delete("content-type");
  const encoding = isGet ? encodingIn(url.searchParams) : encodingOf(header.get("content-type") ?? "");
  const body: Uint8Array[] = [];
  if (encoding !== undefined) {
    const { codec, enveloped } = encoding;
    contextValues.set(inputKey, { message: method.input, encoding, bytesMax });
    header.delete("content-length");
    if (!enveloped && header.get("content-encoding") === "gzip") header.delete("content-encoding");
    if (isGet) emptyQuery(url.searchParams, codec);
    else if (method.methodKind === "unary")
      body.push(enveloped ? encodeEnvelope(0, EMPTY[codec]) : EMPTY[codec]);
  }
  return {
    httpVersion: request.httpVersion,
    method: request.method ?? "",
    url: url.href,
    header,
    body: createAsyncIterable(body),
    signal,
    contextValues,
  };
}

/** How the message in the query of Connect's GET is written. */
function encodingIn(query: URLSearchParams): Encoding | undefined {
  const codec = query.get("encoding");
  return codec === "json" || codec === "proto" ? { codec, enveloped: false } : undefined;
}

function emptyQuery(query: URLSearchParams, codec: Encoding["codec"]): void {
  query.set("message", EMPTY[codec].toString());
  query.delete("base64");
  if (query.get("compression") === "gzip") query.delete("compression");
}

/** Explains a bare refusal of Connect's, such as a 415. */
function explain({ status, header = new Headers() }: UniversalServerResponse, reply: FastifyReply): void {
  const { method, headers } = reply.request;
  const type = headers["content-type"] ?? "none";
  const reason = method === "GET" ? "encoding of the query must be json or proto" : unsupported(type);
  reply.headers(Object.fromEntries(header));
  sendError(reply, status, status === 415 ? reason : `HTTP ${status}`);
}

/** Sends what Connect has answered, and resolves when its client has all of it, or has gone. */
function send(
  { request }: Call,
  { body, ...response }: UniversalServerResponse,
  { reply, onFault }: { readonly reply: FastifyReply; onFault(fault: unknown): void },
): Promise<void> {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value as string);
  return new Promise((resolve) => {
    const ending = async function* () {
      try {
        yield* body as AsyncIterable<Uint8Array>;
      } finally {
        resolve();
      }
    };
    const bytes = ending();
    // Connect would wait for ever until a client that has gone takes more.
    onTaken(request, () => {
      void bytes.return();
      resolve();
    });
    universalResponseToNodeResponse({ ...response, body: bytes }, reply.raw).catch((error) => {
      // If the client has gone, a failed write is no fault of the server.
      if (!request.socket.destroyed && ConnectError.from(error).code !== Code.Aborted) onFault(error);
    });
  });
}

/** Notes the error with which Connect itself refused a call, if it did. */
function noteOutcome(call: Call, { status, header, trailer }: UniversalServerResponse): void {
  const grpcStatus = Number(trailer?.get("grpc-status") ?? header?.get("grpc-status") ?? 0);
  if (grpcStatus === 0 && status === 200) return;
  call.error = grpcStatus === 0 ? httpErrorOf(status, "") : new ConnectError("", grpcStatus);
  noteRefusal(call.request);
}

function protocolOf(type: string): Protocol {
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}
