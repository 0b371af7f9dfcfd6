import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { invalid } from "../../errors.js";
import type { GrantSecret, GrantSecrets } from "./grants.js";

const NAME_CHARS_MAX = 64;
const REDIRECTS_MAX = 10;
/** Maximum size of all addresses of a client together, which are a part of its id. */
const REDIRECTS_BYTES_MAX = 2_000;

/** Characters that are not seen, or change how others are read: a name must not look like another one. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;

/** An application that asks for keys, as it describes itself. */
export interface OAuthClient {
  readonly id: string;
  /** The name that it gives itself, which nobody has checked; empty if it gives none. */
  readonly name: string;
  /** Addresses that its codes may be sent to. */
  readonly redirectUris: readonly string[];
  /** Host that its metadata document came from; absent for a client that registered itself. */
  readonly host?: string;
}

/**
 * Reads what a client says of itself (RFC 7591): its name and its addresses. All else is ignored.
 *
 * @throws MemoryError `invalid_argument`, with the field.
 */
export function parseClient(metadata: unknown): Omit<OAuthClient, "id"> {
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw invalid("body", "is not a JSON object");
  }
  const { client_name, redirect_uris } = metadata as Record<string, unknown>;
  return { name: parseClientName(client_name), redirectUris: parseRedirects(redirect_uris) };
}

function parseClientName(name: unknown): string {
  if (name === undefined) return "";
  if (typeof name !== "string") throw invalid("client_name", "is not a text");
  return [...name.toWellFormed().normalize("NFKC").replace(UNSEEN, "").trim().replace(/\s+/g, " ")]
    .slice(0, NAME_CHARS_MAX)
    .join("");
}

function parseRedirects(uris: unknown): readonly string[] {
  if (!Array.isArray(uris) || uris.length === 0) throw invalid("redirect_uris", "is not a list of addresses");
  if (uris.length > REDIRECTS_MAX) throw invalid("redirect_uris", `has more than ${REDIRECTS_MAX} addresses`);
  for (const uri of uris) {
    const wrong = whyNoRedirect(uri);
    if (wrong !== undefined) throw invalid("redirect_uris", `holds an address that ${wrong}`);
  }
  if (uris.join("").length > REDIRECTS_BYTES_MAX) {
    throw invalid("redirect_uris", `is longer than ${REDIRECTS_BYTES_MAX} characters in all`);
  }
  return uris;
}

/** Maximum size of an address that codes are sent to. */
const REDIRECT_BYTES_MAX = 512;

/** Address of a program on the user's own machine. Its port is free (RFC 8252, 7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

/** Editors whose addresses have a scheme without a dot, against RFC 8252, 7.1. */
const EDITORS = new Set(["cursor", "vscode", "vscode-insiders", "windsurf"]);

/**
 * Returns what is wrong with an address that codes are to be sent to, or undefined if nothing is. It must be of HTTPS, of
 * this machine, or of an application's own scheme: `javascript:` and the like would run in the portal.
 */
function whyNoRedirect(uri: unknown): string | undefined {
  if (typeof uri !== "string") return "is not a text";
  if (uri.length > REDIRECT_BYTES_MAX) return `is longer than ${REDIRECT_BYTES_MAX} characters`;
  // What a browser reads differently than it is written could lead elsewhere than it is shown.
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri)) return "has characters that no address has";
  if (uri.includes("#")) return "has a fragment";
  if (!URL.canParse(uri)) return "is not an absolute address";
  const { protocol, username, password, host } = new URL(uri);
  if (username !== "" || password !== "") return "has a user name";
  if (protocol === "https:") return host !== "" && uri.startsWith(`https://`) ? undefined : "names no host";
  if (protocol === "http:") return LOOPBACK.test(uri) ? undefined : "is not of HTTPS, nor of this machine";
  const scheme = protocol.slice(0, -1);
  if (!uri.startsWith(`${scheme}:/`)) return "is not an address of an application";
  return scheme.includes(".") || EDITORS.has(scheme)
    ? undefined
    : "has a scheme that is neither https nor an application's own, such as com.example.app";
}

/** True if an address is one that the client has registered: the same, but for the port on this machine. */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (whyNoRedirect(uri) !== undefined) return false;
  return registered.some((each) => each === uri || (LOOPBACK.test(uri) && bare(each) === bare(uri)));
}

function bare(uri: string): string {
  return uri.replace(LOOPBACK, "$1");
}

/** Names where an address leads, for people: a host, this device, or the scheme of an application. */
export function destinationOf(uri: string): { readonly host: string; readonly isLocal: boolean } {
  const { protocol, host } = new URL(uri);
  if (protocol === "https:") return { host, isLocal: false };
  return { host: protocol === "http:" ? host : protocol.slice(0, -1), isLocal: true };
}

const PREFIX = "rcc_";
const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
/** Maximum length of an id; more was never given out. */
const ID_CHARS_MAX = 4_096;

/**
 * Opens the ids of clients that register themselves. An id is what the client said, signed: nothing is kept, so
 * that nobody can fill a database by registering, and every replica knows every client.
 */
export function openClientIds(secrets: GrantSecrets) {
  let found: Promise<GrantSecret> | undefined;
  const secret = async () => {
    // The one that is kept, or this one, which is kept then.
    found ??= secrets.findOrInsert({
      id: "clients",
      secret: randomBytes(SECRET_BYTES).toString("base64url"),
    });
    const { secret } = await found.catch((error) => {
      found = undefined;
      throw error;
    });
    return secret;
  };
  return {
    issue: async ({ name, redirectUris }: Omit<OAuthClient, "id">) => {
      // Makes ids of two that say the same differ.
      const nonce = randomBytes(NONCE_BYTES).toString("base64url");
      const said = Buffer.from(JSON.stringify([name, redirectUris, nonce])).toString("base64url");
      return `${PREFIX}${said}.${sign(said, await secret())}`;
    },
    read: async (id: string): Promise<OAuthClient | undefined> => {
      if (!id.startsWith(PREFIX) || id.length > ID_CHARS_MAX) return undefined;
      const [said = "", signature = "", ...rest] = id.slice(PREFIX.length).split(".");
      if (rest.length > 0 || !isSame(signature, sign(said, await secret()))) return undefined;
      const [name, redirectUris] = JSON.parse(Buffer.from(said, "base64url").toString());
      return { id, name, redirectUris };
    },
  };
}

function sign(said: string, secret: string): string {
  return createHmac("sha256", secret).update(said).digest("base64url");
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
