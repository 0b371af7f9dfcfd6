import { type ClientIds, type OAuthClient, openClientIds } from "../../accounts/oauth/client.js";
import type { Grants } from "../../accounts/oauth/grants.js";
import { invalid } from "../../errors.js";

/** Finds the client whose id is the address of a document about it. */
export type FindDocument = (url: string, accountId: string) => Promise<OAuthClient>;

/** Finds clients by their ids. */
export interface Clients extends Pick<ClientIds, "issue"> {
  /** Finds a client for an account. @throws MemoryError `invalid_argument` for an id of no client. */
  find(id: string, accountId: string): Promise<OAuthClient>;
  /** True if an id can be a client's. Its document is not fetched: the code is bound to the id. */
  isKnown(id: string): Promise<boolean>;
}

/** Opens both kinds of clients: those that register, and those that have a document. */
export function openClients({
  grants,
  findDocument,
}: {
  grants: Pick<Grants, "secret">;
  findDocument: FindDocument;
}): Clients {
  const ids = openClientIds(grants);
  return {
    issue: ids.issue,
    find: async (id, accountId) => {
      if (hasDocument(id)) return findDocument(id, accountId);
      const client = await ids.read(id);
      if (client !== undefined) return client;
      throw invalid("client_id", "is not one that this server gave out; the application must register again");
    },
    isKnown: async (id) => hasDocument(id) || (await ids.read(id)) !== undefined,
  };
}

function hasDocument(id: string): boolean {
  return id.startsWith("https://");
}
