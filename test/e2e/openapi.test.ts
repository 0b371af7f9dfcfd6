import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { openapi } from "../../gen/openapi.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { openapiModule } from "../../scripts/openapi/document.js";
import { EXAMPLES } from "../../scripts/openapi/examples.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

interface Content {
  readonly "application/json": {
    schema: object;
    example?: unknown;
    examples?: Record<string, { value: unknown }>;
  };
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    schema?: object;
    content?: Content;
    example?: unknown;
  }[];
  readonly requestBody?: { content: Content };
  readonly responses: Record<string, { $ref?: string; description: string; content: Content }>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { responses: Record<string, { content: Content }> };
}

let server: TestServer;
const document = openapi as unknown as Document;
let ajv: Ajv2020;

beforeAll(async () => {
  server = await sharedServer();
  ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  for (const word of ["x-max-bytes", "components"]) ajv.addKeyword(word);
  // Protobuf's own reading and writing checks these.
  for (const format of ["int32", "uint32", "int64", "float", "double", "date-time"])
    ajv.addFormat(format, true);
  ajv.addSchema({ $id: "doc", components: document.components }, "doc");
});

const methods = [...MemoryService.methods, ...AccountService.methods].filter(
  ({ methodKind }) => methodKind === "unary",
);
const pathOf = (rpc: string) => {
  const method = methods.find(({ name }) => name === rpc);
  return `/${method?.parent.typeName}/${rpc}`;
};

function operations(): { path: string; verb: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ path, verb, operation })),
  );
}

/** Lists the problems of a value by one of the document's schemas. */
function flaws(schema: object, value: unknown): readonly unknown[] {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/'));
  const check = ajv.compile(absolute);
  return check(value) ? [] : (check.errors ?? []);
}

function contentOf({ $ref, content }: { $ref?: string; content: Content }): Content["application/json"] {
  const shared = document.components.responses[$ref?.split("/").at(-1) ?? ""];
  const [media] = Object.values(shared?.content ?? content);
  return media as Content["application/json"];
}

