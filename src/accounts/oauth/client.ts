import { invalid } from "../../errors.js";
import { whyNoRedirect } from "./redirects.js";

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
