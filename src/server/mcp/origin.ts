import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK_ADDRESS = /^(127\.[\d.]+|::1)$/;
const LOOPBACK_NAME = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Request, as far as it tells who asks. */
export interface Asker {
  readonly headers: IncomingHttpHeaders;
  /** Address that it came from. */
  readonly address: string;
}

/**
 * True if a page of another site asks. A browser names the page's origin, other programs name none. A
 * page may turn its own name to this machine's address (DNS rebinding), and then is of the host that it asks:
 * so a browser on this machine must name it as one does from here.
 */
export function isForeign({ headers, address }: Asker, allowed: readonly string[]): boolean {
  const { origin, host, ":authority": authority } = headers;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return false;
  if (!URL.canParse(origin)) return true;
  const own = new URL(origin);
  if (own.host !== (authority ?? host)) return true;
  return LOOPBACK_ADDRESS.test(address) && !LOOPBACK_NAME.test(own.hostname);
}
