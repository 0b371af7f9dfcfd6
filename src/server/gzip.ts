import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export const gzipped = promisify(gzip);

/** True if a client accepts an answer that is compressed by gzip. */
export function acceptsGzip({ "accept-encoding": accepted }: IncomingHttpHeaders): boolean {
  return accepted !== undefined && /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(accepted));
}
