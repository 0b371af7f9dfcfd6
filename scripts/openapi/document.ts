import type { DescField, DescMethod } from "@bufbuild/protobuf";
import { REST_ROUTES, type RestRoute, type StreamForm } from "../../src/server/rest/routes.js";
import { commentOf, packageVersion, readServices, rpcPath } from "./contract.js";
import { ERROR_SCHEMAS, FAILURES, FailureResponses, REPEATABLE, WITHOUT_KEY } from "./errors.js";
import { EXAMPLES } from "./examples.js";
import { fieldSchema, isRequired, propertiesOf, refTo, type Schema, schemasOf } from "./schemas.js";

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
  readonly on: "rest" | "rpc";
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
      schemas: { ...schemasOf(messages), [PATCH]: patchSchema(methods), ...ERROR_SCHEMAS },
      responses: failures.all,
      headers: { "X-Request-ID": REQUEST_ID, ...RATE_LIMIT, "Idempotent-Replayed": IDEMPOTENT_REPLAYED },
    },
    "x-errors": FAILURES,
  };
}

/** The paths of REST first: they are what most callers want. */
function pathsOf(methods: readonly DescMethod[], failures: FailureResponses): Record<string, Schema> {
  const paths: Record<string, Schema> = {};
  const add = ({ url, method: verb }: RestRoute, operation: Schema) => {
    const path = url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [String(verb).toLowerCase()]: operation };
  };
  const methodOf = ({ rpc }: RestRoute) => methods.find((each) => rpcPath(each) === `/${rpc}`) as DescMethod;
  for (const route of REST_ROUTES) {
    const { form } = route;
    const method = methodOf(route);
    const operation = byRoute(method, { route, failures });
    add(route, form === undefined ? operation : asStream(operation, method, form));
  }
  // Streams have no JSON body there: the messages of Connect's streams are in envelopes.
  for (const method of methods.filter(isUnary)) {
    const content = { schema: refTo(method.input.name), example: EXAMPLES[method.name]?.request };
    paths[rpcPath(method)] = {
      post: {
        ...common(method, { on: "rpc", failures }),
        ...(isRepeatable(method) && { parameters: [IDEMPOTENCY_KEY] }),
        requestBody: { required: true, content: { "application/json": content } },
      },
    };
  }
  return { ...paths, ...PROBES };
}

/** True if an Idempotency-Key makes a second call harmless. */
function isRepeatable({ name }: DescMethod): boolean {
  return REPEATABLE.includes(name);
}

/**
 * An object in a query is its JSON. Described as an object, clients would send each of its keys as a parameter; with a
 * `contentMediaType`, some would send it as a file.
 */
function asJsonText({ description }: Schema): Schema {
  return { type: "string", description: `${description} It is JSON in a string.` };
}

/** A call at its path of REST: fields in path and query, or all that the path does not name in the body. */
function byRoute(
  method: DescMethod,
  { route, failures }: { route: RestRoute; failures: FailureResponses },
): Schema {
  const hasBody = route.method === "POST" || route.method === "PATCH";
  const isInPath = ({ name }: DescField) => route.url.includes(`:${name}`);
  const parameters: Schema[] = method.input.fields
    .filter((field) => !hasBody || isInPath(field))
    .map((field) => {
      const described = fieldSchema(field);
      const location = isInPath(field) ? "path" : "query";
      const required = location === "path" || isRequired(field);
      const example = EXAMPLES[method.name]?.request[field.name];
      const { description, ...schema } = described.type === "object" ? asJsonText(described) : described;
      return { name: field.name, in: location, required, description, schema, example };
    });
  if (isRepeatable(method)) parameters.push(IDEMPOTENCY_KEY);
  const { responses, ...operation } = common(method, { on: "rest", failures });
  return {
    ...operation,
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && { requestBody: bodyOf(method, { route, isInPath }) }),
    responses: possible(responses as Record<string, Schema>, hasBody),
  };
}

/** Failures of a call at its path of REST. Another method there is another call, or none. */
function possible({ 405: _, ...responses }: Record<string, Schema>, hasBody: boolean): Schema {
  if (hasBody) return responses;
  const { 413: __, 415: ___, ...others } = responses;
  return others;
}

/** The body of a call of REST: the whole request, or the fields of it that are not in the path. */
function bodyOf(
  method: DescMethod,
  { route, isInPath }: { route: RestRoute; isInPath: (field: DescField) => boolean },
): Schema {
  const isPatch = route.method === "PATCH";
  const example = Object.entries(EXAMPLES[method.name]?.request ?? {});
  const fields = method.input.fields.filter((field) => !isInPath(field));
  const isWhole = fields.length === method.input.fields.length;
  const named = isPatch ? PATCH : method.input.name;
  const content = {
    schema: isWhole || isPatch ? refTo(named) : propertiesOf(method.input, fields),
    example: isPatch
      ? { metadata: { turn: 8, source: null } }
      : Object.fromEntries(example.filter(([name]) => fields.some((field) => field.name === name))),
  };
  const types = ["application/json", ...(isPatch ? ["application/merge-patch+json"] : [])];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

/**
 * Name of the body of the one path that takes a patch. As it has two types, generators of clients would make two of
 * what stands in place.
 */
const PATCH = "UpdateMemoryPatch";

function patchSchema(methods: readonly DescMethod[]): Schema {
  const { input } = methods.find(({ name }) => name === "UpdateMemory") as DescMethod;
  const elsewhere = ["namespace", "id", "update_mask"];
  return propertiesOf(
    input,
    input.fields.filter(({ name }) => !elsewhere.includes(name)),
  );
}

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  description: "The same as `position`, and wins over it: browsers send it when they connect again.",
  schema: { type: "string" },
};

const STREAM_TYPES: Readonly<Record<StreamForm, string>> = {
  events: "text/event-stream",
  lines: "application/x-ndjson",
};

function asStream(
  { parameters, responses, ...operation }: Schema,
  method: DescMethod,
  form: StreamForm,
): Schema {
  const content = {
    [STREAM_TYPES[form]]: { schema: { type: "string" }, example: EXAMPLES[method.name]?.response },
  };
  const done = { description: "A stream.", headers: headersOf(method), content };
  const isEvents = form === "events";
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
    operationId: on === "rest" ? plainName : `${method.parent.name}_${method.name}`,
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
      ...failures.responsesOf(method.name, on),
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
      summary: "Whether the process can go on",
      security: [],
      responses: { 200: status("ok"), 503: status("not ok") },
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
