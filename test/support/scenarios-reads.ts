import type { JsonValue } from "@bufbuild/protobuf";
import type { RpcName } from "./protocols.js";
import type { Scenario } from "./scenario.js";

const namespace = "n";
/** Makes ids of memories that nobody stored. */
const ids = (count: number) =>
  Array.from({ length: count }, (_, i) => `mem_01jdh2zz00e00r000000000${String(i).padStart(3, "0")}`);

const fine = (name: string, rpc: RpcName, request: JsonValue): Scenario => {
  return { name, rpc, request, code: "ok" };
};

const wrong = (
  name: string,
  rpc: RpcName,
  [field, says, request]: [field: string, says: RegExp, request: JsonValue],
): Scenario => ({ name, rpc, request, code: "invalid_argument", field, says });

const inJson = (scenario: Scenario): Scenario => ({ ...scenario, jsonOnly: true });

const LISTS: readonly Scenario[] = [
  ...[
    ...["ORDER_UNSPECIFIED", "NEWEST_FIRST", "OLDEST_FIRST"],
    ...["EVENT_TIME_NEWEST_FIRST", "EVENT_TIME_OLDEST_FIRST"],
  ].map((order) => fine(`order ${order}`, "ListMemories", { namespace, order })),
  wrong("order 5", "ListMemories", ["order", /./, { namespace, order: 5 }]),
  inJson(wrong("order oldest", "ListMemories", ["order", /OLDEST_FIRST/, { namespace, order: "oldest" }])),
  ...[0, 101].map((page_size) =>
    wrong(`page_size ${page_size}`, "ListMemories", ["page_size", /1 to 100/, { namespace, page_size }]),
  ),
  ...[-2_147_483_648, 2_147_483_648, 99_999_999_999, 1e20].map((page_size) =>
    inJson(
      wrong(`page_size ${page_size}`, "ListMemories", ["page_size", /1 to 100/, { namespace, page_size }]),
    ),
  ),
  ...["1.5", "0x10", "+5", "05", "1e2", " 5", ""].map((page_size) =>
    inJson(
      wrong(`page_size ${JSON.stringify(page_size)}`, "ListMemories", [
        "page_size",
        /a whole number/,
        { namespace, page_size },
      ]),
    ),
  ),
  ...[1, 100].map((page_size) => fine(`page_size ${page_size}`, "ListMemories", { namespace, page_size })),
];

const PREFIXES: readonly Scenario[] = [
  ...["", "n"].map((prefix) => fine(`prefix "${prefix}"`, "ListNamespaces", { prefix })),
  ...(["ListNamespaces", "DeleteNamespaces"] as const).flatMap((rpc): Scenario[] => [
    ...["nobody has it", "a/b c%2F", "é".repeat(128), " ", "__proto__"].map((prefix) =>
      fine(`${rpc}: prefix ${JSON.stringify(prefix.slice(0, 20))}`, rpc, { prefix }),
    ),
    wrong(`${rpc}: prefix of 257 bytes`, rpc, [
      "prefix",
      /257 bytes; the limit is 256/,
      { prefix: "n".repeat(257) },
    ]),
    wrong(`${rpc}: prefix with a newline`, rpc, ["prefix", /control character/, { prefix: "a\n" }]),
  ]),
  fine("DeleteNamespaces: a dry run", "DeleteNamespaces", { prefix: "nobody has it", dry_run: true }),
  ...[{}, { prefix: "" }, { prefix: "", dry_run: true }].map((request) =>
    wrong(`DeleteNamespaces: no prefix in ${JSON.stringify(request)}`, "DeleteNamespaces", [
      "prefix",
      /^prefix is missing; it must have at least one character$/,
      request,
    ]),
  ),
];

