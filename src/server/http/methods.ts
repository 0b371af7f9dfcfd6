import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { sendError } from "../wire/plain-errors.js";

/** Methods that Node can read. CONNECT has no path, and Node never hands it to a route. */
const READABLE = METHODS.filter((method) => method !== "CONNECT");

/**
 * Answers 405 with `Allow` where a path exists, but not for this method. Call it before the first route, and
 * the function that it returns after the last.
 */
export function noteMethods(app: FastifyInstance): () => void {
  for (const method of READABLE) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // QUERY counts as a method without a body, or Fastify would first answer 400 for a missing Content-Type.
  app.addHttpMethod("QUERY", { hasBody: false, overrideExisting: true });
  const offered = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const methods = offered.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    offered.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...offered]) {
      const others = READABLE.filter((method) => !methods.has(method));
      if (others.length === 0) continue;
      const allow = [...methods].join(", ");
      app.route({
        method: others,
        url,
        handler: (request, reply) =>
          sendError(reply.header("allow", allow), 405, `${request.method} is not served here; use ${allow}`),
      });
    }
  };
}
