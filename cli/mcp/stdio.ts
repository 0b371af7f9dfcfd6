import { type CallToolResult, type ListToolsResult, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { RecalldError } from "../../clients/typescript/src/errors.js";
import { refused } from "../../src/server/mcp/tools/call.js";
import { ABILITIES, NAMES } from "../../src/server/mcp/tools/tools.js";
import { VERSION } from "../../src/version.js";
import { LineTransport } from "./line-transport.js";
import type { Remote } from "./remote.js";

/**
 * Serves a client on the standard input and output, in whichever version of the protocol it speaks. The tools
 * are the server's, so that they are the same by every way in.
 *
 * @returns when the client sends nothing more, and all that it has sent is answered.
 */
export async function serveOnStdio(remote: Remote, onerror: (error: Error) => void): Promise<void> {
  const transport = new LineTransport({ input: process.stdin, output: process.stdout });
  const open = () => {
    const server = new Server({ ...NAMES, version: VERSION }, ABILITIES);
    server.setRequestHandler("tools/list", async (_request, { mcpReq }) => {
      return (await remote.ask("tools/list", {}, mcpReq.signal)) as ListToolsResult;
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const loss = transport.lossOf(mcpReq.id);
      // Passed on, it would be another value, which the server could not tell.
      if (loss !== undefined) return refused(loss);
      const { name, arguments: args = {} } = params;
      return await remote
        .ask("tools/call", { name, arguments: args }, mcpReq.signal)
        .then((result) => result as CallToolResult, refusedBy);
    });
    return server;
  };
  serveStdio(open, { transport, onerror });
  await transport.closed;
}

/** Makes a result of what kept the call from being made, too: only results reach the model. */
function refusedBy(error: unknown): CallToolResult {
  if (!(error instanceof RecalldError)) throw error;
  return refused(error);
}
