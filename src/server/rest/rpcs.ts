import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  ScalarType,
  toJsonString,
} from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalid } from "../../errors.js";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import type { Rpc } from "../rpc/service.js";
import { isJson } from "../wire/content-type.js";
import { readJson, readResource } from "../wire/json-body.js";
import { JSON_OPTIONS } from "../wire/json-options.js";
import { isObject, shown } from "../wire/json-text.js";
import { readQuery } from "../wire/query.js";
import { decodeInSteps } from "../wire/request-body.js";
import { bytesIn } from "./body.js";
import { REST_ROUTES, type RestRoute } from "./routes.js";
import { type Asked, serve } from "./serve.js";

/** Content type of a patch (RFC 7396); most clients send plain JSON. */
const PATCH_TYPE = /^application\/merge-patch\+json\s*(;\s*charset="?utf-8"?\s*)?$/i;

export interface RestOptions {
  readonly calls: Calls;
  /** RPCs by their names. */
  readonly rpcs: ReadonlyMap<string, Rpc>;
  bodyBytesMax(method: DescMethod): number;
}

/** Serves the RPCs at their paths of REST. */
export function addRest(app: FastifyInstance, { calls, rpcs, bodyBytesMax }: RestOptions): void {
  for (const route of REST_ROUTES) {
    const { descriptor, serve: method } = rpcs.get(route.rpc) as Rpc;
    const { input, output } = descriptor;
    const read = readerOf(route, input, bodyBytesMax(descriptor));
    const answer = async (call: Call, { request }: Asked) => {
      await calls.begin(call);
      call.message = await read(call, request);
      return toJsonString(output, create(output, await calls.run(call, method)), JSON_OPTIONS);
    };
    const { rpc: name, ...path } = route;
    serve(app, { ...path, name, credential: "either", takes: takenBy(route), answer }, calls);
  }
}

function takenBy({ method }: RestRoute): ((type: string) => boolean) | undefined {
  if (method === "POST") return isJson;
  return method === "PATCH" ? (type) => isJson(type) || PATCH_TYPE.test(type) : undefined;
}

type Read = (call: Call, request: FastifyRequest) => Promise<Message>;

function readerOf({ method, url }: RestRoute, input: DescMessage, bytesMax: number): Read {
  if (method !== "POST" && method !== "PATCH")
    return async (_call, request) => readJson(input, Buffer.from(requestOf(request, input)));
  const isPatch = method === "PATCH";
  const hasFields = url.includes("/:");
  return async (call, request) => {
    refuseQuery(request);
    call.isPatch = isPatch;
    const bytes = await bytesIn(request, call, bytesMax);
    if (!hasFields) return decodeInSteps(bytes, { message: input, codec: "json" });
    return readResource(input, bytes, { fields: fieldsIn(request), isPatch });
  };
}

/** Refuses a query where it would be ignored in silence: everything stands in the body. */
function refuseQuery({ url }: FastifyRequest): void {
  const name = /\?([^=&]+)/.exec(url)?.[1];
  if (name !== undefined)
    throw invalid(shown(name), "stands in the query, which is not read here; send it in the body");
}

/** Parameters of the path. @throws MemoryError `invalid_argument` for bytes that are not percent-encoded. */
function fieldsIn({ params, url }: FastifyRequest): Readonly<Record<string, string>> {
  // Node hands on a byte as the character of its number: two bytes of UTF-8 would name another namespace.
  if (!/^[!-~]*$/.test(url)) throw invalid("path", "is not percent-encoded");
  return params as Record<string, string>;
}

/**
 * Writes what a path and its query ask for as the JSON of a request. What is `given` elsewhere stands in place of
 * the query's first value; a second one is refused as ever. @throws MemoryError `invalid_argument`
 */
export function requestOf(
  request: FastifyRequest,
  message: DescMessage,
  given: Readonly<Record<string, string>> = {},
): string {
  const fields = fieldsIn(request);
  const query = readQuery(request.url);
  for (const [name, value] of Object.entries(given)) {
    const asked = query.find(([other]) => other === name);
    if (asked === undefined) query.push([name, value]);
    else asked[1] = value;
  }
  // A field that is given twice is in the JSON twice, and so refused.
  const members = [...Object.entries(fields), ...query].map(
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
    (field?.message?.typeName === "google.protobuf.Struct" && isObjectText(text));
  return isAsItIs ? text : JSON.stringify(text);
}

function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
