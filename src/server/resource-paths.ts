import type { JsonObject } from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyRequest, HTTPMethods } from "fastify";
import { contextOf } from "./caller.js";
import { plainKey } from "./observe.js";

/** A path that names what it is about: its parameters and query become the RPC's request. */
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
        const body = requestOf(request);
        const values = contextOf(request.raw).set(plainKey, true);
        const posted = universalRequestFromNodeRequest(request.raw, reply.raw, body, values);
        posted.header.set("content-type", "application/json");
        // Of a body that is not read.
        for (const name of ["content-length", "content-encoding"]) posted.header.delete(name);
        await universalResponseToNodeResponse(await handlerOf(rpc)({ ...posted, method: "POST" }), reply.raw);
      },
    });
  }
}

/** Query values are text; `true` and `false` are meant as JSON means them. */
function requestOf({ params, query }: FastifyRequest): JsonObject {
  const fields = Object.entries(query as Record<string, string>).map(([name, value]) => {
    return [name, value === "true" || value === "false" ? value === "true" : value];
  });
  return { ...Object.fromEntries(fields), ...(params as Record<string, string>) };
}
