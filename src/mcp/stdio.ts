import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { refused } from "../server/mcp/tools/call.js";
import { Refusal } from "../server/mcp/tools/tool.js";
import { ABILITIES, NAMES } from "../server/mcp/tools/tools.js";
import { VERSION } from "../version.js";
import { LineTransport } from "./line-transport.js";
import type { Answer, Remote } from "./remote.js";

/**
 * Serves a client on the standard input and output, in whichever version of the protocol it speaks. The tools
 * are the server's, so that they are the same by every way in.
 *
 * @returns when the client sends nothing more, and all that it has sent is answered.
 */
export async function serveOnStdio(
  remote: Pick<Remote, "ask">,
  onerror: (error: Error) => void,
): Promise<void> {
  const transport = new LineTransport({ input: process.stdin, output: process.stdout });
  const open = () => {
    const server = new Server({ ...NAMES, version: VERSION }, ABILITIES);
    server.setRequestHandler("tools/list", async (_request, { mcpReq }) => {
      const answer = await remote.ask("tools/list", {}, mcpReq.signal);
      if (answer.result !== undefined) return answer.result as ListToolsResult;
      throw protocolError(answer);
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const loss = transport.lossOf(mcpReq.id);
      // Passed on, it would be another value, which the server could not tell.
      if (loss !== undefined) return refused(new Refusal(loss.code, loss.message));
      const { name, arguments: args } = params;
      return resultOf(await remote.ask("tools/call", { name, arguments: args ?? {} }, mcpReq.signal));
    });
    return server;
  };
  serveStdio(open, { transport, onerror });
  await transport.closed;
}

function protocolError({ protocolCode, message }: Answer): ProtocolError {
  return new ProtocolError(protocolCode ?? ProtocolErrorCode.InternalError, message);
}

/** Makes a result of what kept the call from being made, too: only results reach the model. */
function resultOf(answer: Answer): CallToolResult {
  const { result, protocolCode, code, message, retryAfterSeconds } = answer;
  if (protocolCode !== undefined) throw protocolError(answer);
  return result === undefined
    ? refused(new Refusal(code, message, { retryAfterSeconds }))
    : (result as CallToolResult);
}
