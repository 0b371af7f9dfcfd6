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

/** Outcome of a call, in the same form for every door. */
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
  /** HTTP status, for doors that show it. */
  readonly status?: number;
}

export type RpcName =
  | "Store"
  | "StoreBatch"
  | "Recall"
  | "GetMemory"
  | "UpdateMemory"
  | "GetMemories"
  | "DeleteMemory"
  | "DeleteMemories"
  | "DeleteNamespace"
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
export interface Door {
  readonly name: string;
  /** True if a request is JSON text, so that it can have wrong types and unknown fields. */
  readonly json: boolean;
  call(
    rpc: RpcName,
    request: JsonValue,
    options?: { key?: string; header?: Record<string, string> },
  ): Promise<Outcome>;
}

/** Lists every door of the server at `url`. */
export function doorsOf(url: string): Door[] {
  const http2 = { baseUrl: url, httpVersion: "2" as const };
  return [
    plainDoor(url),
    connectJsonDoor(url),
    binaryDoor(
      "Connect binary",
      createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true }),
    ),
    binaryDoor("Connect binary over HTTP/2", createConnectTransport({ ...http2, useBinaryFormat: true })),
    binaryDoor("gRPC", createGrpcTransport({ baseUrl: url })),
    binaryDoor("gRPC-Web", createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })),
  ];
}

const PLAIN: Partial<Record<RpcName, string>> = {
  ...{ Store: "/store", StoreBatch: "/store/batch", Recall: "/recall", SignUp: "/signup" },
};

/** Paths that name their resource. The rest of the request goes into the query. */
const RESOURCES: Partial<Record<RpcName, string>> = {
  GetMemory: "GET /namespaces/{namespace}/memories/{id}",
  UpdateMemory: "PATCH /namespaces/{namespace}/memories/{id}",
  DeleteMemory: "DELETE /namespaces/{namespace}/memories/{id}",
  DeleteNamespace: "DELETE /namespaces/{namespace}",
  ListNamespaces: "GET /namespaces",
  GetNamespace: "GET /namespaces/{namespace}",
  ListMemories: "GET /namespaces/{namespace}/memories",
  GetAccount: "GET /account",
  GetUsage: "GET /usage",
  ListRecentCalls: "GET /calls",
  ListKeys: "GET /keys",
};

/** Makes the door of plain paths. RPCs without one use Connect's path. */
function plainDoor(url: string): Door {
  const door = jsonDoor("plain paths", (rpc) => url + (PLAIN[rpc] ?? rpcPath(rpc)));
  return {
    ...door,
    async call(rpc, request, options = {}) {
      const resource = RESOURCES[rpc];
      if (resource === undefined) return door.call(rpc, request, options);
      const headers = { ...authorization(options.key), ...options.header };
      if (rpc === "UpdateMemory") return patch(url, request as JsonObject, headers, door, options);
      const [method, path] = resourceOf(resource, request as Record<string, string>);
      return readJson(await fetch(url + path, { method, headers }));
    },
  };
}

/** Sends an update as a merge patch; one with a mask has no such form, and goes to the RPC's path. */
async function patch(
  url: string,
  { namespace, id, ...fields }: JsonObject,
  headers: Record<string, string>,
  door: Door,
  options: { key?: string; header?: Record<string, string> },
): Promise<Outcome> {
  if (fields.update_mask !== undefined || namespace === undefined || !id) {
    return door.call("UpdateMemory", { namespace, id, ...fields } as JsonObject, options);
  }
  const [method, path] = resourceOf(RESOURCES.UpdateMemory ?? "", { namespace, id });
  const body = JSON.stringify(fields);
  const type = { "content-type": "application/merge-patch+json" };
  return readJson(await fetch(url + path, { method, headers: { ...type, ...headers }, body }));
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

function connectJsonDoor(url: string): Door {
  return jsonDoor("Connect JSON", (rpc) => url + rpcPath(rpc));
}

function jsonDoor(name: string, urlOf: (rpc: RpcName) => string): Door {
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

function binaryDoor(name: string, transport: Transport): Door {
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
