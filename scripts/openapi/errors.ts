import type { Reason } from "../../src/errors.js";
import type { Schema } from "./schemas.js";

/** One way for a call to fail, as callers see it. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  /** A constant in the error's details that programs can branch on. */
  readonly reason?: Reason;
  readonly when: string;
  /** RPCs (by name) that it can happen to; left out, all. */
  readonly rpcs?: readonly string[];
  /** Only at the paths of REST, or only at those of RPCs. */
  readonly on?: "rest" | "rpc";
  readonly headers?: readonly ("Retry-After" | "WWW-Authenticate" | "Allow")[];
}

const STORES = ["Store", "StoreBatch"];
/** Calls that take an Idempotency-Key. */
export const REPEATABLE = [...STORES, "UpdateMemory"];
/** Calls that change memories. */
export const WRITES = [
  ...REPEATABLE,
  "UpdateMemories",
  "DeleteMemory",
  "DeleteMemories",
  "DeleteNamespace",
  "DeleteNamespaces",
];
const MANAGES = ["CreateKey", "ListKeys", "RevokeKey", "CloseAccount"];
const STREAMS = ["WatchNamespace", "ExportMemories"];
const IN_ONE = ["GetMemory", "GetMemories", "GetNamespace", "ListMemories", "CountMemories"];
const NAMESPACED = [...WRITES, "Recall", ...IN_ONE, ...STREAMS];
const METERED = [...REPEATABLE, "Recall"];
/** Calls that need the index of a namespace, some of them only with a filter. */
const INDEXED = [...METERED, "UpdateMemories", "DeleteMemories", "ListMemories", "CountMemories"];
const READS = ["Recall", ...IN_ONE, "ListNamespaces"];
const WITH_KEY = [...WRITES, ...READS, ...STREAMS, ...MANAGES, "GetAccount", "GetUsage", "ListRecentCalls"];
export const WITHOUT_KEY = ["SignUp"];

