import type { DescMethod } from "@bufbuild/protobuf";
import { PLAIN_PATHS } from "../../src/server/http/plain-paths.js";
import { RESOURCE_PATHS, type ResourcePath } from "../../src/server/http/resource-paths.js";
import { STREAM_PATHS, type StreamPath } from "../../src/server/http/stream-paths.js";
import { commentOf, packageVersion, readServices, rpcPath } from "./contract.js";
import { ERROR_SCHEMA, FAILURES, FailureResponses, REPEATABLE, WITHOUT_KEY } from "./errors.js";
import { EXAMPLES } from "./examples.js";
import { fieldSchema, isRequired, orNull, refTo, type Schema, schemasOf } from "./schemas.js";

const DESCRIPTION = `Stores short texts in namespaces and recalls, by meaning, the ones nearest to a question.

Every call but sign-up needs an API key, as \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. JSON is snake_case, in UTF-8; fields at their defaults are there; unknown fields are errors, and so are keys that come twice. The paths under \`/recalld.v1.\` are the Connect protocol's, with JSON bodies; gRPC and gRPC-Web are served at the same paths and on the same port.`;

const REQUEST_ID = { description: "The call's id, also in the log.", schema: { type: "string" } };

const RATE_LIMIT = {
  "RateLimit-Policy": {
    description:
      "The rate and the concurrency that the key's plan allows it, if any, as draft-ietf-httpapi-ratelimit-headers-10 has them.",
    schema: { type: "string" },
    example: '"rate";q=40;w=2, "concurrency";q=8;qu="concurrent-requests"',
  },
  RateLimit: {
    description: "What is left of them, at the process that answered.",
    schema: { type: "string" },
    example: '"rate";r=37;t=1, "concurrency";r=6',
  },
};

const IDEMPOTENT_REPLAYED = {
  description:
    "`true` when an earlier call with this Idempotency-Key was answered, and this is its answer; else absent.",
  schema: { type: "string", const: "true" },
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  description: "Calls with the same key and the same request store once within 24 hours.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

/** Where an operation stands: how it is called, and the failures that the document shares. */
interface Context {
  readonly on: "plain" | "rpc";
  readonly failures: FailureResponses;
}

/** gen/openapi.ts: the document as TypeScript, so that it is compiled and shipped like all of gen/. */
export function openapiModule(): string {
  const json = JSON.stringify(openapiDocument(), null, 2);
  return `// Generated from proto/ by scripts/generate-openapi.ts: \`npm run generate\`.\n\nexport const openapi: Record<string, unknown> = ${json};\n`;
}

/** The reference as an OpenAPI 3.1 document. */
export function openapiDocument(): Schema {
  const services = readServices();
  const methods = services.flatMap((service) => service.methods);
  const failures = new FailureResponses();
  const paths = pathsOf(methods, failures);
  const messages = methods.filter(isUnary).flatMap(({ input, output }) => [input, output]);
  return {
    openapi: "3.1.0",
    info: {
      title: "recalld",
      version: packageVersion(),
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // Relative to where this document is: it holds under any host and path.
    servers: [{ url: "." }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: services.map((service) => ({ name: service.name, description: commentOf(service) })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The API key, `rcl_…`." },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The same key." },
      },
      schemas: { ...schemasOf(messages), Error: ERROR_SCHEMA },
      responses: failures.all,
      headers: { "X-Request-ID": REQUEST_ID, ...RATE_LIMIT, "Idempotent-Replayed": IDEMPOTENT_REPLAYED },
    },
    "x-errors": FAILURES,
  };
}

/** The plain paths first: they are what most callers want. */
function pathsOf(methods: readonly DescMethod[], failures: FailureResponses): Record<string, Schema> {
  const paths: Record<string, Schema> = {};
  for (const method of methods) {
    const plain = (PLAIN_PATHS as Record<string, string>)[rpcPath(method)];
    if (plain !== undefined) paths[plain] = { post: posted(method, { on: "plain", failures }) };
  }
  for (const resource of RESOURCE_PATHS) {
    const method = methods.find((each) => rpcPath(each) === resource.rpc) as DescMethod;
    const url = resource.url.replace(/:(\w+)/g, "{$1}");
    paths[url] = {
      ...paths[url],
      [String(resource.method).toLowerCase()]: byResource(method, { resource, failures }),
    };
  }
  for (const stream of STREAM_PATHS) {
    const method = methods.find((each) => rpcPath(each) === stream.rpc) as DescMethod;
    paths[stream.url.replace(/:(\w+)/g, "{$1}")] = { get: byStream(method, { stream, failures }) };
  }
  // Streams have no JSON body there: the messages of Connect's streams are in envelopes.
  for (const method of methods.filter(isUnary)) {
    paths[rpcPath(method)] = { post: posted(method, { on: "rpc", failures }) };
  }
  return { ...paths, ...PROBES };
}

function posted(method: DescMethod, { on, failures }: Context): Schema {
  const content = { schema: refTo(method.input.name), example: EXAMPLES[method.name]?.request };
  return {
    ...common(method, { on, failures }),
    ...(isRepeatable(method) && { parameters: [IDEMPOTENCY_KEY] }),
    requestBody: { required: true, content: { "application/json": content } },
  };
}

/** Tells whether an Idempotency-Key makes a second call harmless. */
function isRepeatable({ name }: DescMethod): boolean {
  return REPEATABLE.includes(name);
}

function byResource(
  method: DescMethod,
  { resource: { url, method: verb }, failures }: { resource: ResourcePath; failures: FailureResponses },
): Schema {
  const isPatch = verb === "PATCH";
  const fields = method.input.fields.filter(({ name }) => !isPatch || url.includes(`:${name}`));
  const parameters: Schema[] = fields.map((field) => {
    const { description, ...schema } = fieldSchema(field);
    const inPath = url.includes(`:${field.name}`);
    const example = EXAMPLES[method.name]?.request[field.name];
    const required = inPath || isRequired(field);
    return { name: field.name, in: inPath ? "path" : "query", required, description, schema, example };
  });
  const { responses, ...operation } = common(method, { on: "plain", failures });
  if (isPatch) {
    parameters.push(IDEMPOTENCY_KEY);
    return {
      ...operation,
      parameters,
      requestBody: patchOf(method, url),
      responses: withoutWrongMethod(responses),
    };
  }
  // It takes no body, and a method that is not served there is a path that is not there.
  const { 405: _, 413: __, 415: ___, ...possible } = responses as Record<string, Schema>;
  return { ...operation, parameters, responses: possible };
}

/** A method that is not served there is a path that is not there. */
function withoutWrongMethod(responses: unknown): Schema {
  const { 405: _, ...possible } = responses as Record<string, Schema>;
  return possible;
}

/** The body of a merge patch: the fields of the request that are neither in the path nor a mask. */
function patchOf(method: DescMethod, url: string): Schema {
  const fields = method.input.fields.filter(
    ({ name }) => !url.includes(`:${name}`) && name !== "update_mask",
  );
  const properties = Object.fromEntries(fields.map((field) => [field.name, orNull(fieldSchema(field))]));
  const schema = { type: "object", properties, additionalProperties: false };
  const example = { metadata: { turn: 8, source: null } };
  const types = ["application/json", "application/merge-patch+json"];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, { schema, example }])) };
}

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  description: "The same as `position`, and wins over it: browsers send it when they connect again.",
  schema: { type: "string" },
};

