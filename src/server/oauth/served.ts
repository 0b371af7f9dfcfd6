import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientAddressKey } from "../port/client-address.js";
import { type BodyRoom, bodyRoomKey } from "../rpc/body-room.js";
import { type Admitted, browserContextOf, callerKey, contextOf } from "../rpc/caller.js";
import type { Call } from "../rpc/observe.js";
import { codeOf } from "../wire/errors.js";
import { JSON_TYPE, passOn, sendError, sendThrown, unsupported } from "../wire/plain-errors.js";

export interface ServedOptions {
  readonly bodyRoom: BodyRoom;
  addressOf(request: FastifyRequest["raw"]): string;
  onFault(error: unknown, requestId: string): void;
  onEnd(call: Call): void;
}

/** Request that is being answered. */
export interface Asked {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: Admitted;
}

/** Path that takes a body. */
export interface ServedPath {
  readonly url: string;
  /** True if the session of the portal counts there. */
  readonly fromPortal?: boolean;
  /** Type of the body; JSON when left out. */
  readonly type?: RegExp;
  answer(asked: Asked): Promise<object>;
  /** Sends what was thrown, where it is not in the form of all other errors. */
  refuse?(reply: FastifyReply, thrown: unknown, onFault: (fault: unknown) => void): FastifyReply;
}

/** Mounts a path, whose requests are reported as calls. */
export function servePath(app: FastifyInstance, path: ServedPath, options: ServedOptions): void {
  app.route({
    method: "POST",
    url: path.url,
    handler: async (request, reply) => {
      const type = request.headers["content-type"] ?? "none";
      if (!(path.type ?? JSON_TYPE).test(type)) return sendError(reply, 415, unsupported(type));
      return serve(path, { request, reply, context: contextFor(request, path, options) }, options);
    },
  });
}

function contextFor({ raw }: FastifyRequest, { fromPortal }: ServedPath, options: ServedOptions): Admitted {
  const values = fromPortal ? browserContextOf(raw) : contextOf(raw);
  values.set(clientAddressKey, options.addressOf(raw)).set(bodyRoomKey, options.bodyRoom);
  return { requestHeader: new Headers(), responseHeader: new Headers(), values };
}

async function serve(path: ServedPath, asked: Asked, options: ServedOptions): Promise<FastifyReply> {
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
    const call = { method: `POST ${path.url}`, protocol: "json" as const, code };
    const accountId = context.values.get(callerKey)?.accountId;
    const ms = performance.now() - startMs;
    options.onEnd({ ...call, ms, requestId: request.id, traceId: undefined, accountId });
  }
}
