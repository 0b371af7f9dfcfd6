import type { FastifyInstance } from "fastify";
import type { GrantingOptions } from "../../accounts/oauth/granting.js";
import { SignUpLimit, type SignUpLimits } from "../../accounts/sign-up-limit.js";
import type { Calls } from "../calls.js";
import { serve } from "../rest/serve.js";
import { type FindDocument, openClients } from "./clients.js";
import { consentPaths } from "./consent-paths.js";
import { resourceMetadata, serverMetadata, WELL_KNOWN } from "./metadata.js";
import { tokenPaths } from "./token-paths.js";

export interface OAuthOptions {
  readonly calls: Calls;
  /** The server's public origin, which is its name. */
  readonly issuer: string;
  readonly granting: GrantingOptions;
  readonly findDocument: FindDocument;
  /** Registrations, and consents, of one client address an hour. */
  readonly limits: SignUpLimits;
}

const OPEN = { config: { open: true } };

/** Serves OAuth 2.1, by which applications get keys of users who consent. */
export function addOAuth(app: FastifyInstance, options: OAuthOptions): void {
  const { issuer, granting } = options;
  for (const url of WELL_KNOWN.resource) app.get(url, OPEN, async () => resourceMetadata(issuer));
  app.get(WELL_KNOWN.server, OPEN, async () => serverMetadata(issuer));
  const clients = openClients({ grants: granting.grants, findDocument: options.findDocument });
  const registrations = new SignUpLimit(options.limits, { what: "registrations" });
  const consents = new SignUpLimit(options.limits, { what: "consents" });
  const paths = [
    ...consentPaths({ ...options, clients, limit: consents }),
    ...tokenPaths({ ...options, clients, limit: registrations }),
  ];
  for (const path of paths) serve(app, { ...path, method: "POST" }, options.calls);
}
