import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { OAuthClient } from "./client.js";
import type { Grants } from "./grants.js";

const PREFIX = "rcc_";
const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
/** Maximum length of an id; more was never given out. */
const ID_CHARS_MAX = 4_096;

/** Gives out ids of clients, and reads them. */
export interface ClientIds {
  issue(client: Omit<OAuthClient, "id">): Promise<string>;
  read(id: string): Promise<OAuthClient | undefined>;
}

/**
 * Opens the ids of clients that register themselves. An id is what the client said, signed: nothing is kept, so
 * that nobody can fill a database by registering, and every replica knows every client.
 */
export function openClientIds(grants: Pick<Grants, "secret">): ClientIds {
  let found: Promise<string> | undefined;
  const secret = async () => {
    found ??= grants.secret(randomBytes(SECRET_BYTES).toString("base64url"));
    return found.catch((error) => {
      found = undefined;
      throw error;
    });
  };
  return {
    issue: async ({ name, redirectUris }) => {
      const said = Buffer.from(JSON.stringify([name, redirectUris, nonce()])).toString("base64url");
      return `${PREFIX}${said}.${sign(said, await secret())}`;
    },
    read: async (id) => {
      if (!id.startsWith(PREFIX) || id.length > ID_CHARS_MAX) return undefined;
      const [said = "", signature = "", ...rest] = id.slice(PREFIX.length).split(".");
      if (rest.length > 0 || !isSame(signature, sign(said, await secret()))) return undefined;
      const [name, redirectUris] = JSON.parse(Buffer.from(said, "base64url").toString());
      return { id, name, redirectUris };
    },
  };
}

/** Makes ids of two that say the same differ. */
function nonce(): string {
  return randomBytes(NONCE_BYTES).toString("base64url");
}

function sign(said: string, secret: string): string {
  return createHmac("sha256", secret).update(said).digest("base64url");
}

function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