const SEVERAL = (["GetMemories", "DeleteMemories"] as const).flatMap((rpc): Scenario[] => [
  fine(`${rpc}: one id`, rpc, { namespace, ids: ids(1) }),
  fine(`${rpc}: an id twice`, rpc, { namespace, ids: [...ids(1), ...ids(1)] }),
  fine(`${rpc}: 256 ids`, rpc, { namespace, ids: ids(256) }),
  fine(`${rpc}: a namespace that nobody stored to`, rpc, { namespace: "never", ids: ids(2) }),
  wrong(`${rpc}: 257 ids`, rpc, ["ids", /257 ids; the limit is 256/, { namespace, ids: ids(257) }]),
  wrong(`${rpc}: no ids`, rpc, ["ids", /missing/, { namespace }]),
  wrong(`${rpc}: an empty list`, rpc, ["ids", /missing/, { namespace, ids: [] }]),
  wrong(`${rpc}: an id of another form`, rpc, ["ids[1]", /mem_/, { namespace, ids: [...ids(1), "mem_1"] }]),
  wrong(`${rpc}: an empty id`, rpc, ["ids[0]", /missing/, { namespace, ids: [""] }]),
  wrong(`${rpc}: no namespace`, rpc, ["namespace", /missing/, { ids: ids(1) }]),
  inJson(wrong(`${rpc}: ids a string`, rpc, ["ids", /an array/, { namespace, ids: "mem_1" }])),
  inJson(
    wrong(`${rpc}: a number among ids`, rpc, ["ids[1]", /a string/, { namespace, ids: [...ids(1), 5] }]),
  ),
  inJson(wrong(`${rpc}: null among ids`, rpc, ["ids[0]", /a string/, { namespace, ids: [null] }])),
]);

const recall = (request: Record<string, JsonValue>): JsonValue => {
  return { query: "where is the cat?", namespace, ...request };
};

