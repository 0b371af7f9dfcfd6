export const SCOPES = { read: "read", write: "write" } as const;

const RESOURCE_PATH = "/.well-known/oauth-protected-resource";
export const WELL_KNOWN = {
  /** Paths of the resource's metadata: its own (RFC 9728, 3.1), and the one that earlier clients ask for. */
  resource: [`${RESOURCE_PATH}/mcp`, RESOURCE_PATH],
  server: "/.well-known/oauth-authorization-server",
} as const;

/** Returns the resource that keys are for, by the server's public address. */
export function resourceOf(issuer: string): string {
  return `${issuer}/mcp`;
}

/** Describes the resource (RFC 9728). */
export function resourceMetadata(issuer: string) {
  return {
    resource: resourceOf(issuer),
    authorization_servers: [issuer],
    scopes_supported: Object.values(SCOPES),
    bearer_methods_supported: ["header"],
    resource_name: "recalld",
    resource_documentation: `${issuer}/docs/mcp`,
  };
}

/** Describes the authorization server (RFC 8414). */
export function serverMetadata(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    scopes_supported: Object.values(SCOPES),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${issuer}/docs/mcp#oauth`,
  };
}

/** Makes the `WWW-Authenticate` that tells a client where to ask for a key (RFC 9728, 5.1). */
export function challengeOf(issuer: string, { hasKey }: { hasKey: boolean }): string {
  const error = hasKey ? 'error="invalid_token", ' : "";
  return `Bearer ${error}resource_metadata="${issuer}${WELL_KNOWN.resource[0]}"`;
}
