import type { IncomingHttpHeaders } from "node:http";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { suggestion } from "../../suggest.js";
import { VERSION } from "../../version.js";
import { INTERNAL_MESSAGE } from "../wire/errors.js";
import { callTool } from "./tools/call.js";
import type { Ask, Json } from "./tools/tool.js";
import { ABILITIES, NAMES, type Scope, toolFor, toolNames, toolsFor } from "./tools/tools.js";

/** Rights and means of one request. */
export interface Exchange {
  readonly scope: Scope;
  readonly ask: Ask;
  /** Called with an error that is the server's own. */
  onFault(fault: unknown): void;
}

/** Headers by which both the versions with sessions and the one without choose their form. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];

/** One message, with the request's headers. */
export interface Asked {
  readonly message: unknown;
  readonly headers: IncomingHttpHeaders;
  readonly signal: AbortSignal;
  readonly exchange: Exchange;
}

/**
 * Handles messages of the Model Context Protocol, each for itself: nothing is kept between two of them. The
 * protocol's own package speaks it, in the current version and in those of 2025.
 */
export function openProtocol(): (asked: Asked) => Promise<Response> {
  const current = createMcpHandler(({ authInfo }: McpRequestContext) => serverFor(exchangeIn(authInfo)), {
    legacy: "reject",
    // Nothing that one can subscribe to ever changes.
    maxSubscriptions: 0,
  });
  return async ({ message, headers, signal, exchange }) => {
    const request = requestOf(headers, signal);
    if (await isLegacyRequest(request, message)) return answerEarlier(request, message, exchange);
    const authInfo = { token: "", clientId: "", scopes: [], extra: { exchange } };
    const response = await current.fetch(request, { parsedBody: message, authInfo });
    // The package calls this its own fault, after which a client would try again.
    return response.ok && isSubscribing(message) ? notOffered(message) : response;
  };
}

/** Message of a client of the current version that asks for a stream of notifications. */
interface Subscribing {
  readonly id: unknown;
  readonly method: "subscriptions/listen";
}

function isSubscribing(message: unknown): message is Subscribing {
  return (message as Partial<Subscribing>).method === "subscriptions/listen";
}

/** Refuses a method as the package refuses the others that no ability covers. */
function notOffered({ id }: Subscribing): Response {
  const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", error, id }, { status: 404 });
}

function exchangeIn(authInfo: McpRequestContext["authInfo"]): Exchange {
  return authInfo?.extra?.exchange as Exchange;
}

/** Responds to a client of 2025 with one body of JSON: there is nothing to stream. */
async function answerEarlier(request: Request, message: unknown, exchange: Exchange): Promise<Response> {
  const server = serverFor(exchange);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

/** Makes the request that the package reads: its body is read already, and what is accepted is known. */
function requestOf(given: IncomingHttpHeaders, signal: AbortSignal): Request {
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  for (const name of PROTOCOL_HEADERS) {
    const value = given[name];
    if (value !== undefined) headers.set(name, String(value));
  }
  return new Request("http://localhost/mcp", { method: "POST", headers, signal });
}

/** Makes a server for one message. */
function serverFor({ scope, ask, onFault }: Exchange): Server {
  const server = new Server({ ...NAMES, version: VERSION }, ABILITIES);
  server.setRequestHandler("tools/list", () => ({ tools: toolsFor(scope) }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = toolFor(scope, params.name);
    if (tool === undefined) {
      const meant = suggestion(params.name, toolNames(scope));
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is no tool ${params.name.slice(0, 64)}${meant}`,
      );
    }
    return callTool(tool, (params.arguments ?? {}) as Json, { scope, ask }).catch((fault) => {
      // The package would send the fault's own words.
      onFault(fault);
      throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_MESSAGE);
    });
  });
  return server;
}
