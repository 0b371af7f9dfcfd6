import type { KeyAccess } from "../key.js";

/** Consent of an account's owner, which an application exchanges for a key by a code. */
export interface Grant {
  /** SHA-256 of the code, in hex. */
  readonly codeHash: string;
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
}

/** A grant, and what became of it. */
export interface StoredGrant extends Grant {
  /** Id of the key that the code was exchanged for; absent before. */
  readonly keyId?: string;
  /** True if the code came again after that. */
  readonly replayed?: boolean;
}

/**
 * The port to grants. Every adapter passes `test/contract/grants.ts`. A grant whose `keptUntilMs` has passed counts
 * as missing.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer.
 */
export interface Grants {
  /** Returns the secret that signs the ids of clients: the one that is kept, else the given one, which is kept then. */
  secret(fresh: string): Promise<string>;
  add(grant: Grant): Promise<void>;
  find(codeHash: string): Promise<StoredGrant | undefined>;
  /** Uses a code for a key in one atomic step, unless it is used or expired; true if it did. */
  take(request: { codeHash: string; keyId: string }): Promise<boolean>;
  /** Records that a used code came again; returns the grant as it is then. */
  markReplayed(codeHash: string): Promise<StoredGrant | undefined>;
  removeOf(accountId: string): Promise<void>;
}
