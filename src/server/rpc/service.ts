import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Call } from "../call.js";

/** Serves one RPC: a function of its decoded message and its call. */
export type Method<D extends DescMethod> =
  D extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>
    : D extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: Call) => AsyncIterable<MessageInitShape<O>>
      : never;

/** Serves the RPCs of a service, by their names in this language. */
export type Service<S extends DescService> = { readonly [K in keyof S["method"]]: Method<S["method"][K]> };

/** A service of the contract with the functions that serve it. */
export interface Served {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, unknown>>;
}

/** An RPC with the function that serves it. */
export interface Rpc {
  readonly descriptor: DescMethod;
  readonly serve: (request: never, call: Call) => unknown;
}

/** Name of an RPC: `service/method`. */
export function nameOf({ parent, name }: Pick<DescMethod, "parent" | "name">): string {
  return `${parent.typeName}/${name}`;
}

/** Finds an RPC by its name, such as `recalld.v1.MemoryService/Recall`. */
export function rpcsByName(services: readonly Served[]): ReadonlyMap<string, Rpc> {
  const rpcs = services.flatMap(({ service, methods }) =>
    service.methods.map((descriptor): [string, Rpc] => [
      nameOf(descriptor),
      { descriptor, serve: methods[descriptor.localName] as Rpc["serve"] },
    ]),
  );
  return new Map(rpcs);
}
