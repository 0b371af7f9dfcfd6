import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { invalid } from "../../errors.js";
import { patchedKey } from "../rpc/bodies.js";
import { browserContextOf } from "../rpc/caller.js";
import { protocolKey } from "../rpc/observe.js";
import { once, refusing, unsupported, withBody } from "../wire/plain-errors.js";
import { readQuery } from "../wire/query.js";
import { answer } from "./answer.js";

/** Content types of a patch: RFC 7396 has its own, and most clients send plain JSON. */
const PATCH_TYPE = /^application\/(json|merge-patch\+json)\s*(;\s*charset="?utf-8"?\s*)?$/i;

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
  {
    method: "PATCH",
    url: "/namespaces/:namespace/memories/:id",
    rpc: "/recalld.v1.MemoryService/UpdateMemory",
  },
  { method: "DELETE", url: "/namespaces/:namespace", rpc: "/recalld.v1.MemoryService/DeleteNamespace" },
  { method: "GET", url: "/namespaces", rpc: "/recalld.v1.MemoryService/ListNamespaces" },
  { method: "GET", url: "/namespaces/:namespace", rpc: "/recalld.v1.MemoryService/GetNamespace" },
  { method: "GET", url: "/namespaces/:namespace/memories", rpc: "/recalld.v1.MemoryService/ListMemories" },
  { method: "GET", url: "/account", rpc: "/recalld.v1.AccountService/GetAccount" },
  { method: "GET", url: "/usage", rpc: "/recalld.v1.AccountService/GetUsage" },
  { method: "GET", url: "/calls", rpc: "/recalld.v1.AccountService/ListRecentCalls" },
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
        const answered = await (method === "PATCH" ? patch : ask)(request, { reply, handler });
        await answer(answered, reply);
      },
    });
  }
}

interface Asked {
  readonly reply: FastifyReply;
  readonly handler: UniversalHandler;
}

/** Asks the RPC by what the path and the query say. */
function ask(request: FastifyRequest, { reply, handler }: Asked): Promise<UniversalServerResponse> {
  const posted = postedBy(request, reply);
  // These describe a body that is not read.
  for (const name of ["content-length", "content-encoding"]) posted.header.delete(name);
  const body = bodyOf(request, handler.method.input);
  return handler({ ...posted, method: "POST", body });
}

/** Asks the RPC to update what the path names by the patch in the body. */
async function patch(request: FastifyRequest, { reply, handler }: Asked): Promise<UniversalServerResponse> {
  const type = request.headers["content-type"] ?? "none";
  if (!PATCH_TYPE.test(type)) return withBody({ status: 415 }, unsupported(type));
  const posted = postedBy(request, reply);
  const { contextValues, body } = posted;
  contextValues?.set(patchedKey, request.params as Record<string, string>);
  const [query] = request.url.split("?").slice(1);
  const refused =
    query === undefined ? undefined : invalid("query", "is not read here; send the fields in the body");
  return handler({ ...posted, method: "POST", body: refused === undefined ? body : refusing(refused) });
}

/** Makes the request of the RPC, without its body. */
function postedBy(request: FastifyRequest, reply: FastifyReply): UniversalServerRequest {
  const values = browserContextOf(request.raw).set(protocolKey, "json");
  const posted = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, values);
  posted.header.set("content-type", "application/json");
  return posted;
}

/**
 * Writes the request as JSON. A field that the path and the query both give, or the query gives twice, is in
 * it twice, and so refused.
 */
function bodyOf(request: FastifyRequest, message: DescMessage): AsyncIterable<Uint8Array> {
  try {
    return once(Buffer.from(requestOf(request, message)));
  } catch (error) {
    // The error is answered after the gate, when the body is read.
    return refusing(error);
  }
}

/**
 * Writes what a path and its query ask for as the JSON of a request. What is `given` elsewhere stands in place of
 * the query's first value; a second one is refused as ever. @throws MemoryError `invalid_argument`
 */
export function requestOf(
  { params, url }: FastifyRequest,
  message: DescMessage,
  given: Readonly<Record<string, string>> = {},
): string {
  // Node hands on a byte as the character of its number: two bytes of UTF-8 would name another namespace.
  if (!/^[!-~]*$/.test(url)) throw invalid("path", "is not percent-encoded");
  const query = readQuery(url);
  for (const [name, value] of Object.entries(given)) {
    const asked = query.find(([other]) => other === name);
    if (asked === undefined) query.push([name, value]);
    else asked[1] = value;
  }
  const members = [...Object.entries(params as Record<string, string>), ...query].map(
    ([name, value]) => `${JSON.stringify(name)}:${jsonOf(value, fieldOf(message, name))}`,
  );
  return `{${members.join(",")}}`;
}

function fieldOf(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name || field.jsonName === name);
}

/** Converts a value, which is text, to the JSON that the field has; the field refuses any other text. */
function jsonOf(text: string, field: DescField | undefined): string {
  const isAsItIs =
    (field?.scalar === ScalarType.BOOL && /^(true|false)$/.test(text)) ||
    (field?.scalar === ScalarType.INT32 && /^(0|-?[1-9]\d{0,9})$/.test(text)) ||
    (field?.message?.typeName === "google.protobuf.Struct" && isObject(text));
  return isAsItIs ? text : JSON.stringify(text);
}

function isObject(text: string): boolean {
  try {
    return text.trimStart().startsWith("{") && typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
