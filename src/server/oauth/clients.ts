import { LRUCache } from "lru-cache";
import { type ClientIds, type OAuthClient, openClientIds, parseClient } from "../../accounts/oauth/client.js";
import type { Grants } from "../../accounts/oauth/grants.js";
import { Share } from "../../concurrency/share.js";
import { invalid } from "../../errors.js";
import { fetchDocument } from "./fetch-document.js";

/** Finds the client whose id is the address of a document about it, for an account. */
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

/** Documents that are remembered, and for how long. */
const DOCUMENTS_MAX = 500;
const DOCUMENT_TTL_MS = 300_000;
/** Documents that are fetched at the same time. */
export const DOCUMENT_FETCHES_MAX = 16;

export function documentFetches(): Share {
  const what = "documents of clients to fetch";
  return new Share({ total: DOCUMENT_FETCHES_MAX, what, reason: "RATE_LIMITED" });
}

/**
 * Opens the documents of clients that describe themselves at their id (OAuth Client ID Metadata Document). One that
 * cannot be fetched is not remembered.
 */
export function openDocuments(
  fetch: (url: string) => Promise<unknown> = fetchDocument,
  fetches = documentFetches(),
): FindDocument {
  const known = new LRUCache<string, OAuthClient>({ max: DOCUMENTS_MAX, ttl: DOCUMENT_TTL_MS });
  return async (url, accountId) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    fetches.take(accountId);
    try {
      const client = clientIn(await fetch(url), url);
      known.set(url, client);
      return client;
    } finally {
      fetches.give(accountId);
    }
  };
}

/** Reads a document. Another client's must not be shown under this address, so it names its own. */
function clientIn(document: unknown, url: string): OAuthClient {
  const { name, redirectUris } = parseClient(document);
  const { client_id, token_endpoint_auth_method: method = "none" } = document as Record<string, unknown>;
  if (client_id !== url) throw invalid("client_id", "is the address of a document about another client");
  if (method !== "none")
    throw invalid("client_id", "is of a client that has a secret; only public ones are served");
  return { id: url, name, redirectUris, host: new URL(url).host };
}
