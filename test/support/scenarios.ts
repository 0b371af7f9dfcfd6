import type { JsonValue } from "@bufbuild/protobuf";
import type { Scenario } from "./scenario.js";
import { BATCHES } from "./scenarios-batch.js";
import { FILTERS } from "./scenarios-filter.js";
import { READS } from "./scenarios-reads.js";

const text = "The cat sleeps on the warm radiator.";
const store = (request: Record<string, unknown>) => ({ text, namespace: "n", ...request }) as JsonValue;
const recall = (request: Record<string, unknown>) =>
  ({ query: "where is the cat?", namespace: "n", ...request }) as JsonValue;
const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { a: nested(depth - 1) });

const KEY_ID = "key_01kafz3v2wes8vptq3jbm5yr4x";

/** Rules of the wire, once for all protocols. */
export const SCENARIOS: readonly Scenario[] = [
  ...READS,
  ...BATCHES,
  ...FILTERS,
  { name: "a plain store", rpc: "Store", request: store({}), code: "ok" },
  { name: "a plain recall", rpc: "Recall", request: recall({}), code: "ok" },

  ...[0, 21, -1, 2_000_000_000, -2_147_483_648].map(
    (top_k): Scenario => ({
      name: `top_k ${top_k}`,
      rpc: "Recall",
      request: recall({ top_k }),
      code: "invalid_argument",
      field: "top_k",
      says: /from 1 to 20/,
    }),
  ),
  ...[1, 20].map(
    (top_k): Scenario => ({ name: `top_k ${top_k}`, rpc: "Recall", request: recall({ top_k }), code: "ok" }),
  ),
  {
    name: "top_k beyond its type",
    rpc: "Recall",
    request: recall({ top_k: 3e9 }),
    code: "invalid_argument",
    field: "top_k",
    says: /from 1 to 20/,
    jsonOnly: true,
  },
  ...[1.5, "5", true, [5], {}].map(
    (top_k): Scenario => ({
      name: `top_k ${JSON.stringify(top_k)}`,
      rpc: "Recall",
      request: recall({ top_k }),
      code: "invalid_argument",
      field: "top_k",
      jsonOnly: true,
    }),
  ),
  {
    name: "top_k null, which is absent",
    rpc: "Recall",
    request: recall({ top_k: null }),
    code: "ok",
    jsonOnly: true,
  },

  ...["MODE_UNSPECIFIED", "COSINE", "HYBRID"].flatMap((mode): Scenario[] => [
    { name: `mode ${mode}`, rpc: "Recall", request: recall({ mode }), code: "ok" },
    { name: `mode ${mode}, explained`, rpc: "Recall", request: recall({ mode, explain: true }), code: "ok" },
  ]),
  { name: "mode 7", rpc: "Recall", request: recall({ mode: 7 }), code: "invalid_argument", field: "mode" },
  ...["RECALL_MODE_HYBRID", "hybrid", ""].map(
    (mode): Scenario => ({
      name: `mode ${JSON.stringify(mode)}`,
      rpc: "Recall",
      request: recall({ mode }),
      code: "invalid_argument",
      field: "mode",
      says: mode === "hybrid" ? /COSINE, HYBRID; did you mean HYBRID\?$/ : /COSINE, HYBRID$/,
      jsonOnly: true,
    }),
  ),
  {
    name: "explain a string",
    rpc: "Recall",
    request: recall({ explain: "yes" }),
    code: "invalid_argument",
    field: "explain",
    says: /true or false/,
    jsonOnly: true,
  },

  ...(["text", "query"] as const).flatMap((field): Scenario[] => {
    const rpc = field === "text" ? "Store" : "Recall";
    const request = (value: unknown) =>
      field === "text" ? store({ text: value }) : recall({ query: value });
    const wrong = (name: string, value: unknown, says: RegExp, jsonOnly?: true): Scenario => ({
      name: `${field} ${name}`,
      rpc,
      request: request(value),
      code: "invalid_argument",
      field,
      says,
      ...(jsonOnly && { jsonOnly }),
    });
    return [
      wrong("missing", undefined, /missing/),
      wrong("empty", "", /missing/),
      wrong("blank", " \n\t\u3000", /blank/),
      wrong("too long", "x".repeat(65_537), /65,537 bytes; the limit is 65,536/),
      wrong("too long in bytes only", "é".repeat(32_769), /65,538 bytes; the limit is 65,536/),
      wrong("with a lone surrogate", "a\ud800b", /well-formed/, true),
      wrong("a number", 5, /a number; send a string/, true),
      wrong("an array", ["a"], /an array; send a string/, true),
      wrong("null", null, /missing/, true),
      {
        name: `${field} with NUL and control characters`,
        rpc,
        request: request("a\u0000b\u0007"),
        code: "ok",
      },
      {
        name: `${field} longer than the model reads at once`,
        rpc,
        request: request("word ".repeat(2000)),
        code: "ok",
      },
      { name: `${field} of emoji`, rpc, request: request("👩‍👩‍👧‍👦🏳️‍🌈"), code: "ok" },
    ];
  }),

  ...(["Store", "Recall"] as const).flatMap((rpc): Scenario[] => {
    const request = (namespace: unknown) => (rpc === "Store" ? store({ namespace }) : recall({ namespace }));
    const wrong = (name: string, namespace: unknown, says: RegExp, jsonOnly?: true): Scenario => ({
      name: `${rpc}: namespace ${name}`,
      rpc,
      request: request(namespace),
      code: "invalid_argument",
      field: "namespace",
      says,
      ...(jsonOnly && { jsonOnly }),
    });
    return [
      wrong("missing", undefined, /missing/),
      wrong("empty", "", /missing/),
      wrong("too long", "n".repeat(257), /257 bytes; the limit is 256/),
      wrong("too long in bytes only", "é".repeat(129), /258 bytes/),
      wrong("with NUL", "a\u0000b", /control character/),
      wrong("with a newline", "a\nb", /control character/),
      wrong("that ends with a space", "a ", /space/),
      wrong("that begins with a space", "\u00a0a", /space/),
      wrong("a number", 7, /a number; send a string/, true),
      wrong("with a lone surrogate", "\udc00", /well-formed/, true),
      { name: `${rpc}: namespace of 256 bytes`, rpc, request: request("é".repeat(128)), code: "ok" },
      { name: `${rpc}: namespace __proto__`, rpc, request: request("__proto__"), code: "ok" },
      { name: `${rpc}: namespace a/b:c%2F`, rpc, request: request("a/b:c%2F"), code: "ok" },
    ];
  }),

  {
    name: "metadata of many kinds",
    rpc: "Store",
    request: store({ metadata: { a: [1, null, { b: true }], "": "", $x: 1.5 } }),
    code: "ok",
  },
  {
    name: "metadata with __proto__ keys",
    rpc: "Store",
    request: store({ metadata: JSON.parse('{"__proto__":{"a":1},"constructor":2}') }),
    code: "ok",
  },
  { name: "metadata 16 deep", rpc: "Store", request: store({ metadata: nested(16) }), code: "ok" },
  {
    name: "metadata 17 deep",
    rpc: "Store",
    request: store({ metadata: nested(17) }),
    code: "invalid_argument",
    field: "metadata",
    says: /16 levels/,
  },
  {
    name: "metadata too long",
    rpc: "Store",
    request: store({ metadata: { a: "x".repeat(16_384) } }),
    code: "invalid_argument",
    field: "metadata",
    says: /16,392 bytes as JSON; the limit is 16,384/,
  },
  {
    name: "metadata an array",
    rpc: "Store",
    request: store({ metadata: [] }),
    code: "invalid_argument",
    field: "metadata",
    jsonOnly: true,
  },
  {
    name: "metadata a string",
    rpc: "Store",
    request: store({ metadata: "x" }),
    code: "invalid_argument",
    field: "metadata",
    jsonOnly: true,
  },
  {
    name: "metadata null, which is absent",
    rpc: "Store",
    request: store({ metadata: null }),
    code: "ok",
    jsonOnly: true,
  },
  {
    name: "metadata with a lone surrogate",
    rpc: "Store",
    request: store({ metadata: { a: "\ud800" } }),
    code: "invalid_argument",
    field: "metadata.a",
    jsonOnly: true,
  },
  {
    name: "metadata with 1e999",
    rpc: "Store",
    request: '{"text":"a","namespace":"n","metadata":{"x":1e999}}',
    code: "invalid_argument",
    field: "metadata.x",
    says: /finite/,
    jsonOnly: true,
  },

  {
    name: "an unknown field",
    rpc: "Recall",
    request: recall({ topk: 3 }),
    code: "invalid_argument",
    field: "topk",
    says: /^topk is not a field of RecallRequest; did you mean top_k\?$/,
    jsonOnly: true,
  },
  {
    name: "an unknown field that is near no other",
    rpc: "Recall",
    request: recall({ ["x".repeat(100_000)]: 3 }),
    code: "invalid_argument",
    field: "x".repeat(64),
    says: /^x{64} is not a field of RecallRequest; its fields are query, namespace, top_k, .*, neighbors$/,
    jsonOnly: true,
  },
  {
    name: "a field called __proto__",
    rpc: "Store",
    request: '{"text":"a","namespace":"n","__proto__":{}}',
    code: "invalid_argument",
    field: "__proto__",
    jsonOnly: true,
  },
  ...["", "{", "nonsense", '{"text":"a",}', "[]", "null", '"text"', "5"].map(
    (request): Scenario => ({
      name: `the body ${JSON.stringify(request)}`,
      rpc: "Store",
      request,
      code: "invalid_argument",
      field: "body",
      jsonOnly: true,
    }),
  ),

  { name: "email of nobody", rpc: "SignUp", request: {}, code: "ok" },
  {
    name: "email too long",
    rpc: "SignUp",
    request: { email: `${"a".repeat(250)}@b.de` },
    code: "invalid_argument",
    field: "email",
    says: /254/,
  },
  {
    name: "email of another form",
    rpc: "SignUp",
    request: { email: "<script>" },
    code: "invalid_argument",
    field: "email",
  },
  {
    name: "a key for one namespace",
    rpc: "CreateKey",
    request: { name: "agent", namespace: "n", access: "KEY_ACCESS_READ_ONLY" },
    code: "ok",
  },
  {
    name: "a key of an unknown access",
    rpc: "CreateKey",
    request: { access: "key-access-full" },
    code: "invalid_argument",
    field: "access",
    says: /; did you mean KEY_ACCESS_FULL\?$/,
    jsonOnly: true,
  },
  { name: "a key that is not there", rpc: "RevokeKey", request: { id: KEY_ID }, code: "not_found" },
  {
    name: "a key that is not there, by a string",
    rpc: "RevokeKey",
    request: { id: KEY_ID, force: "yes" },
    code: "invalid_argument",
    field: "force",
    says: /true or false/,
    jsonOnly: true,
  },
  {
    name: "the account by another id",
    rpc: "CloseAccount",
    request: { account_id: "acc_01kafz2n7teh5b9cxq4w0m8dks" },
    code: "invalid_argument",
    field: "account_id",
  },
  {
    name: "the account without its id",
    rpc: "CloseAccount",
    request: {},
    code: "invalid_argument",
    field: "account_id",
    says: /missing/,
  },
];
