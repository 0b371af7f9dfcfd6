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
}

/** A grant, and what became of it. */
export interface StoredGrant extends Grant {
  /** Id of the key that the code was exchanged for; absent before. */
  readonly keyId?: string;
  /** True if the code came again after that. */
  readonly replayed?: boolean;
}

export type Grants = ReturnType<typeof grantsIn>;

/**
 * Opens the grants in a database's records. A grant whose `keptUntilMs` has passed counts as missing.
 *
 * All methods throw MemoryError `unavailable` when the database cannot answer.
 */
export function grantsIn(
  grants: Records<StoredGrant>,
  secrets: Records<{ readonly id: string; readonly secret: string }>,
) {
  const find = async (id: string): Promise<StoredGrant | undefined> => {
    const found = await grants.find(id);
    return found === undefined || found.keptUntilMs <= Date.now() ? undefined : found;
  };
  return {
    find,
    /** Returns the secret that signs the ids of clients: the one that is kept, else the given one, which is kept then. */
    secret: async (fresh: string): Promise<string> =>
      (await secrets.findOrInsert({ id: "clients", secret: fresh })).secret,
    add: async (grant: Grant): Promise<void> => {
      await grants.findOrInsert(grant, Date.now());
    },
    /** Uses a code for a key in one atomic step, unless it is used or expired; true if it did. */
    take: async ({ id, keyId }: { id: string; keyId: string }): Promise<boolean> => {
      const grant = await find(id);
      if (grant === undefined || grant.expiresAtMs <= Date.now()) return false;
      return grants.update({ id, keyId: undefined }, { keyId });
    },
    /** Records that a used code came again; returns the grant as it is then. */
    markReplayed: async (id: string): Promise<StoredGrant | undefined> => {
      const grant = await find(id);
      if (grant?.keyId === undefined) return grant;
      await grants.update({ id }, { replayed: true });
      return { ...grant, replayed: true };
    },
    removeOf: (accountId: string): Promise<void> => grants.remove({ accountId }),
  };
}
