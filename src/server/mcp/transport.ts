import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Principal, unknownKey } from "../../accounts/authenticate.js";
import { invalid, MemoryError, safeName } from "../../errors.js";
import { parseNamespace } from "../../memory/requests/namespace.js";
import { readBody, readQuery } from "../body.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import { sendCallError, sendError, siteOf, wireErrorOf } from "../errors.js";
import { JSON_OPTIONS, readArguments } from "../json.js";
import { challengeOf } from "../oauth/metadata.js";
import { BODY_BYTES_MAX, type Rpc } from "../rpc/service.js";
import { type Endpoint, serve } from "../serve.js";
import { readMessage } from "./reading.js";
import { type Ask, type Refusal, ToolError } from "./tools/tool.js";
import { type Scope, TOOL_SETS } from "./tools/tools.js";

export interface McpOptions {
  readonly calls: Calls;
  readonly rpcs: ReadonlyMap<string, Rpc>;
  /** Origins whose pages may call from a browser. */
  readonly corsOrigins: readonly string[];
  /** The server's name in OAuth; undefined where that is off. */
  readonly issuer: string | undefined;
}

const SERVICE = "recalld.v1.MemoryService/";
const LOOPBACK_ADDRESS = /^(127\.[\d.]+|::1)$/;
const LOOPBACK_NAME = /^(localhost|127\.[\d.]+|\[::1\])$/;

/**
 * Serves the Model Context Protocol. A message is a call, which takes of its key's rate; the RPCs that its tool asks
 * are calls of their own in the log, the metrics and the record.
 */
export function addMcp(app: FastifyInstance, { calls, rpcs, corsOrigins, issuer }: McpOptions): void {
  /** Calls an RPC in process: it is logged, measured and recorded as that RPC's. */
  const askRpc = async (outer: Call, ...[name, request]: Parameters<Ask>): ReturnType<Ask> => {
    const rpc = rpcs.get(SERVICE + name) as Rpc;
    const { input, output } = rpc.descriptor;
    const { request: raw, setHeader } = outer;
    const call = calls.open({ method: SERVICE + name, protocol: "mcp", request: raw, setHeader });
    call.principal = { ...outer.caller };
    try {
      call.message = readArguments(input, request);
      return toJson(output, await calls.run(call, rpc), JSON_OPTIONS) as JsonObject;
    } catch (error) {
      call.error = error;
      const refusal = refusalOf(call, error);
      const { retryAfterMs } = refusal;
      if (retryAfterMs !== undefined) setHeader("retry-after", String(Math.ceil(retryAfterMs / 1000)));
      throw new ToolError(refusal);
    } finally {
      outer.isReported = false;
      calls.end(call);
    }
  };
  const endpoint: Endpoint = {
    method: "POST",
    url: "/mcp",
    protocol: "mcp",
    credential: "key",
    takes: ["application/json"],
    answer: async (call, reply) => {
      await calls.begin(call);
      const scope = { ...scopeOf(reply.request.url, call.caller), site: siteOf(reply.request) };
      const { message, loss } = await readMessage(await readBody(call, BODY_BYTES_MAX));
      let isRevoked = false;
      const ask: Ask = async (...asked) => {
        if (loss !== undefined) throw new ToolError(refusalOf(call, loss));
        return askRpc(call, ...asked).catch((error) => {
          isRevoked ||= error instanceof ToolError && error.refusal.code === "unauthenticated";
          throw error;
        });
      };
      const exchange = { scope, ask, onFault: (fault: unknown) => calls.logFault(call, fault) };
      // The protocol's package takes longer to load than all others, so the first agent that calls waits for it.
      const { answer } = await import("./protocol.js");
      const response = await answer(call, message, exchange);
      // A model could only say so. The client itself can ask its user for another key.
      if (isRevoked && issuer !== undefined) throw unknownKey();
      const text = await response.text();
      reply.code(response.status);
      if (text !== "") return text;
      reply.send();
      return undefined;
    },
    refuse: (reply, call, thrown) => {
      const isUnknown = thrown instanceof MemoryError && thrown.code === "unauthenticated";
      if (!isUnknown || issuer === undefined) return sendCallError(reply, call, thrown);
      const challenge = challengeOf(issuer, { hasKey: call.headers.authorization !== undefined });
      return sendCallError(reply, call, thrown, { "www-authenticate": challenge });
    },
  };
  app.register(async (mcp) => {
    mcp.addHook("preHandler", async (request, reply) => {
      if (isForeign(request, corsOrigins))
        return sendError(reply, 403, "pages of other origins may not call /mcp");
      return undefined;
    });
    serve(mcp, endpoint, calls);
  });
}

/**
 * True if a page of another site asks. A browser names the page's origin, other programs name none. A
 * page may turn its own name to this machine's address (DNS rebinding), and then is of the host that it asks:
 * so a browser on this machine must name it as one does from here.
 */
function isForeign({ headers, raw }: FastifyRequest, allowed: readonly string[]): boolean {
  const { origin, host, ":authority": authority } = headers;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return false;
  if (!URL.canParse(origin)) return true;
  const own = new URL(origin);
  if (own.host !== (authority ?? host)) return true;
  return LOOPBACK_ADDRESS.test(raw.clientAddress ?? "") && !LOOPBACK_NAME.test(own.hostname);
}

/**
 * Reads what the key and the address fix for all calls. A name that is not known is refused: with a mistyped
 * one, memories would go elsewhere. So is a namespace that there cannot be, which no model could correct.
 *
 * @throws MemoryError `invalid_argument`, or `permission_denied` if the key is for another namespace.
 */
function scopeOf(url: string, { access, namespace: own }: Principal): Omit<Scope, "site"> {
  const query = readQuery(url);
  const other = [...query.keys()].find((name) => name !== "namespace" && name !== "tools");
  if (other !== undefined)
    throw invalid(safeName(other), "is not read in this address; namespace and tools are");
  const namespace = query.get("namespace");
  const tools = query.get("tools") ?? "memory";
  if (namespace !== undefined) parseNamespace(namespace);
  if (!Object.hasOwn(TOOL_SETS, tools)) {
    throw invalid("tools", `in the address must be one of ${Object.keys(TOOL_SETS).join(", ")}`);
  }
  if (own !== undefined && namespace !== undefined && namespace !== own) {
    const message = `this key is for the namespace ${own} alone; the address names another`;
    throw new MemoryError("permission_denied", message, { reason: "KEY_OTHER_NAMESPACE" });
  }
  return { namespace: own ?? namespace, readOnly: access !== "full", tools: tools as Scope["tools"] };
}

/** Converts an error to what a tool shows its model. */
function refusalOf(call: Call, error: unknown): Refusal {
  const { code, rawMessage: message } = wireErrorOf(call, error);
  const { reason, retryAfterMs } = error instanceof MemoryError ? error : ({} as Partial<MemoryError>);
  return { code: codeToString(code), message, reason, retryAfterMs, requestId: call.id };
}