function byStream(
  method: DescMethod,
  { stream, failures }: { stream: StreamPath; failures: FailureResponses },
): Schema {
  const resource = { method: "GET", url: stream.url, rpc: stream.rpc } as const;
  const { parameters, responses, ...operation } = byResource(method, { resource, failures });
  const { type } = stream.form;
  const content = { [type]: { schema: { type: "string" }, example: EXAMPLES[method.name]?.response } };
  const done = { description: "A stream.", headers: headersOf(method), content };
  const isEvents = type === "text/event-stream";
  return {
    ...operation,
    parameters: [...(parameters as Schema[]), ...(isEvents ? [LAST_EVENT_ID] : [])],
    responses: { ...(responses as Schema), 200: done },
  };
}

function isUnary({ methodKind }: DescMethod): boolean {
  return methodKind === "unary";
}

function common(method: DescMethod, { on, failures }: Context): Schema {
  const [summary = "", ...rest] = commentOf(method).split(/(?<=\.)\s+/);
  const plainName = method.name.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  const example = EXAMPLES[method.name]?.response;
  return {
    operationId: on === "plain" ? plainName : `${method.parent.name}_${method.name}`,
    tags: [method.parent.name],
    summary: summary.replace(/\.$/, ""),
    ...(rest.length > 0 && { description: commentOf(method).slice(summary.length).trim() }),
    ...(WITHOUT_KEY.includes(method.name) && { security: [] }),
    responses: {
      200: {
        description: "It is done.",
        headers: headersOf(method),
        content: { "application/json": { schema: refTo(method.output.name), example } },
      },
      ...failures.of(method.name, on),
    },
  };
}

function headersOf(method: DescMethod): Schema {
  const names = ["X-Request-ID", ...(WITHOUT_KEY.includes(method.name) ? [] : Object.keys(RATE_LIMIT))];
  if (isRepeatable(method)) names.push("Idempotent-Replayed");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const status = (value: string) => ({
  description: value,
  content: {
    "application/json": {
      schema: { type: "object", required: ["status"], properties: { status: { type: "string" } } },
      example: { status: value },
    },
  },
});

const PROBES: Record<string, Schema> = {
  "/livez": {
    get: {
      operationId: "livez",
      summary: "Whether the process runs",
      security: [],
      responses: { 200: status("ok") },
    },
  },
  "/readyz": {
    get: {
      operationId: "readyz",
      summary: "Whether calls can be answered now",
      security: [],
      responses: { 200: status("ready"), 503: status("not ready") },
    },
  },
};
