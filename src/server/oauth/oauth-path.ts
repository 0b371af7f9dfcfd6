import type { Endpoint } from "../rest/serve.js";

/** Maximum size of a request: addresses and a name, or a code and its verifier. */
export const BODY_BYTES_MAX = 16_384;

/** Path of OAuth, which takes a body. */
export type OAuthPath = Omit<Endpoint, "method">;
