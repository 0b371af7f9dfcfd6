import type { FastifyInstance, FastifyReply, HTTPMethods } from "fastify";
import type { Call, CallOptions, Protocol } from "./call.js";
import type { Calls } from "./calls.js";
import { unsupported } from "./content-type.js";
import { sendCallError, sendError } from "./errors.js";
import { acceptsGzip, gzipped } from "./gzip.js";
import { noteRefusal } from "./listen/refusals.js";

/** Size from which an answer is compressed for those who accept it; smaller ones gain nothing. */
const GZIP_BYTES_MIN = 1_024;

/** A path, and how calls to it are served. */
export interface Endpoint {
  readonly method: HTTPMethods | string[];
  readonly url: string;
  /** Name of its calls; the method and the path if left out. */
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly streams?: boolean;
  /** Credential that is checked. If left out, none is, and the request counts as one without a key. */
  readonly credential?: Call["credential"] | undefined;
  /** Options of a call that depend on its Content-Type, such as the protocol. */
  optionsFor?(type: string): Partial<CallOptions>;
  /** Content-Types that are accepted; left out if no body is read, or if `answer` checks the type. */
  readonly takes?: readonly string[] | undefined;
  /** Begins a call and serves it. Returns the JSON to send, as text or as an object; undefined if it has sent the answer. */
  answer(call: Call, reply: FastifyReply): Promise<string | object | undefined>;
  /** Sends an error in a form of its own; `sendCallError` if left out. */
  refuse?(reply: FastifyReply, call: Call, thrown: unknown): FastifyReply;
}

export function serve(app: FastifyInstance, endpoint: Endpoint, calls: Calls): void {
  const { method, url, name = `${String(method)} ${url}`, protocol = "json", takes, credential } = endpoint;
  app.route({
    method,
    url,
    config: { ...(credential && { credential }) },
    handler: async (request, reply) => {
      const type = request.headers["content-type"] ?? "none";
      if (takes?.includes(type) === false) {
        noteRefusal(request.raw);
        return sendError(reply, 415, unsupported(type, takes));
      }
      const call = calls.open({
        method: name,
        protocol,
        request: request.raw,
        streams: endpoint.streams ?? false,
        ...(credential && { credential }),
        ...endpoint.optionsFor?.(type),
        setHeader: (header, value) => void reply.header(header, value),
      });
      let answer: string | object | undefined;
      try {
        answer = await endpoint.answer(call, reply);
      } catch (error) {
        call.error ??= error;
        calls.end(call);
        return (endpoint.refuse ?? sendCallError)(reply, call, error);
      }
      // Before the answer is sent: whoever has received it finds the call in the log.
      calls.end(call);
      return answer === undefined ? reply : send(answer, reply);
    },
  });
}

/** Keeps Fastify from adding a charset to the type of JSON, which has none (RFC 8259). */
const unchanged = (text: unknown) => String(text);

async function send(answer: string | object, reply: FastifyReply): Promise<FastifyReply> {
  // A text goes out in one piece with the headers; bytes would be a piece of their own.
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  reply.header("content-type", "application/json");
  if (!acceptsGzip(reply.request.headers) || Buffer.byteLength(text) < GZIP_BYTES_MIN)
    return reply.serializer(unchanged).send(text);
  return reply.header("content-encoding", "gzip").send(await gzipped(text));
}
