import type { UniversalHandler } from "@connectrpc/connect/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { unknownKey } from "../../accounts/authenticate.js";
import { MemoryError } from "../../errors.js";
import { addressOf } from "../port/client-address.js";
import { type BodyRoom, bodyRoomKey } from "../rpc/body-room.js";
import { admit, contextOf, type GateOptions, identify } from "../rpc/caller.js";
import type { Load } from "../rpc/load.js";
import { protocolKey } from "../rpc/observe.js";
import { JSON_TYPE, sendError, sendThrown, unsupported } from "../wire/plain-errors.js";
import { webHeaders } from "../wire/web-headers.js";
import { scopeOf, siteOf } from "./address.js";
import { asking, HANDED_BACK } from "./asking.js";
import { messageIn } from "./message.js";
import { isForeign } from "./origin.js";
import type { Asked } from "./protocol.js";
import { type Ask, Refusal } from "./tools/tool.js";

export interface McpOptions {
  readonly gate: Omit<GateOptions, "open">;
  readonly load: Pick<Load, "admit">;
  readonly bodyRoom: BodyRoom;
  readonly bodyBytesMax: number;
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  handlerOf(rpc: string): UniversalHandler;
  /** Makes the `WWW-Authenticate` of an answer to who has no key, or a wrong one; absent where OAuth is off. */
  challenge?(hasKey: boolean): string;
  onFault(error: unknown, requestId: string): void;
}

/**
 * Serves the Model Context Protocol. Each call of a tool is a call of an RPC, by the RPC's own handler: that
 * is where it is admitted, charged, measured and logged.
 */
export function addMcp(app: FastifyInstance, options: McpOptions): void {
  // The protocol's package takes longer to load than all other doors, so the first agent that calls waits for it.
  let protocol: Answer | undefined;
  const answer: Answer = async (asked) => {
    protocol ??= (await import("./protocol.js")).openProtocol();
    return protocol(asked);
  };
  app.route({
    method: "POST",
    url: "/mcp",
    handler: async (request, reply) => {
      const asker = { headers: request.headers, address: addressOf(request.raw) };
      if (isForeign(asker, options.corsOrigins)) {
        return sendError(reply, 403, "pages of other origins may not call /mcp");
      }
      try {
        const type = request.headers["content-type"] ?? "none";
        if (!JSON_TYPE.test(type)) return sendError(reply, 415, unsupported(type));
        const { response, handedBack } = await serve(request, { ...options, answer, signal: endOf(reply) });
        for (const name of HANDED_BACK) {
          const value = handedBack.get(name);
          if (value !== null) reply.header(name, value);
        }
        const body = await response.text();
        if (body === "") return reply.code(response.status).send();
        return reply.code(response.status).type("application/json").send(body);
      } catch (error) {
        const onFault = (fault: unknown) => options.onFault(fault, request.id);
        return sendThrown(reply, error, onFault, challengeFor(error, { request, options }));
      }
    },
  });
}

/** Tells who is refused for want of a key how to get one. */
function challengeFor(
  error: unknown,
  { request, options: { challenge } }: { request: FastifyRequest; options: McpOptions },
): Record<string, string> {
  const isUnknown = error instanceof MemoryError && error.code === "unauthenticated";
  if (!isUnknown || challenge === undefined) return {};
  return { "www-authenticate": challenge(request.headers.authorization !== undefined) };
}

type Answer = (asked: Asked) => Promise<Response>;

interface Serving extends McpOptions {
  readonly answer: Answer;
  readonly signal: AbortSignal;
}

async function serve(request: FastifyRequest, options: Serving) {
  const { gate, bodyRoom, answer, signal } = options;
  const header = webHeaders(request.headers);
  const values = () => contextOf(request.raw).set(bodyRoomKey, bodyRoom).set(protocolKey, "mcp");
  options.load.admit(undefined);
  const handedBack = new Headers();
  const context = () => ({ requestHeader: header, responseHeader: handedBack, values: values() });
  const identified = context();
  const caller = await identify(identified, gate);
  const scope = { ...scopeOf(request.url, caller), site: siteOf(request) };
  const { message, loss } = await messageIn(request, { ...options, values: identified.values });
  // A tool's call is admitted where its RPC is; all else here.
  if (message.method !== "tools/call") await admit(context(), gate);
  const onAnswer = (answered: Headers) => {
    for (const [name, value] of answered) handedBack.set(name, value);
  };
  const askRpc = asking({ ...options, header, values, onAnswer });
  let isRevoked = false;
  const ask: Ask = async (...asked) => {
    if (loss !== undefined) throw new Refusal(loss.code, loss.message);
    return askRpc(...asked).catch((error) => {
      isRevoked ||= error instanceof Refusal && error.code === "unauthenticated";
      throw error;
    });
  };
  const exchange = { scope, ask, onFault: (fault: unknown) => options.onFault(fault, request.id) };
  const response = await answer({ message, header, signal, exchange });
  // A model could only say so. The client itself can ask its user for another key.
  if (isRevoked && options.challenge !== undefined) throw unknownKey();
  return { response, handedBack };
}

/** Makes a signal that aborts when the client no longer waits. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => raw.writableFinished || gone.abort());
  return gone.signal;
}
