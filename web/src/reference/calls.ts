import { type Document, jsonMedia, type Operation, type Parameter, resolve } from "./openapi.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
/** Path of an RPC, which Connect, gRPC and gRPC-Web have in common. */
const RPC = /^\/([\w.]+\/\w+)$/;

export type Values = Readonly<Record<string, unknown>>;

/** One way to make a call. */
interface Way {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** A call of the service. It has one page, under its plain path if it has one. */
export interface Call extends Operation {
  /** Name of the RPC, or of the probe. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The RPC as gRPC names it: `recalld.v1.MemoryService/Store`; undefined if the document has none. */
  readonly rpc: string | undefined;
  /** Example of the whole request, by the names of the contract. */
  readonly request: Values;
  /** Example of the body at the call's own path, which may differ; undefined for calls without one. */
  readonly body: Values | undefined;
}

export type Group = readonly [tag: string, calls: readonly Call[]];

/** Lists the document's calls by their first tag, in the order of the document; each call comes once. */
export function groupsOf(document: Document): readonly Group[] {
  const ways = new Map<string, Way[]>();
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = operations[method];
      if (!operation) continue;
      const name = nameOf(operation);
      ways.set(name, [...(ways.get(name) ?? []), { method, path, operation }]);
    }
  }
  const groups = new Map<string, Call[]>();
  for (const [name, all] of ways) {
    const call = callOf(document, name, all);
    const tag = call.tags?.[0] ?? "Probes";
    groups.set(tag, [...(groups.get(tag) ?? []), call]);
  }
  return [...groups];
}

/** `MemoryService_GetMemory` and `getMemory` are both GetMemory. */
function nameOf({ operationId = "", tags }: Operation): string {
  if (!tags) return operationId;
  const name = operationId.replace(/^\w+Service_/, "");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function callOf(document: Document, name: string, ways: readonly Way[]): Call {
  const rpc = ways.find(({ method, path }) => method === "post" && RPC.test(path));
  const { method, path, operation } = ways.find((way) => !RPC.test(way.path)) ?? rpc ?? (ways[0] as Way);
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(document, parameter));
  const required = parameters.flatMap(({ name, required, example }) => (required ? [[name, example]] : []));
  return {
    ...operation,
    name,
    method,
    path,
    parameters,
    rpc: rpc && RPC.exec(rpc.path)?.[1],
    request: bodyExample(document, rpc?.operation) ?? Object.fromEntries(required),
    body: bodyExample(document, operation),
  };
}

function bodyExample(document: Document, operation: Operation | undefined): Values | undefined {
  const body = operation?.requestBody && resolve(document, operation.requestBody);
  return jsonMedia(body)?.example as Values | undefined;
}

/** Whether the call takes away what cannot be brought back. */
export function destroys({ name }: Call): boolean {
  return /^(Delete|Revoke|Close)/.test(name);
}

/** Whether the answer is a stream, which may never end. */
export function streams({ responses = {} }: Call): boolean {
  const types = Object.keys(responses["200"]?.content ?? {});
  return types.length > 0 && !types.includes("application/json");
}