/** Every error that a call may end with. */
export const FAILURES: readonly Failure[] = [
  {
    status: 400,
    code: "invalid_argument",
    when: "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
  },
  {
    status: 400,
    code: "invalid_argument",
    reason: "SECRET_FOUND",
    rpcs: REPEATABLE,
    when: "The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "NAMESPACE_NOT_EMPTY",
    rpcs: ["DeleteNamespace"],
    when: "The namespace holds memories, and `force` is not set.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "POSITION_GONE",
    rpcs: STREAMS,
    when: "The position is of another namespace, or of one that was dropped since; or it is dropped during an export.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "LAST_KEY",
    rpcs: ["RevokeKey"],
    when: "The key is the account's last, and `force` is not set.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "KEYS_LIMIT",
    rpcs: ["CreateKey"],
    when: "The account has as many keys as it may.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "PLAN_UNKNOWN",
    rpcs: WITH_KEY,
    when: "The operator took the account's plan away, and must give it another one.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "IDEMPOTENT_MEMORY_DELETED",
    rpcs: REPEATABLE,
    when: "The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.",
  },
  {
    status: 400,
    code: "failed_precondition",
    reason: "MEMORY_SUPERSEDED",
    rpcs: ["Store", "UpdateMemory"],
    when: "The memory was superseded by another one, which `metadata.superseded_by` of the details names.",
  },
  {
    status: 401,
    code: "unauthenticated",
    headers: ["WWW-Authenticate"],
    when: "There is no key, it is mistyped, or nobody holds it (any more).",
  },
  {
    status: 403,
    code: "permission_denied",
    reason: "KEY_READ_ONLY",
    rpcs: [...WRITES, ...MANAGES],
    when: "The key may only read.",
  },
  {
    status: 403,
    code: "permission_denied",
    reason: "KEY_OTHER_NAMESPACE",
    rpcs: [...NAMESPACED, ...MANAGES],
    when: "The key is for another namespace, or for one alone.",
  },
  {
    status: 403,
    code: "permission_denied",
    reason: "KEY_OF_CLIENT",
    rpcs: MANAGES,
    when: "An application got the key by OAuth: it cannot manage the account.",
  },
  {
    status: 403,
    code: "permission_denied",
    rpcs: ["SignUp"],
    when: "Sign-up is closed here: the operator makes the accounts.",
  },
  {
    status: 404,
    code: "not_found",
    rpcs: ["GetMemory", "UpdateMemory", "DeleteMemory", "DeleteNamespace", "GetNamespace"],
    when: "The namespace has no memory with this id, or there is no such namespace.",
  },
  {
    status: 404,
    code: "not_found",
    rpcs: ["Store"],
    when: "The namespace has no memory with an id in `supersedes`.",
  },
  {
    status: 404,
    code: "not_found",
    rpcs: ["CreateKey", "RevokeKey"],
    when: "The account has no key with this id.",
  },
  {
    status: 405,
    code: "unimplemented",
    headers: ["Allow"],
    when: "The path is there, but not for this method; `Allow` says which to use.",
  },
  {
    status: 409,
    code: "already_exists",
    reason: "EXTERNAL_ID_TAKEN",
    rpcs: ["Store"],
    when: "Another memory has the external id; `metadata.id` of the details names it.",
  },
  {
    status: 409,
    code: "aborted",
    reason: "ETAG_MISMATCH",
    rpcs: ["UpdateMemory"],
    when: "The memory was changed since its etag was read; `metadata.etag` of the details is the current one.",
  },
  {
    status: 409,
    code: "already_exists",
    reason: "IDEMPOTENCY_KEY_REUSED",
    rpcs: REPEATABLE,
    when: "The Idempotency-Key was used for another request.",
  },
  {
    status: 413,
    code: "resource_exhausted",
    reason: "BODY_TOO_LARGE",
    on: "rest",
    when: "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
  },
  {
    status: 415,
    code: "invalid_argument",
    when: "The content type is not one that is served; send `Content-Type: application/json`.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "QUOTA_EXHAUSTED",
    rpcs: METERED,
    when: "All calls of the account's plan are used. Waiting does not help.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "KEY_RATE_LIMITED",
    rpcs: WITH_KEY,
    headers: ["Retry-After"],
    when: "The key makes more calls a second than its plan has. Nothing was read or charged.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "CONCURRENCY_LIMITED",
    rpcs: WITH_KEY,
    headers: ["Retry-After"],
    when: "The key has as many calls running as its plan allows. Nothing was read or charged.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "STREAMS_LIMITED",
    rpcs: STREAMS,
    headers: ["Retry-After"],
    when: "The key or its account has as many watches or exports open as it may.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "INDEX_TOO_LARGE",
    rpcs: INDEXED,
    when: "The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "ABANDONED_WORK",
    rpcs: METERED,
    headers: ["Retry-After"],
    when: "The account broke off too many calls while the model read their texts. Nothing was stored.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "BODIES_LIMITED",
    headers: ["Retry-After"],
    when: "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "RATE_LIMITED",
    rpcs: WITH_KEY,
    headers: ["Retry-After"],
    when: "Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "RATE_LIMITED",
    rpcs: ["SignUp"],
    headers: ["Retry-After"],
    when: "Too many sign-ups from this address, or altogether. `Retry-After` says when to try again.",
  },
  {
    status: 429,
    code: "resource_exhausted",
    reason: "BODY_TOO_LARGE",
    on: "rpc",
    when: "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
  },
  {
    status: 500,
    code: "internal",
    when: "A fault of ours. The server's log has it under the answer's `X-Request-ID`.",
  },
  {
    status: 503,
    code: "unavailable",
    headers: ["Retry-After"],
    when: "The database or the model is away for now, or the server is too busy or shutting down. Try again.",
  },
  {
    status: 503,
    code: "unavailable",
    reason: "BODIES_LIMITED",
    headers: ["Retry-After"],
    when: "The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
  },
  {
    status: 503,
    code: "unavailable",
    reason: "STREAMS_LIMITED",
    rpcs: STREAMS,
    headers: ["Retry-After"],
    when: "The server has as many watches or exports open as it may.",
  },
  {
    status: 503,
    code: "unavailable",
    reason: "STORAGE_NOT_WRITABLE",
    headers: ["Retry-After"],
    rpcs: [...WRITES, ...MANAGES, ...WITHOUT_KEY, "Recall"],
    when: "The database cannot write; its disk may be full. Calls that only read go on.",
  },
  {
    status: 503,
    code: "unavailable",
    reason: "MODEL_BUSY",
    rpcs: METERED,
    headers: ["Retry-After"],
    when: "The model has too much to read to be done before the call's deadline. Nothing was stored.",
  },
  {
    status: 504,
    code: "deadline_exceeded",
    when: "The call took longer than the server, or the caller's own timeout, allows.",
  },
];

/** Id and address in the examples. */
const REQUEST_ID = "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55";
const SITE = "https://memory.example.org";

const HEADERS = {
  "Retry-After": {
    description: "Seconds to wait before trying again.",
    schema: { type: "integer", minimum: 0 },
  },
  "WWW-Authenticate": { description: "Always `Bearer`.", schema: { type: "string", const: "Bearer" } },
  Allow: { description: "The methods that are served.", schema: { type: "string" } },
};

