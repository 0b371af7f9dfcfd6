import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyRequest, HTTPMethods } from "fastify";
import { invalid } from "../../errors.js";
import { contextOf } from "../rpc/caller.js";
import { plainKey } from "../rpc/observe.js";
import { once, refusing } from "../wire/plain-errors.js";
import { readQuery } from "../wire/query.js";

/** Path that names its resource: its parameters and query become the RPC's request. */
export interface ResourcePath {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly rpc: string;
}

export const RESOURCE_PATHS: readonly ResourcePath[] = [
  { method: "GET", url: "/namespaces/:namespace/memories/:id", rpc: "/recalld.v1.MemoryService/GetMemory" },
  {
    method: "DELETE",
    url: "/namespaces/:namespace/memories/:id",
    rpc: "/recalld.v1.MemoryService/DeleteMemory",
  },
  { method: "DELETE", url: "/namespaces/:namespace", rpc: "/recalld.v1.MemoryService/DeleteNamespace" },
  { method: "GET", url: "/namespaces", rpc: "/recalld.v1.MemoryService/ListNamespaces" },
  { method: "GET", url: "/namespaces/:namespace", rpc: "/recalld.v1.MemoryService/GetNamespace" },
  { method: "GET", url: "/namespaces/:namespace/memories", rpc: "/recalld.v1.MemoryService/ListMemories" },
  { method: "GET", url: "/account", rpc: "/recalld.v1.AccountService/GetAccount" },
  { method: "GET", url: "/usage", rpc: "/recalld.v1.AccountService/GetUsage" },
  { method: "GET", url: "/keys", rpc: "/recalld.v1.AccountService/ListKeys" },
];

/** Mounts the resource paths: each is answered by its RPC's own handler, as if its JSON had been posted. */
export function addResourcePaths(app: FastifyInstance, handlerOf: (rpc: string) => UniversalHandler): void {
  for (const { method, url, rpc } of RESOURCE_PATHS) {
    app.route({
      method,
      url,
      handler: async (request, reply) => {
        reply.hijack();
        for (const [name, value] of Object.entries(reply.getHeaders()))
          reply.raw.setHeader(name, value ?? "");
        const handler = handlerOf(rpc);
        const values = contextOf(request.raw).set(plainKey, true);
        const posted = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, values);
        posted.header.set("content-type", "application/json");
        // These describe a body that is not read.
        for (const name of ["content-length", "content-encoding"]) posted.header.delete(name);
        const body = bodyOf(request, handler.method.input);
        await universalResponseToNodeResponse(await handler({ ...posted, method: "POST", body }), reply.raw);
      },
    });
  }
}

/**
 * Writes the request as JSON. A field that the path and the query both give, or the query gives twice, is in
 * it twice, and so refused.
 */
function bodyOf({ params, url }: FastifyRequest, message: DescMessage): AsyncIterable<Uint8Array> {
  try {
    // Node hands on a byte as the character of its number: two bytes of UTF-8 would name another namespace.
    if (!/^[!-~]*$/.test(url)) throw invalid("path", "is not percent-encoded");
    const query = readQuery(url).map(([name, value]) => [name, readAs(value, fieldOf(message, name))]);
    const fields = [...Object.entries(params as Record<string, string>), ...query];
    const members = fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    return once(Buffer.from(`{${members.join(",")}}`));
  } catch (error) {
    // The error is answered after the gate, when the body is read.
    return refusing(error);
  }
}

function fieldOf(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name || field.jsonName === name);
}

/** Converts a query value, which is text, to what JSON has for the field; the field refuses any other text. */
function readAs(text: string, field: DescField | undefined): string | boolean | number {
  if (field?.scalar === ScalarType.BOOL && /^(true|false)$/.test(text)) return text === "true";
  if (field?.scalar === ScalarType.INT32 && /^(0|-?[1-9]\d{0,9})$/.test(text)) return Number(text);
  return text;
}
