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

/**
 * Maximum size of a request: a text of 65,536 bytes, metadata of 16,384 and a namespace of 256, every byte
 * written as a JSON escape of six, with room to spare.
 */
export const BODY_BYTES_MAX = 1_048_576;
/** Maximum size of a batch. */
export const BATCH_BODY_BYTES_MAX = 8_388_608;

/** An RPC with the function that serves it. */
export interface Rpc {
  readonly descriptor: DescMethod;
  readonly serve: (request: never, call: Call) => unknown;
  readonly bytesMax: number;
}

/** Name of an RPC: `service/method`. */
export function nameOf({ parent, name }: Pick<DescMethod, "parent" | "name">): string {
  return `${parent.typeName}/${name}`;
}

/** Lists the RPCs of a service by their names, such as `recalld.v1.MemoryService/Recall`. */
export function rpcsOf<S extends DescService>(service: S, methods: Service<S>): [name: string, Rpc][] {
  return service.methods.map((descriptor) => {
    const serve = methods[descriptor.localName as keyof S["method"]] as Rpc["serve"];
    const bytesMax = descriptor.localName === "storeBatch" ? BATCH_BODY_BYTES_MAX : BODY_BYTES_MAX;
    return [nameOf(descriptor), { descriptor, serve, bytesMax }];
  });
}
