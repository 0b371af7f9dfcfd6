import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";

/** Methods that Node can read. CONNECT has no path, and Node never hands it to a route. */
const READABLE = METHODS.filter((method) => method !== "CONNECT");

/** Number of a path's segments that are looked at, above those of any route. */
const SEGMENTS_MAX = 16;

/**
 * Notes which methods each path is served by, to answer the others with 405. A route for each of them would
 * cost a sixth of the start. Call it before the first route; the function that it returns lists the methods
 * of a path, none if there is nothing at it.
 */
export function noteMethods(app: FastifyInstance): (path: string) => readonly string[] {
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
  let routes: { segments: readonly string[]; methods: Set<string> }[] | undefined;
  return (path) => {
    routes ??= [...offered].map(([url, methods]) => ({ segments: url.split("/"), methods }));
    // A path may have thousands of segments; no route has as many.
    const segments = path.split("/", SEGMENTS_MAX);
    const found = routes.filter((route) => isAt(route.segments, segments));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))];
  };
}

/** Tells whether a path is one of a route's, in which `:name` stands for one segment, and `*` for the rest. */
function isAt(route: readonly string[], path: readonly string[]): boolean {
  if (route.at(-1) === "*") return isAt(route.slice(0, -1), path.slice(0, route.length - 1));
  if (route.length !== path.length) return false;
  return route.every((segment, i) => segment === path[i] || (segment.startsWith(":") && path[i] !== ""));
}
