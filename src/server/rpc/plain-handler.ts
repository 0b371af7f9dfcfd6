import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { invalid } from "../../errors.js";
import { toConnectError } from "../wire/errors.js";
import { shown } from "../wire/json-text.js";
import { once, refusing, unsupported, withBody } from "../wire/plain-errors.js";
import { tooLarge } from "../wire/request-body.js";

/** Serves an RPC on a plain path: the body must be JSON, and 413 says that it is over the limit. */
export function plain(handler: UniversalHandler, bytesMax: number) {
  return async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    if (request.method === "POST" && !isJson(request)) {
      return withBody({ status: 415 }, unsupported(request.header.get("content-type") ?? "none"));
    }
    // Before the gate: a body that will not be read need not be awaited.
    if (Number(request.header.get("content-length")) > bytesMax) return refused(bytesMax);
    return handler(withoutQuery(request));
  };
}

/** Refuses a query of a plain path, which would be ignored in silence: everything stands in the body. */
function withoutQuery(request: UniversalServerRequest): UniversalServerRequest {
  const name = /\?([^=&]+)/.exec(request.url)?.[1];
  if (name === undefined || request.method !== "POST") return request;
  const error = invalid(shown(name), "stands in the query, which is not read here; send it in the body");
  return { ...request, body: refusing(error) };
}

function refused(bytesMax: number): UniversalServerResponse {
  const error = errorToJsonBytes(toConnectError(tooLarge(bytesMax)), { useProtoFieldName: true });
  return { status: 413, header: new Headers({ "content-type": "application/json" }), body: once(error) };
}

function isJson({ header }: UniversalServerRequest): boolean {
  return header.get("content-type") === "application/json";
}
