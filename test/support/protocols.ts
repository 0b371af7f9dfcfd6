import {
  create,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError, createContextValues, type Transport } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { BadRequestSchema, ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService, StoreItemSchema } from "../../gen/recalld/v1/memory_pb.js";

/** Outcome of a call, in the same form for every protocol. */
export interface Outcome {
  /** `ok`, or Connect's name of the error. */
  readonly code: string;
  readonly message: string;
  /** Fields that BadRequest details name. */
  readonly fields: readonly string[];
  /** Reason that ErrorInfo details give. */
  readonly reason: string | undefined;
  /** Facts that belong to the reason. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Answer in the contract's JSON; empty after an error. */
  readonly body: JsonObject;
  readonly header: Headers;
  /** HTTP status, for protocols that show it. */
  readonly status?: number;
}

export type RpcName =
  | "Store"
  | "StoreBatch"
  | "Recall"
  | "GetMemory"
  | "UpdateMemory"
  | "GetMemories"
  | "UpdateMemories"
  | "DeleteMemory"
  | "DeleteMemories"
  | "DeleteNamespace"
  | "DeleteNamespaces"
  | "ListNamespaces"
  | "GetNamespace"
  | "ListMemories"
  | "CountMemories"
  | "SignUp"
  | "GetAccount"
  | "GetUsage"
  | "ListRecentCalls"
  | "CreateKey"
  | "ListKeys"
  | "RevokeKey"
  | "CloseAccount";

/** One protocol by which callers reach the service. */
export interface Protocol {
  readonly name: string;
  /** True if a request is JSON text, so that it can have wrong types and unknown fields. */
  readonly json: boolean;
  call(
    rpc: RpcName,
    request: JsonValue,
    options?: { key?: string; header?: Record<string, string> },
  ): Promise<Outcome>;
}

/** Protocols by their server: a transport keeps its connections, so that not every call opens one. */
const known = new Map<string, readonly Protocol[]>();

/** Lists every protocol of the server at `url`. */
export function protocolsOf(url: string): readonly Protocol[] {
  const protocols = known.get(url) ?? openProtocols(url);
  known.set(url, protocols);
  return protocols;
}

function openProtocols(url: string): Protocol[] {
  const http2 = { baseUrl: url, httpVersion: "2" as const };
  return [
    restProtocol(url),
    connectJsonProtocol(url),
    binaryProtocol(
      "Connect binary",
      createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true }),
    ),
    binaryProtocol("Connect binary over HTTP/2", createConnectTransport({ ...http2, useBinaryFormat: true })),
    binaryProtocol("gRPC", createGrpcTransport({ baseUrl: url })),
    binaryProtocol("gRPC-Web", createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })),
  ];
}

/** Path of each RPC in REST. Fields that it does not name go into the query of GET and DELETE, else into the body. */
const REST: Readonly<Record<RpcName, string>> = {
  Store: "POST /store",
  StoreBatch: "POST /store/batch",
  Recall: "POST /recall",
  GetMemory: "GET /namespaces/{namespace}/memories/{id}",
  UpdateMemory: "PATCH /namespaces/{namespace}/memories/{id}",
  DeleteMemory: "DELETE /namespaces/{namespace}/memories/{id}",
  GetMemories: "POST /namespaces/{namespace}/memories/get",
  CountMemories: "POST /namespaces/{namespace}/memories/count",
  UpdateMemories: "POST /namespaces/{namespace}/memories/update",
  DeleteMemories: "POST /namespaces/{namespace}/memories/delete",
  DeleteNamespace: "DELETE /namespaces/{namespace}",
  DeleteNamespaces: "POST /namespaces/delete",
  ListNamespaces: "GET /namespaces",
  GetNamespace: "GET /namespaces/{namespace}",
  ListMemories: "GET /namespaces/{namespace}/memories",
  SignUp: "POST /signup",
  GetAccount: "GET /account",
  CloseAccount: "DELETE /account",
  GetUsage: "GET /usage",
  ListRecentCalls: "GET /calls",
  CreateKey: "POST /keys",
  ListKeys: "GET /keys",
  RevokeKey: "DELETE /keys/{id}",
};

/** Makes the protocol of REST. */
function restProtocol(url: string): Protocol {
  const protocol = jsonProtocol("plain paths", (rpc) => url + (REST[rpc].split(" ")[1] as string));
  return {
    ...protocol,
    async call(rpc, request, options = {}) {
      const fields = Object.fromEntries(
        [...REST[rpc].matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, (request as JsonObject)[name]]),
      );
      const hasBody = /^(POST|PATCH)/.test(REST[rpc]);
      if (hasBody && Object.keys(fields).length === 0) return protocol.call(rpc, request, options);
      const isNameless = Object.values(fields).some((value) => typeof value !== "string" || value === "");
      // A path cannot lack a field, and a patch has no mask of its own.
      const hasMask = hasBody && (request as JsonObject).update_mask !== undefined;
      if (isNameless || hasMask) return connectJsonProtocol(url).call(rpc, request, options);
      const [method, path] = resourceOf(REST[rpc], hasBody ? fields : (request as JsonObject));
      const headers = { ...authorization(options.key), ...options.header };
      if (!hasBody) return readJson(await fetch(url + path, { method, headers }));
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const body = Object.entries(request as JsonObject).filter(([name]) => !(name in fields));
      return readJson(
        await fetch(url + path, {
          method,
          headers: { "content-type": type, ...headers },
          body: JSON.stringify(Object.fromEntries(body)),
        }),
      );
    },
  };
}

