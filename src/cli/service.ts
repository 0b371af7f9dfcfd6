import { call, type Json, type Server } from "./client.js";
import { EXIT } from "./exit.js";
import { UsageError } from "./failure.js";
import type { Output } from "./output.js";
import { type Named, serverOf } from "./profile.js";

/** Options that each command has. */
export interface Common extends Output, Named {}

export interface In extends Common {
  readonly namespace: string;
}

/** @throws UsageError if there is no key for the server. */
export function serverWithKey(given: Common): Server & { key: string } {
  const { url, key } = serverOf(given, process.env);
  if (key === undefined) {
    throw new UsageError(
      `no key for ${url}: set RECALLD_API_KEY, or make an account by recalld signup`,
      EXIT.denied,
    );
  }
  return { url, key };
}

/** Makes the function that calls the server. */
export function service(given: Common, { needsKey = true } = {}) {
  const server = needsKey ? serverWithKey(given) : serverOf(given, process.env);
  return (method: string, body: Json) => call(server, method, body);
}
