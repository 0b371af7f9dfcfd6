import type { Call, Values } from "./calls.js";

export interface Request {
  readonly method: string;
  /** Path with its query, as it is sent. */
  readonly path: string;
}

/** Puts the values into the path and the query, as the call wants them. */
export function requestOf({ method, path, parameters }: Call, values: Values): Request {
  const queried = new Set(
    parameters.flatMap(({ name, in: location }) => (location === "query" ? [name] : [])),
  );
  const filled = path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(String(values[name] ?? "")));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (queried.has(name)) query.set(name, String(value));
  return {
    method: method.toUpperCase(),
    path: query.size > 0 ? `${filled}?${query}` : filled,
  };
}