/** Rules of what a recall leaves out. */
const RECALLS: readonly Scenario[] = [
  ...["COSINE", "HYBRID"].flatMap((mode) =>
    [0, 0.5, 1].map((min_score) =>
      fine(`min_score ${min_score} with ${mode}`, "Recall", recall({ mode, min_score })),
    ),
  ),
  ...[-0.001, 1.001, -1e300].map((min_score) =>
    wrong(`min_score ${min_score}`, "Recall", ["min_score", /from 0 to 1/, recall({ min_score })]),
  ),
  ...[0, 0.5, 1.5].map((min_fit) =>
    fine(`min_fit ${min_fit}`, "Recall", recall({ mode: "HYBRID", min_fit })),
  ),
  ...[-0.001, 1.501, -1e300].map((min_fit) =>
    wrong(`min_fit ${min_fit}`, "Recall", ["min_fit", /from 0 to 1.5/, recall({ mode: "HYBRID", min_fit })]),
  ),
  wrong("min_fit by meaning alone", "Recall", ["min_fit", /HYBRID/, recall({ mode: "COSINE", min_fit: 1 })]),
  inJson(wrong("min_score a string", "Recall", ["min_score", /send a number/, recall({ min_score: "0.5" })])),
  inJson({ ...fine("min_score null, which is absent", "Recall", recall({ min_score: null })) }),
  ...[
    ...["id", "id,score", "text,metadata,created_at,match,words,explanation", "score,score"],
    "etag,updated_at,external_id,superseded_by,expire_time,event_time",
  ].map((fields) => fine(`fields ${fields}`, "Recall", recall({ fields, mode: "HYBRID", explain: true }))),
  ...["tags", "id,tags", "metadata.source", "*", "Id", "id,", " id"].map((fields) =>
    wrong(`fields ${JSON.stringify(fields)}`, "Recall", ["fields", /none of id, text/, recall({ fields })]),
  ),
  fine("also_in", "Recall", recall({ also_in: ["never", "other"] })),
  fine("7 others in also_in", "Recall", recall({ also_in: [..."abcdefg"] })),
  wrong("8 others in also_in", "Recall", [
    "also_in",
    /8 namespaces; the limit is 7/,
    recall({ also_in: [..."abcdefgh"] }),
  ]),
  wrong("also_in with the first", "Recall", [
    "also_in[1]",
    /given twice/,
    recall({ also_in: ["a", namespace] }),
  ]),
  wrong("also_in with one twice", "Recall", ["also_in[1]", /given twice/, recall({ also_in: ["a", "a"] })]),
  wrong("also_in with an empty one", "Recall", ["also_in[0]", /missing/, recall({ also_in: [""] })]),
  wrong("also_in with a long one", "Recall", [
    "also_in[0]",
    /257 bytes/,
    recall({ also_in: ["n".repeat(257)] }),
  ]),
  ...[{ before: 5 }, { after: 1 }, { before: 1, after: 5, same: "session" }, { after: 1, same: "a.b" }].map(
    (neighbors) => fine(`neighbors ${JSON.stringify(neighbors)}`, "Recall", recall({ neighbors })),
  ),
  ...[{}, { same: "session" }, { before: 0, after: 0 }].map((neighbors) =>
    wrong(`neighbors ${JSON.stringify(neighbors)}`, "Recall", [
      "neighbors",
      /asks for none/,
      recall({ neighbors }),
    ]),
  ),
  wrong("6 neighbors before", "Recall", ["neighbors.before", /0 to 5/, recall({ neighbors: { before: 6 } })]),
  wrong("-1 neighbors after", "Recall", ["neighbors.after", /0 to 5/, recall({ neighbors: { after: -1 } })]),
  wrong("neighbors of the same id", "Recall", [
    "neighbors.same",
    /no path of metadata/,
    recall({ neighbors: { before: 1, same: "$id" } }),
  ]),
  wrong("neighbors of a long path", "Recall", [
    "neighbors.same",
    /512 bytes/,
    recall({ neighbors: { before: 1, same: "s".repeat(513) } }),
  ]),
  fine("queries", "Recall", { namespace, queries: ["where is the cat?", "who has a dog?"] }),
  fine("8 queries, with no query", "Recall", { namespace, query: "", queries: Array(8).fill("cat") }),
  wrong("9 queries", "Recall", [
    "queries",
    /9 queries; the limit is 8/,
    { namespace, queries: Array(9).fill("cat") },
  ]),
  wrong("queries with a blank one", "Recall", ["queries[1]", /blank/, { namespace, queries: ["cat", " "] }]),
  wrong("queries with an empty one", "Recall", ["queries[0]", /missing/, { namespace, queries: [""] }]),
  wrong("queries beside query", "Recall", ["queries", /beside query/, recall({ queries: ["cat"] })]),
  wrong("queries beside like_id", "Recall", [
    "queries",
    /beside like_id/,
    { namespace, queries: ["cat"], like_id: ids(1)[0] as string },
  ]),
  wrong("like_id beside query", "Recall", [
    "like_id",
    /beside query/,
    recall({ like_id: ids(1)[0] as string }),
  ]),
  wrong("like_id of another form", "Recall", ["like_id", /mem_/, { namespace, like_id: "mem_1" }]),
  wrong("neither query, queries nor like_id", "Recall", [
    "query",
    /is missing; a recall has one of query, queries and like_id/,
    { namespace, query: "", queries: [], like_id: "" },
  ]),
  {
    name: "like_id of a memory that is not there",
    rpc: "Recall",
    request: { namespace, like_id: ids(1)[0] as string },
    code: "not_found",
  },
  ...[1, 2_147_483_647].map((max_tokens) =>
    fine(`max_tokens ${max_tokens}`, "Recall", recall({ max_tokens })),
  ),
  ...[0, -1].map((max_tokens) =>
    wrong(`max_tokens ${max_tokens}`, "Recall", [
      "max_tokens",
      /whole number from 1/,
      recall({ max_tokens }),
    ]),
  ),
  inJson(
    wrong("max_tokens a text", "Recall", ["max_tokens", /a whole number/, recall({ max_tokens: "few" })]),
  ),
  inJson(fine("fields in lowerCamelCase", "Recall", recall({ fields: "createdAt" }))),
  inJson(wrong("no fields", "Recall", ["fields", /names no field/, recall({ fields: "" })])),
  inJson(wrong("fields an array", "Recall", ["fields", /names with commas/, recall({ fields: ["id"] })])),
];

