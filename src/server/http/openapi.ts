import type { FastifyInstance } from "fastify";
import { openapi } from "../../../gen/openapi.js";
import { addFile } from "../portal/portal.js";
import { fileOf } from "../portal/portal-files.js";

/** Text that tells a language model how to use the service; a test or the contract holds every line. */
const LLMS_TXT = `# recalld

> A semantic memory service: store short texts in a namespace, recall by meaning the ones nearest to a question. JSON over HTTP; Connect, gRPC and gRPC-Web on the same port.

1. POST /signup with {} returns {"api_key": "rcl_…"}: shown once, works at once. No key is needed for this.
2. Send it with every other call: "Authorization: Bearer rcl_…", and "Content-Type: application/json".
3. POST /store {"text", "namespace", "metadata"?} returns {"id", "namespace", "tokens", "created_at"}.
   POST /store/batch {"namespace", "memories": [{"text", "metadata"?}]} stores up to 256 at once.
4. POST /recall {"query", "namespace", "top_k"? (1 to 20, 5 when left out)} returns {"results": [{"id", "text", "score", "metadata", "created_at"}], "namespace", "query_tokens"}. The score is a cosine from 0 to 1; above "strong_score" of the model, 0.80 of the bundled one, is a strong match. No result is dropped for a low score. With "mode": "HYBRID" the query's words count too, which finds names, numbers and codes.
5. GET, PATCH or DELETE /namespaces/{namespace}/memories/{id}, GET /namespaces/{namespace}/memories?order=OLDEST_FIRST, GET /namespaces, and DELETE /namespaces/{namespace}?force=true.

The bundled model reads English. GET /account says which model a server has, which "languages" it reads, and what your key may do.

A namespace comes into being with its first memory; one that nobody stored to has no results. Field names are snake_case, and unknown fields are errors. Errors are {"code", "message", "details"}: 400 says which field to correct, 401 the key, 403 what the key may not do, 429 with the reason QUOTA_EXHAUSTED that the plan is used up, 429 or 503 with Retry-After when to try again. A store with the header Idempotency-Key may be repeated safely.

## Reference

- [OpenAPI 3.1](openapi.json): every path, field, limit, example and error
- [Guides](docs/): filters, retries, errors, clients, MCP, operation
`;

/** Serves the reference for programs, which the portal's `#/reference` is made from. */
export function addReference(app: FastifyInstance): void {
  addFile(app, fileOf("/openapi.json", Buffer.from(JSON.stringify(openapi))));
  addFile(app, fileOf("/llms.txt", Buffer.from(LLMS_TXT)));
}
