import { METHODS } from "node:http";
import type { FastifyError, FastifyInstance } from "fastify";
import { withoutKeys } from "../../errors.js";
import { didYouMean } from "../../suggest.js";
import { unsupported } from "../content-type.js";
import { sendError } from "../errors.js";

/** Methods that Node can read. CONNECT has no path, and Node never hands it to a route. */
const READABLE = METHODS.filter((method) => method !== "CONNECT");
/** More segments than any route has. A path of 16 KB may have thousands. */
const SEGMENTS_MAX = 16;
/** What other APIs put before their paths. */
const PREFIX = /^\/(api\/)?(v\d\/)?/;

/**
 * Gives Fastify's own errors (no route, a body that cannot be read) the shape of all others. It notes which methods each
 * path is served by, to answer the others with 405: a route for each of them would cost a sixth of the start. Call it
 * before the first route.
 */
export function shapeFastifyErrors(app: FastifyInstance): void {
  for (const method of READABLE) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // QUERY counts as a method without a body, or Fastify would first answer 400 for a missing Content-Type.
  app.addHttpMethod("QUERY", { hasBody: false, overrideExisting: true });
  const offered: Offered = new Map();
  app.addHook("onRoute", ({ url, method }) => {
    const { methods } = offered.get(url) ?? { methods: new Set() };
    for (const each of [method].flat()) methods.add(each);
    offered.set(url, { route: url.split("/"), methods });
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) app.log.error({ err: error, requestId: request.id }, "fault");
    // Fastify itself refuses a type that has no slash, before a handler judges it.
    if (status === 415)
      return sendError(reply, status, unsupported(request.headers["content-type"] || "none"));
    return sendError(reply, status, status >= 500 ? "internal error" : "the request could not be read");
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?", 1)[0] as string;
    const segments = path.split("/", SEGMENTS_MAX);
    const found = [...offered.values()].filter(({ route }) => isAt(route, segments));
    const methods = [...new Set(found.flatMap((each) => [...each.methods]))];
    const allow = methods.join(", ");
    // A route of many paths, such as that of the docs, has nothing at some of them.
    if (allow === "" || methods.includes(request.method)) {
      const meant = routeLike(offered, request.method, path);
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      const at = withoutKeys(path).slice(0, 256);
      return sendError(reply, 404, `there is nothing at ${request.method} ${at}${hint}`);
    }
    reply.header("allow", allow);
    return sendError(reply, 405, `${request.method} is not served here; use ${allow}`);
  });
}

/** Methods of each path that is served, with its segments. */
type Offered = Map<string, { readonly route: readonly string[]; readonly methods: Set<string> }>;

/** Method and path that a request for nothing was probably meant for, as the documentation writes them. */
function routeLike(offered: Offered, method: string, path: string): string | undefined {
  const segments = path.replace(PREFIX, "/").split("/", SEGMENTS_MAX);
  const near = [...offered].filter(([, { route }]) => isLike(route, segments));
  const like = near.find(([, { methods }]) => methods.has(method)) ?? near[0];
  if (like === undefined) return undefined;
  const [url, { methods }] = like;
  return `${methods.has(method) ? method : [...methods][0]} ${url.replace(/:(\w+)/g, "{$1}")}`;
}

/** True if a path is one of a route's, in which `:name` stands for one segment, and `*` for the rest. */
function isAt(route: readonly string[], path: readonly string[]): boolean {
  if (route.at(-1) === "*") return isAt(route.slice(0, -1), path.slice(0, route.length - 1));
  if (route.length !== path.length) return false;
  return route.every((segment, i) => segment === path[i] || (segment.startsWith(":") && path[i] !== ""));
}

/** True if a path has the segments of a route, with slips in them. */
function isLike(route: readonly string[], path: readonly string[]): boolean {
  if (route.length !== path.length) return false;
  return route.every((segment, i) =>
    segment.startsWith(":") ? path[i] !== "" : didYouMean(path[i] as string, [segment]) !== undefined,
  );
}
