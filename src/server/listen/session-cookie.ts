import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { TrustedProxies } from "./client-address.js";

/** Header that the portal's requests have. Forms cannot send it, and CORS never allows it. */
const PORTAL_HEADER = "x-recalld-session";
const NAME = "recalld-session";

declare module "node:http" {
  interface IncomingMessage {
    /** Secret of the session that a request of the portal came with. */
    portalSession?: string;
  }
}

/**
 * True if a request is provably the portal's own: it has a header that no form can send, which other
 * origins may not send either, and the browser does not say that another site's page asks.
 */
export function isFromPortal(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return headers[PORTAL_HEADER] === "1" && (site === undefined || site === "same-origin");
}

export type SessionCookies = ReturnType<typeof sessionCookies>;

/**
 * Reads and writes the cookie in which a browser keeps a session. Over TLS it is called `__Host-…`: browsers
 * let no other host and no plain connection set that one.
 */
export function sessionCookies({ tls, proxies }: { tls: boolean; proxies: TrustedProxies }) {
  const isSecure = ({ headers, socket }: IncomingMessage) => {
    if (tls) return true;
    const [told] = String(headers["x-forwarded-proto"] ?? "").split(",");
    return told?.trim().toLowerCase() === "https" && proxies.areAt(socket);
  };
  const nameFor = (request: IncomingMessage) =>
    `${isSecure(request) ? "__Host-" : ""}${NAME}${portOf(request)}`;
  /** Writes the cookie of a session. Without an age it ends with the browser. */
  const write = (
    request: IncomingMessage,
    { secret, maxAgeSeconds }: { secret: string; maxAgeSeconds?: number },
  ) => {
    const parts = [`${nameFor(request)}=${secret}`, "Path=/", "HttpOnly", "SameSite=Strict"];
    if (isSecure(request)) parts.push("Secure");
    if (maxAgeSeconds !== undefined) parts.push(`Max-Age=${maxAgeSeconds}`);
    return parts.join("; ");
  };
  return {
    /** Takes the cookies out of a request, so that nothing else sees them, and keeps a session that may count. */
    take: (request: IncomingMessage) => {
      const { headers } = request;
      const { cookie } = headers;
      delete headers.cookie;
      if (cookie === undefined || !isFromPortal(headers)) return;
      const secret = valueIn(cookie, nameFor(request));
      if (secret !== undefined) request.portalSession = secret;
    },
    write,
    /** Writes a cookie that ends at once. */
    clear: (request: IncomingMessage) => write(request, { secret: "", maxAgeSeconds: 0 }),
  };
}

/** Names the port, because cookies of a host are sent to all its ports, where another server may run. */
function portOf({ headers }: IncomingMessage): string {
  const port = /:(\d{1,5})$/.exec(String(headers[":authority"] ?? headers.host ?? ""))?.[1];
  return port === undefined ? "" : `-${port}`;
}

function valueIn(cookie: string, name: string): string | undefined {
  const pairs = cookie.split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
