import { type DescField, ScalarType, toJsonString } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalid, MemoryError, safeName } from "../../errors.js";
import { isObject } from "../../memory/requests/metadata.js";
import { readBody, readQuery } from "../body.js";
import type { Call } from "../call.js";
import { type Calls, SIGN_UP } from "../calls.js";
import { fieldOf, JSON_OPTIONS, readJson } from "../json.js";
import { hasBody } from "../listen/open-requests.js";
import type { Rpc } from "../rpc/service.js";
import { withStoredJson } from "../rpc/stored-json.js";
import { type Endpoint, serve } from "../serve.js";
import { REST_ROUTES } from "./routes.js";
import { sendStream } from "./streams.js";

/** Content-Types of each method that has a body. Most clients send patches (RFC 7396) as plain JSON. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  POST: ["application/json"],
  PATCH: ["application/json", "application/merge-patch+json"],
};

export function addRest(
  app: FastifyInstance,
  { calls, rpcs }: { calls: Calls; rpcs: ReadonlyMap<string, Rpc> },
): void {
  for (const { method, url, rpc: name, form } of REST_ROUTES) {
    const rpc = rpcs.get(name) as Rpc;
    const { input, output } = rpc.descriptor;
    const takes = TYPES[method];
    const read = async (call: Call, request: FastifyRequest) => {
      if (takes !== undefined) {
        refuseQuery(request);
        const bytes = await readBody(call, rpc.bytesMax);
        const isPatch = method === "PATCH";
        return readJson(
          input,
          bytes,
          url.includes("/:") ? { path: pathParams(request), isPatch } : undefined,
        );
      }
      const fields = pathParams(request);
      const query = readQuery(request.url);
      if (form === "events") addLastEvent(call, query);
      // Both are written as one JSON object, so a field in the path and in the query is refused as given twice.
      const members = [...Object.entries(fields), ...query].map(
        ([field, value]) => `${JSON.stringify(field)}:${jsonOf(value, fieldOf(input, field))}`,
      );
      return readJson(input, Buffer.from(`{${members.join(",")}}`));
    };
    const answer: Endpoint["answer"] = async (call, reply) => {
      await calls.begin(call);
      refuseConditions(reply.request);
      call.message = await read(call, reply.request);
      if (form !== undefined)
        return sendStream(rpc.serve(call.message as never, call), { call, reply, form, output });
      const answered = calls.run(call, rpc);
      const isUnread = takes === undefined && hasBody(reply.request.raw);
      const message = await (isUnread ? answered.catch((error) => throwUnread(error, method)) : answered);
      return withStoredJson(toJsonString(output, message, JSON_OPTIONS));
    };
    const streams = form !== undefined;
    const credential = name === SIGN_UP ? undefined : "either";
    serve(app, { method, url, name, streams, credential, takes, answer }, calls);
  }
}

/** Codes of errors that a field which is left out can cause. */
const MAY_MISS_FIELDS = ["invalid_argument", "failed_precondition"];

/** Headers of conditional requests. */
const CONDITIONS = ["If-Match", "If-None-Match", "If-Unmodified-Since"];

/** Refuses a conditional change: without the condition, the very change that the caller guards against would be made. */
function refuseConditions({ method, headers }: FastifyRequest): void {
  const name = CONDITIONS.find((each) => headers[each.toLowerCase()] !== undefined);
  if (method !== "GET" && name !== undefined)
    throw invalid(name, "is not read here; UpdateMemory takes a memory's etag in its body");
}

/** Refuses a query that would be ignored: all fields stand in the body. */
function refuseQuery({ url }: FastifyRequest): void {
  const [name] = readQuery(url).keys();
  if (name !== undefined)
    throw invalid(safeName(name), "stands in the query, which is not read here; send it in the body");
}

/** Adds to the error of a call what its caller may not know: the body, in which the missing field may be, was not read. */
function throwUnread(error: unknown, method: string): never {
  if (!(error instanceof MemoryError && MAY_MISS_FIELDS.includes(error.code))) throw error;
  const { code, message, ...options } = error;
  const hint = `; the body of a ${method} is not read: send its fields in the query`;
  throw new MemoryError(code, message + hint, options);
}

/** Parameters of the path. @throws MemoryError `invalid_argument` for bytes that are not percent-encoded. */
function pathParams({ params, url }: FastifyRequest): Readonly<Record<string, string>> {
  // Node hands on a byte as the character of its number: two bytes of UTF-8 would name another namespace.
  if (!/^[!-~]*$/.test(url)) throw invalid("path", "is not percent-encoded");
  return params as Record<string, string>;
}

/**
 * Sets the position to the id of the last event that a browser has seen. It wins over the query, which a browser repeats
 * as in its first request.
 */
function addLastEvent(call: Call, query: Map<string, string>): void {
  const last = call.headers["last-event-id"];
  if (typeof last !== "string" || last === "") return;
  call.positionName = "Last-Event-ID";
  query.set("position", last);
}

/** Writes a value of the query as JSON of its field's type; as a string, which the field refuses, if it has another. */
function jsonOf(text: string, field: DescField | undefined): string {
  const isJson =
    (field?.scalar === ScalarType.BOOL && /^(true|false)$/.test(text)) ||
    (field?.scalar === ScalarType.INT32 && /^(0|-?[1-9]\d*)$/.test(text)) ||
    (field?.message?.typeName === "google.protobuf.Struct" && isObjectText(field.name, text));
  return isJson ? text : JSON.stringify(text);
}

function isObjectText(name: string, text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    throw invalid(name, "is not JSON; send a JSON object");
  }
}
