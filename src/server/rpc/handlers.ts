import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { normalizeHeaders } from "../wire/content-type.js";
import { unsupported, withBody } from "../wire/plain-errors.js";
import { strict } from "./bodies.js";
import { type ObserveOptions, observed } from "./observe.js";
import { plain } from "./plain-handler.js";

export interface HandlerOptions extends Pick<ObserveOptions, "onBegin" | "onEnd"> {
  /** Second paths, by the RPC's own path: the same handler serves both. */
  readonly plainPaths: Readonly<Record<string, string>>;
  bodyBytesMax(method: DescMethod): number;
}

/**
 * Wraps the router's handlers and mounts the plain paths. Bodies are checked strictly, a refusal that only
 * HTTP knows gets a body of Connect's shape, and each call is reported once.
 */
export function dressHandlers(
  router: ConnectRouter,
  { plainPaths, bodyBytesMax, ...options }: HandlerOptions,
): void {
  for (const [i, bare] of [...router.handlers].entries()) {
    const bytesMax = bodyBytesMax(bare.method);
    router.handlers[i] = withNormalizedHeaders(observed(explained(strict(bare, { bytesMax })), options));
    const requestPath = plainPaths[bare.requestPath];
    if (requestPath === undefined) continue;
    const handler = explained(strict(bare, { bytesMax, tooLargeStatus: 413 }));
    const dressed = Object.assign(plain(handler, bytesMax), handler, { requestPath });
    router.handlers.push(withNormalizedHeaders(observed(dressed, { ...options, plain: true })));
  }
}

/** Checks the bodies of the handlers from index `from` on, which need no key and are not reported. */
export function dressOpenHandlers(
  router: ConnectRouter,
  { from, bytesMax }: { from: number; bytesMax: number },
): void {
  for (const [i, bare] of [...router.handlers].entries()) {
    if (i >= from) router.handlers[i] = withNormalizedHeaders(explained(strict(bare, { bytesMax })));
  }
}

/** Normalizes a request's headers for the other wrappers and for Connect. */
function withNormalizedHeaders(handler: UniversalHandler): UniversalHandler {
  const read = (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    normalizeHeaders(request.header);
    return handler(request);
  };
  return Object.assign(read, handler);
}

/** Adds a body that explains a bare 405 or 415. */
function explained(handler: UniversalHandler): UniversalHandler {
  const explain = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request);
    if (response.body !== undefined) return response;
    if (response.status === 405) {
      const allow = handler.allowedMethods.join(", ");
      const header = new Headers(response.header);
      header.set("allow", allow);
      return withBody(
        { ...response, header },
        `${request.method.slice(0, 16)} is not served here; use ${allow}`,
      );
    }
    if (response.status === 415)
      return withBody(response, unsupported(request.header.get("content-type") ?? "none"));
    return withBody(response, `HTTP ${response.status}`);
  };
  return Object.assign(explain, handler);
}