function resourceOf(resource: string, request: Readonly<Record<string, unknown>>): [string, string] {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request)) {
    query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  const [method, template] = resource.split(" ") as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    query.delete(name);
    return encodeURIComponent(String(request[name]));
  });
  return [method, query.size > 0 ? `${path}?${query}` : path];
}

function connectJsonProtocol(url: string): Protocol {
  return jsonProtocol("Connect JSON", (rpc) => url + rpcPath(rpc));
}

function jsonProtocol(name: string, urlOf: (rpc: RpcName) => string): Protocol {
  return {
    name,
    json: true,
    async call(rpc, request, { key, header = {} } = {}) {
      const response = await fetch(urlOf(rpc), {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization(key), ...header },
        body: typeof request === "string" ? request : JSON.stringify(request),
      });
      return readJson(response);
    },
  };
}

/** Reads the outcome of a plain HTTP answer. */
export async function readJson(response: Response): Promise<Outcome> {
  const { status, headers: header } = response;
  const body = (await response.json()) as JsonObject;
  if (status === 200) return { code: "ok", message: "", fields: [], reason: undefined, body, header, status };
  const details = (body.details ?? []) as {
    debug?: {
      field_violations?: { field: string }[];
      reason?: string;
      metadata?: Record<string, string>;
    };
  }[];
  const fields = details.flatMap(({ debug }) => debug?.field_violations?.map(({ field }) => field) ?? []);
  const reason = details.map(({ debug }) => debug?.reason).find((found) => found !== undefined);
  const metadata = details.map(({ debug }) => debug?.metadata).find((found) => found !== undefined);
  const said = { code: String(body.code), message: String(body.message) };
  return { ...said, fields, reason, metadata, body: {}, header, status };
}

function binaryProtocol(name: string, transport: Transport): Protocol {
  return {
    name,
    json: false,
    async call(rpc, request, { key, header = {} } = {}) {
      const method = methodOf(rpc);
      try {
        const message = messageOf(method, request as JsonObject);
        const headers = { ...authorization(key), ...header };
        const answer = await transport.unary(
          method,
          undefined,
          undefined,
          headers,
          message,
          createContextValues(),
        );
        const body = toJson(method.output, answer.message, {
          useProtoFieldName: true,
          alwaysEmitImplicit: true,
        });
        return {
          code: "ok",
          message: "",
          fields: [],
          reason: undefined,
          body: body as JsonObject,
          header: answer.header,
        };
      } catch (error) {
        return failed(ConnectError.from(error));
      }
    },
  };
}

function failed(error: ConnectError): Outcome {
  const fields = error
    .findDetails(BadRequestSchema)
    .flatMap((d) => d.fieldViolations.map(({ field }) => field));
  const { reason, metadata } = error.findDetails(ErrorInfoSchema)[0] ?? {};
  const code = codeToString(error.code as Code);
  return { code, message: error.rawMessage, fields, reason, metadata, body: {}, header: error.metadata };
}

/**
 * Makes a message. fromJson alone would refuse requests on the client's side that the server should refuse.
 */
function messageOf(method: DescMethodUnary, request: JsonObject): Message {
  const { metadata, update_mask, fields, memories, ...rest } = JSON.parse(
    JSON.stringify(request),
  ) as JsonObject;
  const message = fromJson(method.input, rest);
  // Clients set paths by the contract's names; their JSON form has others.
  const mask = (paths: unknown) => create(FieldMaskSchema, { paths: String(paths).split(",") });
  const changes = {
    ...(metadata !== undefined && { metadata }),
    ...(memories !== undefined && { memories: (memories as JsonObject[]).map(itemOf) }),
    ...(update_mask !== undefined && { updateMask: mask(update_mask) }),
    ...(fields !== undefined && { fields: mask(fields) }),
  };
  return create(method.input, { ...message, ...changes } as never);
}

function itemOf({ metadata, ...rest }: JsonObject): Message {
  const item = fromJson(StoreItemSchema, rest);
  return create(StoreItemSchema, { ...item, ...(metadata !== undefined && { metadata }) } as never);
}

function methodOf(rpc: RpcName): DescMethodUnary {
  const methods = [...MemoryService.methods, ...AccountService.methods];
  return methods.find(({ name }) => name === rpc) as DescMethodUnary;
}

function rpcPath(rpc: RpcName): string {
  return `/${methodOf(rpc).parent.typeName}/${rpc}`;
}

function authorization(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

/** Opens an account at a server, and calls it. */
export async function accountAt(protocol: Protocol) {
  const key = String((await protocol.call("SignUp", {})).body.api_key);
  const call = (rpc: RpcName, request: JsonObject = {}, header: Record<string, string> = {}) =>
    protocol.call(rpc, request, { key, header });
  const used = async () => (await call("GetAccount")).body.calls_used as number;
  const count = async (namespace: string) =>
    (await call("CountMemories", { namespace })).body.memories as number;
  return { key, call, used, count };
}
