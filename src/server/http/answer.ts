import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyReply } from "fastify";

/** Writes an answer. A client that went away meanwhile is no fault: the line of its call says that it has. */
export async function answer(response: UniversalServerResponse, { raw }: FastifyReply): Promise<void> {
  try {
    await universalResponseToNodeResponse(response, raw);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Aborted) throw error;
  }
}
