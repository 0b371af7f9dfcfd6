import { LRUCache } from "lru-cache";
import { type OAuthClient, parseClient } from "../accounts/oauth/client.js";
import { invalid } from "../errors.js";
import { fetchDocument } from "./fetch-document.js";

/** Documents that are remembered, and for how long. */
const DOCUMENTS_MAX = 500;
const DOCUMENT_TTL_MS = 300_000;
/** Documents that are fetched at the same time, for all callers together. */
const FETCHES_MAX = 8;

/** Finds the client whose id is the address of a document about it. */
export type FindDocument = (url: string) => Promise<OAuthClient>;

/**
 * Opens the documents of clients that describe themselves at their id (OAuth Client ID Metadata Document). One that
 * cannot be fetched is not remembered.
 */
export function openDocuments(fetch: (url: string) => Promise<unknown> = fetchDocument): FindDocument {
  const known = new LRUCache<string, OAuthClient>({ max: DOCUMENTS_MAX, ttl: DOCUMENT_TTL_MS });
  let fetching = 0;
  return async (url) => {
    const found = known.get(url);
    if (found !== undefined) return found;
    if (fetching >= FETCHES_MAX)
      throw invalid("client_id", "cannot be looked at now; try again in a few seconds");
    fetching += 1;
    try {
      const client = clientIn(await fetch(url), url);
      known.set(url, client);
      return client;
    } finally {
      fetching -= 1;
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