describe("the OpenAPI document", () => {
  it("is what the contract generates: `npm run generate` renews it", () => {
    expect(readFileSync("gen/openapi.ts", "utf8")).toBe(openapiModule());
  });

  it("has every RPC and the plain paths", () => {
    expect(document.openapi).toBe("3.1.0");
    const rpcs = methods.map(({ name }) => pathOf(name));
    const plain = ["/store", "/store/batch", "/recall", "/signup", "/livez", "/readyz"];
    const namespace = "/namespaces/{namespace}";
    const resources = [
      ...[
        "/namespaces",
        "/namespaces/delete",
        namespace,
        `${namespace}/memories`,
        `${namespace}/memories/{id}`,
      ],
      ...["get", "count", "delete", "update"].map((several) => `${namespace}/memories/${several}`),
      ...["/account", "/usage", "/calls", "/keys", "/keys/{id}"],
    ];
    const streams = ["/namespaces/{namespace}/events", "/namespaces/{namespace}/export"];
    expect(Object.keys(document.paths).sort()).toEqual([...rpcs, ...plain, ...resources, ...streams].sort());
  });

  it("names each operation once and says what it does", () => {
    const names = operations().map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { operation } of operations()) expect(operation.summary).not.toBe("");
  });

  it("refers to nothing that is not there", () => {
    const refs = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
    for (const [, path = ""] of refs) {
      const found = path
        .split("/")
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document);
      expect(found, path).toBeTypeOf("object");
    }
  });

  it("has examples that keep its own rules", () => {
    for (const { path, operation } of operations()) {
      const { requestBody, responses, parameters = [] } = operation;
      const contents = Object.values(responses).map(contentOf);
      if (requestBody !== undefined) contents.push(requestBody.content["application/json"]);
      for (const { schema, example, examples = {} } of contents) {
        const values = [example, ...Object.values(examples).map(({ value }) => value)];
        for (const value of values) if (value !== undefined) expect(flaws(schema, value), path).toEqual([]);
      }
      for (const parameter of parameters) {
        const { schema, example } = parameter.content?.["application/json"] ?? parameter;
        if (example !== undefined) expect(flaws(schema as object, example), path).toEqual([]);
      }
    }
  });

  it("has no object and no list in a query: clients would write each in their own way", () => {
    const parameters = operations().flatMap(({ operation }) => operation.parameters ?? []);
    const queried = parameters.filter((each) => each.in === "query");
    expect(queried.map(({ name }) => name)).toContain("filter");
    for (const { name, schema = {} } of queried)
      for (const value of [{}, []]) expect(flaws(schema, value), name).not.toEqual([]);
  });

  it("has nothing that generators of clients make a nameless type, a file or bytes of, or cannot read", () => {
    const found: string[] = [];
    const visit = (at: string, value: unknown): void => {
      for (const [word, part] of typeof value === "object" && value !== null ? Object.entries(value) : []) {
        const isRefOrNull =
          word === "anyOf" && part.length === 2 && "$ref" in part[0] && part[1].type === "null";
        const isType = /^(allOf|anyOf|oneOf)$/.test(word) && !isRefOrNull;
        const isEncoded = word === "contentEncoding" || word === "contentMediaType";
        const isUntyped = word === "schema" && !("type" in part || "$ref" in part || "anyOf" in part);
        if (isType || isEncoded || isUntyped) found.push(`${at}/${word}`);
        // What is refused is no type of its own.
        if (word !== "not") visit(`${at}/${word}`, part);
      }
    };
    visit("#", document);
    expect(found).toEqual([]);
  });

  it("says the limits of the contract", () => {
    const { StoreRequest, RecallRequest } = (
      document.components as never as { schemas: Record<string, object> }
    ).schemas;
    expect(StoreRequest).toMatchObject({
      required: ["text", "namespace"],
      additionalProperties: false,
      properties: {
        text: { minLength: 1, maxLength: 65_536, description: expect.stringMatching(/^What to remember/) },
      },
    });
    expect(RecallRequest).toMatchObject({ properties: { top_k: { minimum: 1 } } });
  });
});

