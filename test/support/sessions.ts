import { readJson } from "./protocols.js";

/** Header by which the portal's requests are known. */
export const FROM_PORTAL = { "x-recalld-session": "1" };

/** A session as its browser knows it. */
export interface BrowserSession {
  /** The whole `Set-Cookie`. */
  readonly setCookie: string;
  /** Name and value of the cookie. */
  readonly cookie: string;
  readonly secret: string;
  /** Headers of the portal's requests. */
  readonly header: Record<string, string>;
  readonly expiresAtMs: number;
}

export async function openBrowserSession(
  url: string,
  key: string,
  { stay = false, header = {} }: { stay?: boolean; header?: Record<string, string> } = {},
): Promise<BrowserSession> {
  const response = await postSession(url, { stay }, { authorization: `Bearer ${key}`, ...header });
  const { code, message, body } = await readJson(response);
  if (code !== "ok") throw new Error(`POST /session: ${code}, ${message}`);
  const setCookie = response.headers.get("set-cookie") ?? "";
  const cookie = setCookie.split(";")[0] as string;
  const secret = cookie.slice(cookie.indexOf("=") + 1);
  const expiresAtMs = Date.parse(String(body.expires_at));
  return { setCookie, cookie, secret, header: { cookie, ...FROM_PORTAL }, expiresAtMs };
}

export function postSession(url: string, body: unknown, header: Record<string, string>): Promise<Response> {
  return fetch(`${url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", ...header },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