const recency = { half_life: "2592000s", weight: 0.1 };

/** Rules of how much the age of memories counts. */
const RECENCIES: readonly Scenario[] = [
  ...["COSINE", "HYBRID"].map((mode) => fine(`recency with ${mode}`, "Recall", recall({ mode, recency }))),
  ...[0, 0.5].map((weight) =>
    fine(`recency of the weight ${weight}`, "Recall", recall({ recency: { ...recency, weight } })),
  ),
  fine(
    "recency counted from another time",
    "Recall",
    recall({ explain: true, recency: { ...recency, reference_time: "2016-03-05T09:30:00Z" } }),
  ),
  ...(
    [
      ["without a half-life", { weight: 0.1 }, "half_life", /missing/],
      ["without a weight", { half_life: "1s" }, "weight", /missing/],
      ["of the half-life 0", { ...recency, half_life: "0s" }, "half_life", /positive/],
      ["of a half-life below 0", { ...recency, half_life: "-1s" }, "half_life", /positive/],
      ["of a weight below 0", { ...recency, weight: -0.001 }, "weight", /from 0 to 0.5/],
      ["of a weight above 0.5", { ...recency, weight: 0.501 }, "weight", /from 0 to 0.5/],
    ] as const
  ).map(([name, asked, field, says]) =>
    wrong(`recency ${name}`, "Recall", [`recency.${field}`, says, recall({ recency: asked })]),
  ),
  inJson(
    wrong("recency of a half-life without a unit", "Recall", [
      "recency.half_life",
      /./,
      recall({ recency: { ...recency, half_life: "60" } }),
    ]),
  ),
  inJson(
    wrong("recency counted from no time", "Recall", [
      "recency.reference_time",
      /RFC 3339/,
      recall({ recency: { ...recency, reference_time: "now" } }),
    ]),
  ),
  inJson(wrong("recency a number", "Recall", ["recency", /a JSON object/, recall({ recency: 0.1 })])),
];

/** Rules of the calls that read several memories or whole namespaces, once for all protocols. */
export const READS: readonly Scenario[] = [
  ...RECALLS,
  ...RECENCIES,
  ...LISTS,
  ...PREFIXES,
  ...SEVERAL,
  fine("a count", "CountMemories", { namespace }),
  fine("a count with superseded ones", "CountMemories", { namespace, include_superseded: true }),
  inJson(
    wrong("a count with a string", "CountMemories", [
      "include_superseded",
      /true or false/,
      { namespace, include_superseded: "yes" },
    ]),
  ),
  fine("a count of nothing", "CountMemories", { namespace: "never" }),
  wrong("a count without a namespace", "CountMemories", ["namespace", /missing/, {}]),
  { name: "facts of nothing", rpc: "GetNamespace", request: { namespace: "never" }, code: "not_found" },
  wrong("facts of a name that is too long", "GetNamespace", [
    "namespace",
    /257 bytes/,
    { namespace: "n".repeat(257) },
  ]),
  fine("the account", "GetAccount", {}),
  fine("the usage of a day", "GetUsage", { days: 1 }),
  wrong("the usage of 91 days", "GetUsage", ["days", /1 to 90/, { days: 91 }]),
  fine("the last calls", "ListRecentCalls", { page_size: 5, errors_only: true }),
  fine("the calls of one kind", "ListRecentCalls", {
    method: "Recall",
    key_id: "key_none",
    code: "ok",
    namespace: "n",
  }),
  wrong("the calls of no method", "ListRecentCalls", [
    "method",
    /no method of this API; did you mean Recall\?$/,
    { method: "Recal" },
  ]),
  wrong("the calls of no outcome", "ListRecentCalls", ["code", /neither ok nor/, { code: "bad" }]),
  wrong("the calls in no namespace", "ListRecentCalls", ["namespace", /missing/, { namespace: "" }]),
  wrong("a page of 101 calls", "ListRecentCalls", ["page_size", /1 to 100/, { page_size: 101 }]),
  fine("the keys", "ListKeys", {}),
];
