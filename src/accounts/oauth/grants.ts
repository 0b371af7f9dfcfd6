import type { Records } from "../../memory/ports/records.js";
import type { KeyAccess } from "../key.js";

/** Consent of an account's owner, which an application exchanges for a key by a code. */
export interface Grant {
  /** SHA-256 of the code, in hex. */
  readonly id: string;
  readonly accountId: string;
  readonly clientId: string;
  /** Address that the code was sent to. */
  readonly redirectUri: string;
  /** PKCE challenge: SHA-256 of the verifier, in base64url. */
  readonly challenge: string;
  /** Resource that the key is for. */
  readonly resource: string;
  /** Application as the key's owner will know it. */
  readonly client: string;
  readonly keyName: string;
  readonly access: KeyAccess;
  readonly namespace?: string;
  readonly keyTtlMs: number;
  /** Time from which the code is refused. */
  readonly expiresAtMs: number;
  /** Time until which it is known that the code was used. */
  readonly keptUntilMs: number;
  /** Id of the key that the code was exchanged for; absent before. */
  readonly keyId?: string;
  /** True if the code came again after that. */
  readonly replayed?: boolean;
}

/** The port to grants, as records by the hashes of their codes. Every adapter passes `test/contract/grants.ts`. */
export type Grants = Pick<Records<Grant>, "find" | "findOrInsert" | "update" | "remove">;

/** Secret that signs the ids of clients; there is one. */
export interface GrantSecret {
  readonly id: string;
  readonly secret: string;
}

export type GrantSecrets = Pick<Records<GrantSecret>, "findOrInsert">;
