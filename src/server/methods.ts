import type { FastifyInstance, HTTPMethods } from "fastify";
import { sendError } from "./plain-errors.js";

/** What a browser or a tool may try on a path. OPTIONS is a preflight's, and no mistake. */
const METHODS: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Answers 405 with `Allow` where a path exists, but not for this method. To be called before the
 * first route and, through what it returns, after the last.
 */
export function noteMethods(app: FastifyInstance): () => void {
  const offered = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const methods = offered.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    offered.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...offered]) {
      const others = METHODS.filter((method) => !methods.has(method));
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
