import type { IncomingHttpHeaders } from "node:http";

/**
 * Tells whether a page of another site asks. A browser names the page's origin, other programs name none. A
 * page that has turned its own name to this server's address (DNS rebinding) is of the same host, and is kept
 * out by the key, which it has not.
 */
export function isForeign(
  { origin, host, ":authority": authority }: IncomingHttpHeaders,
  allowed: readonly string[],
): boolean {
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== (authority ?? host);
}
