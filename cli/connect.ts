import { Recalld } from "../clients/typescript/src/index.js";
import { VERSION } from "../src/version.js";
import { EXIT, UsageError } from "./failure.js";
import type { Output } from "./output.js";
import { type Named, serverOf } from "./profile.js";

export interface Common extends Output, Named {}

export interface In extends Common {
  readonly namespace: string;
}

export const HEADERS = { "user-agent": `recalld-cli/${VERSION}` };

/** Makes a client of the server that the options name. @throws UsageError if there is no key for it */
export function connect(given: Named, { retries }: { retries?: number } = {}): Recalld {
  const { url, key } = serverOf(given, process.env);
  if (key === undefined) {
    throw new UsageError(
      `no key for ${url}: set RECALLD_API_KEY, or make an account by recalld signup`,
      EXIT.denied,
    );
  }
  return new Recalld({ baseUrl: url, apiKey: key, headers: HEADERS, retries });
}
