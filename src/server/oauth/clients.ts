import { LRUCache } from "lru-cache";
import { type OAuthClient, openClientIds, parseClient } from "../../accounts/oauth/client.js";
import type { GrantSecrets } from "../../accounts/oauth/grants.js";
import { Share } from "../../concurrency/share.js";
import { invalid } from "../../errors.js";
import { fetchDocument } from "./fetch-document.js";

/** Documents that are remembered, and for how long. */
const DOCUMENTS_MAX = 500;
const DOCUMENT_TTL_MS = 300_000;
/** Documents that are fetched at the same time. */
export const DOCUMENT_FETCHES_MAX = 16;

export type Clients = ReturnType<typeof openClients>;

/**
 * Opens both kinds of clients: those that register, and those that describe themselves in a document at their id (OAuth
 * Client ID Metadata Document). A document that cannot be fetched is not remembered.
 */
export function openClients(secrets: GrantSecrets, fetch: (url: string) => Promise<unknown> = fetchDocument) {
  const ids = openClientIds(secrets);
  const known = new LRUCache<string, OAuthClient>({ max: DOCUMENTS_MAX, ttl: DOCUMENT_TTL_MS });
  const fetches = new Share({
    total: DOCUMENT_FETCHES_MAX,
    what: "documents of clients to fetch",
    reason: "RATE_LIMITED",
  });
  const fetched = async (url: string, accountId: string) => {
    fetches.take(accountId);
    try {
      const client = clientIn(await fetch(url), url);
      known.set(url, client);
      return client;
    } finally {
      fetches.give(accountId);
    }
  };
  return {
    /** Documents that are being fetched, by account. */
    fetches,
    issue: ids.issue,
    /** Finds a client for an account. @throws MemoryError `invalid_argument` for an id of no client. */
    find: async (id: string, accountId: string): Promise<OAuthClient> => {
      if (hasDocument(id)) return known.get(id) ?? fetched(id, accountId);
      const client = await ids.read(id);
      if (client !== undefined) return client;
      throw invalid("client_id", "is not one that this server gave out; the application must register again");
    },
    /** True if an id can be a client's. Its document is not fetched: the code is bound to the id. */
    isKnown: async (id: string) => hasDocument(id) || (await ids.read(id)) !== undefined,
  };
}

function hasDocument(id: string): boolean {
  return id.startsWith("https://");
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