describe("the server agrees with the document", () => {
  /** True if a request obeys the document's rules. */
  const keepsRules = (message: string, value: unknown) =>
    flaws({ $ref: `#/components/schemas/${message}` }, value).length === 0;
  const REQUESTS: [rpc: string, request: Record<string, unknown>][] = [
    ["Store", { text: "a", namespace: "n", metadata: null }],
    ["Store", { text: "a", namespace: null }],
    ["Store", { text: "", namespace: "n" }],
    ["Store", { text: " \n\u3000\ufeff", namespace: "n" }],
    ["Store", { text: "\u0085", namespace: "n" }],
    ["Store", { text: "a", namespace: " a" }],
    ["Store", { text: "a", namespace: "a\u00a0" }],
    ["Store", { text: "a", namespace: "a b" }],
    ["Store", { text: "a", namespace: "a\u0085b" }],
    ["Store", { text: "a", namespace: "a\n" }],
    ["Store", { text: "a", namespace: "\u180e" }],
    ["Store", { text: "a", namespace: "n", external_id: "a\tb" }],
    ["Store", { text: "a", namespace: "n", external_id: "a", on_conflict: "REPLACE" }],
    ["Store", { text: "a", namespace: "n", ttl: "60s", supersedes: [], similar_above: 0.5 }],
    ["Store", { text: "a", namespace: "n", ttl: "60" }],
    ["Store", { text: "a", namespace: "n", external_id: null, on_conflict: null, similar_above: null }],
    ["UpdateMemory", { namespace: "n", id: "mem_1", text: "a" }],
    ["UpdateMemory", { namespace: "n", id: `mem_${"0".repeat(26)}`, text: " " }],
    ["UpdateMemory", { namespace: "n", id: `mem_${"0".repeat(26)}`, text: "a", update_mask: null }],
    ["StoreBatch", { namespace: "n", memories: [{ text: "a", metadata: null }] }],
    ["StoreBatch", { namespace: "n", memories: [] }],
    ["StoreBatch", { namespace: "n", memories: [{ text: " " }] }],
    ["StoreBatch", { namespace: "n", memories: [{ text: "a", id: "b" }] }],
    ["StoreBatch", { namespace: "n", memories: Array(257).fill({ text: "a" }) }],
    ["Recall", { query: "a", namespace: "n", min_score: 0.5, fields: "id,created_at" }],
    ["Recall", { query: "a", namespace: "n", fields: "event_time,before,after,namespace,queryIndex" }],
    ["Recall", { query: "a", namespace: "n", min_score: 1.5 }],
    ["Recall", { query: "a", namespace: "n", fields: "id,tags" }],
    ["Recall", { query: "a", namespace: "n", top_k: null }],
    ["Recall", { query: "a", namespace: "n", top_k: 0 }],
    ["Recall", { query: "a", namespace: "n", top_k: 5.0 }],
    ["GetMemory", { namespace: "n", id: "mem_1" }],
    ["SignUp", { email: null }],
    ["SignUp", { email: "" }],
    ["SignUp", { email: "a" }],
    ["SignUp", { email: "a@b@c" }],
    ["SignUp", { email: "a@b" }],
    ["CreateKey", { name: null, access: null, namespace: null, replaces: null, grace_seconds: null }],
    ["CreateKey", { name: "a\tb" }],
    ["CreateKey", { namespace: "" }],
    ["CreateKey", { namespace: " " }],
    ["CreateKey", { grace_seconds: 5 }],
    ["CreateKey", { access: "KEY_ACCESS_UNSPECIFIED" }],
    ["CreateKey", { access: "FULL" }],
    ["DeleteNamespace", { namespace: "nobody", force: null }],
    ["DeleteNamespaces", { prefix: "" }],
    ["DeleteNamespaces", { prefix: null }],
    ["DeleteNamespaces", { prefix: "n", dry_run: null }],
    ["DeleteNamespaces", { prefix: " " }],
    ["DeleteNamespaces", { prefix: "a\n" }],
    ["ListMemories", { namespace: "n", page_size: null, page_token: null }],
    ["ListMemories", { namespace: "n", page_size: 101 }],
    ["ListMemories", { namespace: "n", order: "OLDEST_FIRST" }],
    ["ListMemories", { namespace: "n", order: "oldest" }],
    ["ListNamespaces", { prefix: null }],
    ["ListNamespaces", { prefix: " a" }],
    ["ListNamespaces", { prefix: "a\n" }],
    ["GetMemories", { namespace: "n", ids: [] }],
    ["GetMemories", { namespace: "n", ids: null }],
    ["GetMemories", { namespace: "n", ids: ["mem_1"] }],
    ["GetMemories", { namespace: "n", ids: "mem_01kafz3v2wes8vptq3jbm5yr4x" }],
    ["GetMemories", { namespace: "n", ids: ["mem_01kafz3v2wes8vptq3jbm5yr4x"] }],
    ["DeleteMemories", { namespace: "n" }],
    ["DeleteMemories", { namespace: "n", ids: ["mem_01kafz3v2wes8vptq3jbm5yr4x"], filter: { a: 1 } }],
    ["DeleteMemories", { namespace: "n", ids: ["mem_01kafz3v2wes8vptq3jbm5yr4x"], dry_run: true }],
    ["DeleteMemories", { namespace: "n", filter: { a: 1 }, dry_run: true }],
    ["UpdateMemories", { namespace: "n", filter: { a: 1 } }],
    ["UpdateMemories", { namespace: "n", filter: { a: 1 }, remove: ["a"], metadata: {} }],
    ["Store", { text: "a", namespace: "n", ttl: "60s", expire_time: "9000-01-01T00:00:00Z" }],
    ["CreateKey", { replaces: "key_01kafz3v2wes8vptq3jbm5yr4x", access: "KEY_ACCESS_READ_ONLY" }],
    ["DeleteMemories", { namespace: "n", ids: Array(257).fill("mem_01kafz3v2wes8vptq3jbm5yr4x") }],
  ];

  it.each(REQUESTS)("about what is taken: %s of %j", async (rpc, request) => {
    const signedUp = await post("/signup", {}, "");
    const { api_key } = (await signedUp.json()) as { api_key: string };
    const answer = await post(pathOf(rpc), request, api_key);
    // A well-formed request may still name something that does not exist.
    expect(answer.status !== 400).toBe(keepsRules(`${rpc}Request`, request));
  });

  // In this order, each call finds what it needs.
  const ORDER = [
    ...["SignUp", "GetAccount", "GetUsage", "Store", "Recall", "GetMemory", "UpdateMemory"],
    ...["ListNamespaces", "ListMemories", "StoreBatch", "GetMemories", "GetNamespace", "CountMemories"],
    "UpdateMemories",
    ...["ListRecentCalls", "CreateKey", "ListKeys", "RevokeKey", "DeleteMemory", "DeleteMemories"],
    ...["DeleteNamespaces", "DeleteNamespace", "CloseAccount"],
  ];
  const known: Record<string, unknown> = {};
  let key = "";

  it("about every RPC", () => {
    expect([...ORDER].sort()).toEqual(methods.map(({ name }) => name).sort());
  });

  it.each(ORDER)("%s takes its example and answers as it should", async (rpc) => {
    const example = EXAMPLES[rpc]?.request ?? {};
    const request = Object.fromEntries(
      Object.entries(example).map(([name, value]) => [name, real(rpc, name) ?? value]),
    );
    const answer = await post(pathOf(rpc), request, key);
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body, JSON.stringify(body)).not.toHaveProperty("code");
    const { post: operation } = document.paths[pathOf(rpc)] as { post: Operation };
    const { schema } = contentOf(operation.responses[200] as { content: Content });
    expect(flaws(schema, body)).toEqual([]);
    if (rpc === "SignUp") key = String(body.api_key);
    if (rpc === "Store") known.id = body.id;
    if (rpc === "CreateKey") known.keyId = (body.key as { id: string }).id;
    Object.assign(known, body.account_id !== undefined && { account_id: body.account_id });
  });

  it("about calls without a key", async () => {
    for (const { path, verb, operation } of operations()) {
      const url = path.replace("{namespace}", "n").replace("{id}", "mem_1");
      const answer = await (["post", "patch"].includes(verb)
        ? post(url, {}, "", verb.toUpperCase())
        : fetch(server.url + url, { method: verb.toUpperCase() }));
      const expected = operation.security?.length === 0 ? 200 : 401;
      expect(answer.status, `${verb} ${path}`).toBe(expected);
      const { schema } = contentOf(operation.responses[expected] as { content: Content });
      if (expected === 401) expect(flaws(schema, await answer.json()), `${verb} ${path}`).toEqual([]);
      expect(Object.keys(operation.responses)).toContain(String(expected));
    }
  });

  function real(rpc: string, name: string): unknown {
    if (name === "id") return rpc === "RevokeKey" ? known.keyId : known.id;
    if (name === "ids") return [known.id];
    return known[name];
  }
});

function post(path: string, body: unknown, key: string, method = "POST"): Promise<Response> {
  const headers = {
    "content-type": "application/json",
    ...(key !== "" && { authorization: `Bearer ${key}` }),
  };
  return fetch(server.url + path, { method, headers, body: JSON.stringify(body) });
}

it("names the one body that comes in two types, which generators of clients would make two classes of", () => {
  const { paths } = document;
  const content = paths["/namespaces/{namespace}/memories/{id}"]?.patch?.requestBody?.content ?? {};
  const schemas = Object.values<Content["application/json"]>(content).map(({ schema }) => schema);
  expect(schemas).toEqual([1, 2].map(() => ({ $ref: "#/components/schemas/UpdateMemoryPatch" })));
});
