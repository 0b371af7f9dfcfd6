import { createHash, randomBytes } from "node:crypto";
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { openBrowserSession } from "./sessions.js";

/** Public address that servers under test are told. */
export const ISSUER = "https://memory.example.org";
export const RESOURCE = `${ISSUER}/mcp`;
export const BACK = "http://127.0.0.1:41234/callback";

/** Makes a `fetch` that reaches a server at its public address, as a proxy that speaks TLS does. */
export function throughTls(url: string): typeof fetch {
  return (input, init) => {
    const asked = new Request(input, init);
    const headers = new Headers(asked.headers);
    headers.set("x-forwarded-proto", "https");
    return fetch(asked.url.replace(ISSUER, url), { ...init, headers, method: asked.method });
  };
}

/** An application that the protocol's own client speaks for, with what it keeps. */
export interface App {
  readonly provider: OAuthClientProvider;
  /** Returns where the browser was sent last. */
  sentTo(): URL;
  open(): { client: Client; transport: StreamableHTTPClientTransport };
}

export function anApp(
  url: string,
  { name = "Test app", metadataUrl }: { name?: string; metadataUrl?: string } = {},
): App {
  const kept: Record<string, unknown> = {};
  const keep = (field: string) => (value: unknown) => {
    kept[field] = value;
  };
  const provider: OAuthClientProvider = {
    redirectUrl: BACK,
    ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
    clientMetadata: { client_name: name, redirect_uris: [BACK], token_endpoint_auth_method: "none" },
    state: () => "a state",
    clientInformation: () => kept.client as never,
    saveClientInformation: keep("client"),
    tokens: () => kept.tokens as never,
    saveTokens: keep("tokens"),
    redirectToAuthorization: keep("sentTo"),
    saveCodeVerifier: keep("verifier"),
    codeVerifier: () => kept.verifier as string,
    saveDiscoveryState: keep("discovered"),
    discoveryState: () => kept.discovered as OAuthDiscoveryState,
    invalidateCredentials: (scope) => {
      if (scope === "tokens" || scope === "all") kept.tokens = undefined;
    },
  };
  return {
    provider,
    sentTo: () => kept.sentTo as URL,
    open: () => ({
      client: new Client({ name: "recalld-test", version: "1" }),
      transport: new StreamableHTTPClientTransport(new URL(RESOURCE), {
        authProvider: provider,
        fetch: throughTls(url),
      }),
    }),
  };
}

export interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly [name: string]: any;
}

export interface Told {
  readonly status: number;
  readonly header: Headers;
  readonly body: Json;
}

/** A user who is signed in to the portal. */
export interface User {
  ask(path: "request" | "answer", body: object, header?: Record<string, string>): Promise<Told>;
  /** Allows a request, and returns where the browser goes. */
  allow(query: string, choice?: object): Promise<URL>;
}

export async function aUser(url: string, key: string): Promise<User> {
  const { header } = await openBrowserSession(url, key);
  const ask: User["ask"] = (path, body, others = {}) =>
    post(`${url}/authorize/${path}`, body, { ...header, ...others });
  return {
    ask,
    allow: async (query, choice = {}) => {
      const given = { query, allow: true, access: "full", namespace: "", days: 30, ...choice };
      const { body, status } = await ask("answer", given);
      if (status !== 200) throw new Error(`${status}: ${body.message}`);
      return new URL(body.location);
    },
  };
}

export async function post(url: string, body: unknown, header: Record<string, string> = {}): Promise<Told> {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(url, {
    method: "POST",
    headers: isForm ? header : { "content-type": "application/json", ...header },
    body: isForm ? body : JSON.stringify(body),
  });
  return { status: response.status, header: response.headers, body: (await response.json()) as Json };
}

/** A request for a key, made by hand, and the exchange of its code. */
export interface Flow {
  readonly clientId: string;
  readonly verifier: string;
  query(changes?: Record<string, string | undefined>): string;
  exchange(code: string, changes?: Record<string, string | undefined>): Promise<Told>;
}

export async function aFlow(url: string, redirect = BACK): Promise<Flow> {
  const { body, status } = await post(`${url}/register`, { client_name: "Flow", redirect_uris: [redirect] });
  if (status !== 201) throw new Error(`register: ${status} ${JSON.stringify(body)}`);
  return flowOf(url, String(body.client_id), redirect);
}

export function flowOf(url: string, clientId: string, redirect = BACK): Flow {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const written = (values: Record<string, string | undefined>) =>
    new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return {
    clientId,
    verifier,
    query: (changes = {}) =>
      written({
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirect,
        state: "xyz",
        code_challenge: challenge,
        code_challenge_method: "S256",
        resource: RESOURCE,
        ...changes,
      }).toString(),
    exchange: (code, changes = {}) =>
      post(
        `${url}/token`,
        written({
          grant_type: "authorization_code",
          client_id: clientId,
          redirect_uri: redirect,
          code,
          code_verifier: verifier,
          resource: RESOURCE,
          ...changes,
        }),
      ),
  };
}
