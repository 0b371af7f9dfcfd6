import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { TrustedProxies } from "../../src/server/listen/client-address.js";
import { isFromPortal, sessionCookies } from "../../src/server/listen/session-cookie.js";

const PORTAL = { "x-recalld-session": "1" };
const SECRET = "rcs_secret";

function aRequest(headers: IncomingHttpHeaders, remoteAddress = "192.0.2.1"): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

const plain = sessionCookies({ tls: false, proxies: new TrustedProxies([]) });

describe("the session's cookie", () => {
  it.each([
    ["localhost:8080", "recalld-session-8080"],
    ["memory.example.org", "recalld-session"],
    ["[::1]:8080", "recalld-session-8080"],
    ["[::1]", "recalld-session"],
    ["127.0.0.1:80;Domain=evil", "recalld-session"],
  ])("of the host %s is called %s", (host, name) => {
    expect(plain.write(aRequest({ host }), { secret: SECRET })).toBe(
      `${name}=${SECRET}; Path=/; HttpOnly; SameSite=Strict`,
    );
  });

  it("takes the host of HTTP/2 from where that has it, and has no host without one", () => {
    expect(plain.write(aRequest({ ":authority": "a:1" }), { secret: "" })).toMatch(/^recalld-session-1=;/);
    expect(plain.write(aRequest({}), { secret: "" })).toMatch(/^recalld-session=;/);
  });

  it.each([
    ["https", "10.0.0.1", true],
    ["HTTPS, http", "::ffff:10.0.0.1", true],
    ["http", "10.0.0.1", false],
    [undefined, "10.0.0.1", false],
    ["https", "192.0.2.1", false],
  ])("is secure when %s is said by %s: %s", (proto, address, secure) => {
    const { write } = sessionCookies({ tls: false, proxies: new TrustedProxies(["10.0.0.0/8"]) });
    const request = aRequest({ host: "a", ...(proto && { "x-forwarded-proto": proto }) }, address);
    const written = write(request, { secret: SECRET, maxAgeSeconds: 5 });
    expect(written).toBe(
      secure
        ? `__Host-recalld-session=${SECRET}; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=5`
        : `recalld-session=${SECRET}; Path=/; HttpOnly; SameSite=Strict; Max-Age=5`,
    );
  });

  it("is taken out of every request, and kept only of the portal's", () => {
    for (const [headers, found] of [
      [PORTAL, SECRET],
      [{ ...PORTAL, "sec-fetch-site": "same-origin" }, SECRET],
      [{}, undefined],
    ] as const) {
      const request = aRequest({ host: "a:1", cookie: `a=b; recalld-session-1=${SECRET};c`, ...headers });
      plain.take(request);
      expect([request.headers.cookie, request.portalSession]).toEqual([undefined, found]);
    }
  });

  it.each([
    ["recalld-session=x", undefined],
    ["xrecalld-session-1=x", undefined],
    ["__Host-recalld-session-1=x", undefined],
    ["recalld-session-1", undefined],
    ["recalld-session-1=one; recalld-session-1=two", "one"],
  ])("is read from %j as %s", (cookie, secret) => {
    const request = aRequest({ host: "a:1", cookie, ...PORTAL });
    plain.take(request);
    expect(request.portalSession).toBe(secret);
  });

  it.each([
    [{}, false],
    [{ "x-recalld-session": "true" }, false],
    [{ ...PORTAL, "sec-fetch-site": "same-site" }, false],
    [{ ...PORTAL, "sec-fetch-site": "cross-site" }, false],
    [{ ...PORTAL, "sec-fetch-site": "none" }, false],
    [{ ...PORTAL, "sec-fetch-site": "" }, false],
    [PORTAL, true],
  ] as const)("with the headers %j is the portal's: %s", (headers, found) => {
    expect(isFromPortal(headers as IncomingHttpHeaders)).toBe(found);
  });
});