const ERROR = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string", enum: [...new Set(FAILURES.map(({ code }) => code))] },
    message: { type: "string", description: "What to fix, in plain words." },
    details: {
      type: "array",
      description: "Messages of google.rpc, as Connect writes them.",
      items: {
        type: "object",
        required: ["type", "value"],
        properties: {
          type: { type: "string", description: "Such as `google.rpc.BadRequest` or `google.rpc.ErrorInfo`." },
          value: {
            type: "string",
            // With a `contentEncoding`, clients would expect padding, which Connect leaves out.
            description: "The message in Protobuf's binary form, in base64 without padding.",
          },
          debug: {
            description: "The same as JSON: `field_violations` names fields, `reason` is a constant.",
          },
        },
      },
    },
  },
};

/** Bodies of errors, by the names of their schemas. */
export const ERROR_SCHEMAS: Record<string, Schema> = {
  Error: {
    ...ERROR,
    description: "The same on every path. gRPC and gRPC-Web say it in their own status and trailers.",
  },
  RestError: {
    ...ERROR,
    description: "An error at a path of REST: what all paths have, and what is easier to read.",
    required: [...ERROR.required, "request_id", "docs_url"],
    properties: {
      ...ERROR.properties,
      reason: { type: "string", description: "A constant to branch on, also in `details`." },
      field: { type: "string", description: "The wrong field of the request, also in `details`." },
      request_id: { type: "string", description: "The call's id, also in `X-Request-ID`." },
      docs_url: { type: "string", description: "The page about the code." },
    },
  },
};

/** Responses that several operations share, by name: each is written out once. */
export class FailureResponses {
  readonly all: Record<string, Schema> = {};

  /** The failures that an operation may end with, by HTTP status. */
  responsesOf(rpc: string, on: "rest" | "rpc"): Record<string, Schema> {
    const possible = FAILURES.filter((failure) => {
      const open = failure.code === "unauthenticated" && WITHOUT_KEY.includes(rpc);
      return !open && (failure.rpcs?.includes(rpc) ?? true) && (failure.on ?? on) === on;
    });
    const responses: Record<string, Schema> = {};
    for (const status of new Set(possible.map((failure) => failure.status))) {
      responses[status] = this.#share(
        possible.filter((failure) => failure.status === status),
        on,
      );
    }
    return responses;
  }

  #share(failures: readonly Failure[], on: "rest" | "rpc"): Schema {
    const [{ status } = { status: 0 }] = failures;
    const made = response(failures, on);
    const kind = on === "rest" ? `RestError${status}` : `Error${status}`;
    for (let n = 1; ; n++) {
      const name = n === 1 ? kind : `${kind}-${n}`;
      this.all[name] ??= made;
      if (JSON.stringify(this.all[name]) === JSON.stringify(made)) {
        return { $ref: `#/components/responses/${name}` };
      }
    }
  }
}

function response(failures: readonly Failure[], on: "rest" | "rpc"): Schema {
  const headers = failures.flatMap((failure) => failure.headers ?? []);
  const examples = failures.map(({ code, reason, when }) => [
    reason ?? code,
    {
      summary: when,
      value: {
        code,
        message: plainText(when),
        ...details(reason),
        ...(reason !== undefined && { reason }),
        request_id: REQUEST_ID,
        docs_url: `${SITE}/docs/errors#${code.replaceAll("_", "-")}`,
      },
    },
  ]);
  const schema = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
  return {
    description: failures.map(nameAndCause).join("\n\n"),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.map((name) => [name, HEADERS[name]])) }),
    content: {
      "application/json":
        on === "rpc" ? schema("Error") : { ...schema("RestError"), examples: Object.fromEntries(examples) },
    },
  };
}

function nameAndCause({ code, reason, when }: Failure): string {
  return `\`${code}\`${reason === undefined ? "" : ` (\`${reason}\`)`}: ${when}`;
}

function plainText(markdown: string): string {
  return (markdown.split(". ")[0] as string).replaceAll("`", "").replace(/\.$/, "");
}

function details(reason: string | undefined): Schema {
  if (reason === undefined) return {};
  const debug = { reason, domain: "recalld" };
  // ErrorInfo: field 1 is the reason, field 2 the domain.
  const value = Buffer.concat([bytesField(1, reason), bytesField(2, "recalld")]).toString("base64");
  return { details: [{ type: "google.rpc.ErrorInfo", value: value.replace(/=+$/, ""), debug }] };
}

function bytesField(number: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
}
