import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMessage,
  type DescService,
  type FileRegistry,
  type Message,
} from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type ConnectRouter, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";

/** Package of the suite's messages. Their fields are described here as far as the service reads them. */
export const PACKAGE = "connectrpc.conformance.v1";
const SERVICE = `${PACKAGE}.ConformanceService`;

interface Header {
  readonly name: string;
  readonly value: readonly string[];
}

interface RequestedError {
  readonly code: number;
  readonly message?: string;
  readonly details: readonly Any[];
}

interface Definition {
  readonly responseHeaders: readonly Header[];
  readonly responseTrailers: readonly Header[];
  readonly responseDelayMs: number;
}

interface UnaryDefinition extends Definition {
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | { readonly case: "error"; readonly value: RequestedError }
    | { readonly case: undefined };
}

interface StreamDefinition extends Definition {
  readonly responseData: readonly Uint8Array[];
  readonly error?: RequestedError;
}

interface Request<D> extends Message {
  readonly responseDefinition?: D;
}

/** Adds the suite's service, which answers as each request says. `registry` has the suite's messages. */
export function addConformanceService(router: ConnectRouter, registry: FileRegistry): void {
  const service = registry.getService(SERVICE) as DescService;
  const message = (name: string) => registry.getMessage(`${PACKAGE}.${name}`) as DescMessage;
  const infoSchema = message("ConformancePayload.RequestInfo");

  const describe = (requests: readonly Message[], context: HandlerContext): Message => {
    const timeoutMs = context.timeoutMs();
    const query = context.requestMethod === "GET" ? new URL(context.url).searchParams : undefined;
    return create(infoSchema, {
      requestHeaders: headersOf(context.requestHeader),
      ...(timeoutMs !== undefined && { timeoutMs: BigInt(Math.max(0, Math.round(timeoutMs))) }),
      requests: requests.map((request) => anyPack(message(nameOf(request)), request)),
      ...(query && { connectGetInfo: { queryParams: headersOf(query) } }),
    });
  };
  const errorOf = ({ code, message: text = "", details }: RequestedError, info?: Message) =>
    new ConnectError(text, code, undefined, [
      ...details.map((detail) => {
        const value = anyUnpack(detail, registry) as Message;
        return { desc: registry.getMessage(value.$typeName) as DescMessage, value };
      }),
      ...(info === undefined ? [] : [{ desc: infoSchema, value: info }]),
    ]);
  const answer = async (
    requests: readonly Request<UnaryDefinition>[],
    definition: UnaryDefinition | undefined,
    context: HandlerContext,
  ) => {
    const info = describe(requests, context);
    if (definition === undefined) return { payload: { requestInfo: info } };
    begin(definition, context);
    await sleep(definition.responseDelayMs);
    const { response } = definition;
    if (response.case === "error") throw errorOf(response.value, info);
    return { payload: { requestInfo: info, ...(response.case && { data: response.value }) } };
  };
  const unary = (request: Message, context: HandlerContext) => {
    const asked = request as Request<UnaryDefinition>;
    return answer([asked], asked.responseDefinition, context);
  };

  const methods = {
    unary,
    idempotentUnary: unary,
    async *serverStream(request: Message, context: HandlerContext) {
      const { responseDefinition: definition } = request as Request<StreamDefinition>;
      if (definition === undefined) return;
      begin(definition, context);
      let info: Message | undefined = describe([request], context);
      for (const data of definition.responseData) {
        await sleep(definition.responseDelayMs);
        yield { payload: { data, ...(info && { requestInfo: info }) } };
        info = undefined;
      }
      if (definition.error !== undefined) throw errorOf(definition.error, info);
    },
    async clientStream(stream: AsyncIterable<Message>, context: HandlerContext) {
      const requests: Request<UnaryDefinition>[] = [];
      for await (const request of stream) requests.push(request as Request<UnaryDefinition>);
      return answer(requests, requests[0]?.responseDefinition, context);
    },
  };
  router.service(service, methods as object as Partial<ServiceImpl<DescService>>);
}

/** Sets the headers and trailers that a request asks for. */
function begin({ responseHeaders, responseTrailers }: Definition, context: HandlerContext): void {
  const pairs = [
    [responseHeaders, context.responseHeader],
    [responseTrailers, context.responseTrailer],
  ] as const;
  for (const [asked, header] of pairs) {
    for (const { name, value } of asked) for (const one of value) header.append(name, one);
  }
}

function headersOf(pairs: Iterable<[string, string]>): { name: string; value: string[] }[] {
  return [...pairs].map(([name, value]) => ({ name, value: [value] }));
}

function nameOf({ $typeName }: Message): string {
  return $typeName.slice(PACKAGE.length + 1);
}
