import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Admitted, callerKey } from "../rpc/caller.js";
import type { Call } from "../rpc/observe.js";
import { codeOf } from "../wire/errors.js";
import { passOn, sendError, sendThrown, unsupported } from "../wire/plain-errors.js";

export interface ServeOptions {
  onFault(error: unknown, requestId: string): void;
  onEnd(call: Call): void;
}

/** Request that is being answered. */
export interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: Admitted;
}

/** Path that is no RPC, and whose requests count as calls. */
export interface PlainPath {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  /** Type of the body; left out where none is read. */
  readonly type?: RegExp;
  contextOf(request: FastifyRequest): Admitted;
  answer(asked: Asked): Promise<object>;
  /** Sends what was thrown, where it is not in the form of all other errors. */
  refuse?(reply: FastifyReply, thrown: unknown, onFault: (fault: unknown) => void): FastifyReply;
}

/** Mounts a path, whose requests are reported as calls. */
export function servePath(app: FastifyInstance, path: PlainPath, options: ServeOptions): void {
  app.route({
    method: path.method,
    url: path.url,
    handler: async (request, reply) => {
      const type = request.headers["content-type"] ?? "none";
      if (path.type?.test(type) === false) return sendError(reply, 415, unsupported(type));
      return serve(path, { request, reply, context: path.contextOf(request) }, options);
    },
  });
}

async function serve(path: PlainPath, asked: Asked, options: ServeOptions): Promise<FastifyReply> {
  const { request, reply, context } = asked;
  const startMs = performance.now();
  let code = "ok";
  try {
    const answer = await path.answer(asked);
    passOn(context.responseHeader, reply);
    return reply.send(answer);
  } catch (error) {
    code = codeOf(error);
    passOn(context.responseHeader, reply);
    const onFault = (fault: unknown) => options.onFault(fault, request.id);
    return (path.refuse ?? sendThrown)(reply, error, onFault);
  } finally {
    const call = { method: `${path.method} ${path.url}`, protocol: "json" as const, code };
    const accountId = context.values.get(callerKey)?.accountId;
    const ms = performance.now() - startMs;
    options.onEnd({ ...call, ms, requestId: request.id, traceId: undefined, accountId });
  }
}
