import { METHODS } from "node:http";
import type { FastifyInstance } from "fastify";
import { didYouMean } from "../../suggest.js";

/** Methods that Node can read. CONNECT has no path, and Node never hands it to a route. */
const READABLE = METHODS.filter((method) => method !== "CONNECT");
/** More segments than any route has. A path of 16 KB may have thousands. */
const SEGMENTS_MAX = 16;
/** What other APIs put before their paths. */
const PREFIX = /^\/(api\/)?(v\d\/)?/;

/** The paths that are served. */
export interface Routes {
  /** Lists the methods that a path is served by, none if there is nothing at it. */
  methodsAt(path: string): readonly string[];
  /** Method and path that a request for nothing was probably meant for, as the documentation writes them. */
  routeLike(method: string, path: string): string | undefined;
}

/**
 * Notes which methods each path is served by, to answer the others with 405. A route for each of them would
 * cost a sixth of the start. Call it before the first route.
 */
export function noteRoutes(app: FastifyInstance): Routes {
  for (const method of READABLE) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // QUERY counts as a method without a body, or Fastify would first answer 400 for a missing Content-Type.
  app.addHttpMethod("QUERY", { hasBody: false, overrideExisting: true });
  const offered = new Map<string, { readonly route: readonly string[]; readonly methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const { methods } = offered.get(url) ?? { methods: new Set() };
    for (const each of [method].flat()) methods.add(each);
    offered.set(url, { route: url.split("/"), methods });
  });
  return {
    methodsAt(path) {
      const segments = path.split("/", SEGMENTS_MAX);
      const found = [...offered.values()].filter(({ route }) => isAt(route, segments));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))];
    },
    routeLike(method, path) {
      const segments = path.replace(PREFIX, "/").split("/", SEGMENTS_MAX);
      const near = [...offered].filter(([, { route }]) => isLike(route, segments));
      const [url, { methods }] = near.find(([, { methods }]) => methods.has(method)) ?? near[0] ?? NOWHERE;
      if (url === "") return undefined;
      return `${methods.has(method) ? method : [...methods][0]} ${url.replace(/:(\w+)/g, "{$1}")}`;
    },
  };
}

const NOWHERE = ["", { methods: new Set<string>() }] as const;

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
