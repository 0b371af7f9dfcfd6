import {
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { safeName } from "../../errors.js";
import { suggestion } from "../../suggest.js";
import { VERSION } from "../../version.js";
import type { Call } from "../call.js";
import { INTERNAL_MESSAGE } from "../errors.js";
import { callTool } from "./tools/call.js";
import type { Ask, Json, Tool } from "./tools/tool.js";
import { ABILITIES, NAMES, type Scope, TOOL_SETS, toolsFor } from "./tools/tools.js";

/** Rights and means of one request. */
interface Exchange {
  readonly scope: Scope;
  readonly ask: Ask;
  /** Called with an error that is the server's own. */
  onFault(fault: unknown): void;
}

/** Headers by which both the versions with sessions and the one without choose their form. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];

const current = createMcpHandler(
  ({ authInfo }: McpRequestContext) => serverFor(authInfo?.extra?.exchange as Exchange),
  {
    legacy: "reject",
    // Nothing that one can subscribe to ever changes.
    maxSubscriptions: 0,
  },
);

/**
 * Responds to a message of the Model Context Protocol by itself: nothing is kept between two of them. The
 * protocol's own package speaks it, in the current version and in those of 2025.
 */
export async function answer(call: Call, message: Json, exchange: Exchange): Promise<Response> {
  const request = requestOf(call);
  if (await isLegacyRequest(request, message)) {
    // A client of 2025 gets one body of JSON: there is nothing to stream.
    const server = serverFor(exchange);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: message }).finally(() => server.close());
  }
  const authInfo = { token: "", clientId: "", scopes: [], extra: { exchange } };
  const response = await current.fetch(request, { parsedBody: message, authInfo });
  const { id, method } = message;
  if (!response.ok || method !== "subscriptions/listen") return response;
  // The package would call this its own fault, after which a client would try again. It is refused as the package
  // refuses the other methods that no ability covers.
  const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
  return Response.json({ jsonrpc: "2.0", error, id }, { status: 404 });
}

/** Makes the request that the package reads: its body is read already, and what is accepted is known. */
function requestOf({ headers: given, signal }: Call): Request {
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
    // A key that may not use it is told so by the RPC.
    const tools: readonly Tool[] = TOOL_SETS[scope.tools];
    const names = tools.map(({ name }) => name);
    const tool = tools[names.indexOf(params.name)];
    if (tool === undefined) {
      const message = `there is no tool ${safeName(params.name)}${suggestion(params.name, names)}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    return callTool(tool, (params.arguments ?? {}) as Json, { scope, ask }).catch((fault) => {
      // The package would send the fault's own words.
      onFault(fault);
      throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_MESSAGE);
    });
  });
  return server;
}
