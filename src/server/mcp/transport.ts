import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { unknownKey } from "../../accounts/authenticate.js";
import { MemoryError } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { addressOf } from "../listen/client-address.js";
import { bytesIn } from "../rest/body.js";
import { serve } from "../rest/serve.js";
import type { Rpc } from "../rpc/service.js";
import { isJson } from "../wire/content-type.js";
import { sendCallError, sendError, siteOf } from "../wire/plain-errors.js";
import { scopeOf } from "./address.js";
import { asking, refusalOf } from "./asking.js";
import { isForeign } from "./origin.js";
import type { Asked } from "./protocol.js";
import { readMessage } from "./reading.js";
import { type Ask, ToolError } from "./tools/tool.js";

export interface McpOptions {
  readonly calls: Calls;
  readonly rpcs: ReadonlyMap<string, Rpc>;
  readonly bodyBytesMax: number;
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  /** Makes the `WWW-Authenticate` of an answer to who has no key, or a wrong one; absent where OAuth is off. */
  challenge?(hasKey: boolean): string;
  onFault(error: unknown, requestId: string): void;
}

type Answer = (asked: Asked) => Promise<Response>;

/**
 * Serves the Model Context Protocol. A message is a call, which takes of its key's rate; the RPCs that its tool asks
 * are calls of their own in the log, the metrics and the record.
 */
export function addMcp(app: FastifyInstance, options: McpOptions): void {
  const { calls, corsOrigins } = options;
  // The protocol's package takes longer to load than all others, so the first agent that calls waits for it.
  let protocol: Answer | undefined;
  const answer: Answer = async (asked) => {
    protocol ??= (await import("./protocol.js")).openProtocol();
    return protocol(asked);
  };
  app.register(async (mcp) => {
    mcp.addHook("preHandler", async (request, reply) => {
      const asker = { headers: request.headers, address: addressOf(request.raw) };
      if (isForeign(asker, corsOrigins))
        return sendError(reply, 403, "pages of other origins may not call /mcp");
      return undefined;
    });
    const endpoint = {
      ...({ method: "POST", url: "/mcp", protocol: "mcp", credential: "key", takes: isJson } as const),
      answer: async (call: Call, { request, reply }: { request: FastifyRequest; reply: FastifyReply }) => {
        const response = await respond(call, request, { ...options, answer });
        const text = await response.text();
        reply.code(response.status);
        if (text !== "") return text;
        reply.send();
        return undefined;
      },
      refuse: (reply: FastifyReply, call: Call, thrown: unknown) =>
        sendCallError(reply, call, thrown, challengeFor(thrown, call, options)),
    };
    serve(mcp, endpoint, calls);
  });
}

/** Header that tells a client without a valid key how to get one. */
function challengeFor(
  error: unknown,
  { headers }: Call,
  { challenge }: Pick<McpOptions, "challenge">,
): Record<string, string> {
  const isUnknown = error instanceof MemoryError && error.code === "unauthenticated";
  if (!isUnknown || challenge === undefined) return {};
  return { "www-authenticate": challenge(headers.authorization !== undefined) };
}

async function respond(
  call: Call,
  request: FastifyRequest,
  { calls, rpcs, bodyBytesMax, answer, challenge, onFault }: McpOptions & { readonly answer: Answer },
): Promise<Response> {
  await calls.begin(call);
  const scope = { ...scopeOf(request.url, call.caller), site: siteOf(request) };
  const { message, loss } = readMessage(await bytesIn(request, call, bodyBytesMax));
  const askRpc = asking({ calls, rpcs, outer: call });
  let isRevoked = false;
  const ask: Ask = async (...asked) => {
    if (loss !== undefined) throw refusalOf(call, loss);
    return askRpc(...asked).catch((error) => {
      isRevoked ||= error instanceof ToolError && error.code === "unauthenticated";
      throw error;
    });
  };
  const exchange = { scope, ask, onFault: (fault: unknown) => onFault(fault, call.id) };
  const response = await answer({ message, headers: call.headers, signal: call.signal, exchange });
  // A model could only say so. The client itself can ask its user for another key.
  if (isRevoked && challenge !== undefined) throw unknownKey();
  return response;
}
