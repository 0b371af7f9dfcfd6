import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { RpcName } from "./protocols.js";
import type { Scenario } from "./scenario.js";

const namespace = "n";
const query = "where is the cat?";
const id = "mem_01jdh2zz00e00r000000000000";

/** Calls with a filter. Only a recall is charged. */
const CALLS: readonly [RpcName, JsonObject][] = [
  ["Recall", { query, namespace }],
  ["ListMemories", { namespace }],
  ["CountMemories", { namespace }],
  ["DeleteMemories", { namespace }],
  ["UpdateMemories", { namespace, metadata: { done: true } }],
];

const not = (levels: number): JsonObject => (levels === 1 ? { a: 1 } : { $not: not(levels - 1) });
const keys = (count: number, key: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${key}${i}`, 1]));

const GOOD: readonly [string, JsonObject][] = [
  ["of a value", { source: "nowhere" }],
  ["of every operator of a field", { a: { $gt: 1, $gte: 1, $lt: 9, $lte: 9, $ne: 3, $exists: true } }],
  ["of lists and texts", { a: { $in: ["x", 1, true, null], $nin: [2], $prefix: "x", $contains: "x" } }],
  ["of fields beside metadata", { $id: id, $created_at: { $gt: "2026-01-01T00:00:00Z" } }],
  ["of 5 levels", { ...not(5), a: "nothing has this" }],
  ["of 200 tests", { $and: [keys(100, "a"), keys(100, "b")] }],
  ["of 256 values", { a: { $in: Array.from({ length: 256 }, (_, i) => i) } }],
  ["of a text of 4,096 bytes", { a: "x".repeat(4096) }],
];

const BAD: readonly [name: string, filter: JsonObject, place: string, says: RegExp][] = [
  ["of an unknown operator", { a: { $regex: "x" } }, "filter.a.$regex", /none of the operators/],
  ["of an object", { a: { b: 1 } }, "filter.a.b", /dots/],
  ["of 6 levels", not(6), "filter.$not.$not.$not.$not.$not", /5 levels/],
  ["of 201 tests", { $and: [keys(100, "a"), keys(101, "b")] }, "filter.$and[1].b100", /200 tests/],
  [
    "of 257 values",
    { a: { $in: Array.from({ length: 257 }, (_, i) => i) } },
    "filter.a.$in",
    /257 values; it must have 1 to 256/,
  ],
  ["of a text of 4,097 bytes", { a: "x".repeat(4097) }, "filter.a", /4,097 bytes; the limit is 4,096/],
  ["of a wrong type", { a: { $gt: true } }, "filter.a.$gt", /a number or a string/],
  ["of a wrong time", { $created_at: { $lt: "soon" } }, "filter.$created_at.$lt", /RFC 3339/],
];

const refused = (
  name: string,
  rpc: RpcName,
  [field, says, request]: [string, RegExp, JsonValue],
): Scenario => ({ name, rpc, request, code: "invalid_argument", field, says });

/** Rules of filters, once for every call that has one and for all protocols. */
export const FILTERS: readonly Scenario[] = [
  ...CALLS.flatMap(([rpc, request]): Scenario[] => [
    ...GOOD.map(
      ([name, filter]): Scenario => ({
        name: `${rpc}: a filter ${name}`,
        rpc,
        request: { ...request, filter },
        code: "ok",
      }),
    ),
    ...BAD.map(([name, filter, place, says]) =>
      refused(`${rpc}: a filter ${name}`, rpc, [place, says, { ...request, filter }]),
    ),
    {
      ...refused(`${rpc}: a filter that is a text`, rpc, ["filter", /object/, { ...request, filter: "a" }]),
      jsonOnly: true,
    },
  ]),
  ...CALLS.slice(0, 3).map(
    ([rpc, request]): Scenario => ({
      name: `${rpc}: an empty filter, which is none`,
      rpc,
      request: { ...request, filter: {} },
      code: "ok",
    }),
  ),
  refused("DeleteMemories: an empty filter", "DeleteMemories", [
    "filter",
    /empty/,
    { namespace, filter: {} },
  ]),
  refused("DeleteMemories: ids and a filter", "DeleteMemories", [
    "filter",
    /cannot be used with ids/,
    { namespace, ids: [id], filter: { a: 1 } },
  ]),
  refused("DeleteMemories: a dry run with ids", "DeleteMemories", [
    "dry_run",
    /for a filter/,
    { namespace, ids: [id], dry_run: true },
  ]),
  refused("DeleteMemories: superseded ones by ids", "DeleteMemories", [
    "include_superseded",
    /for a filter/,
    { namespace, ids: [id], include_superseded: true },
  ]),
  {
    name: "DeleteMemories: superseded ones by a filter",
    rpc: "DeleteMemories",
    request: { namespace, filter: { a: "nothing" }, include_superseded: true },
    code: "ok",
  },
  {
    name: "DeleteMemories: a dry run",
    rpc: "DeleteMemories",
    request: { namespace, filter: { a: 1 }, dry_run: true },
    code: "ok",
  },
  refused("UpdateMemories: an empty filter", "UpdateMemories", [
    "filter",
    /empty/,
    { namespace, filter: {}, metadata: { a: 1 } },
  ]),
  refused("UpdateMemories: ids and a filter", "UpdateMemories", [
    "filter",
    /cannot be used with ids/,
    { namespace, ids: [id], filter: { a: 1 }, metadata: { a: 1 } },
  ]),
  refused("UpdateMemories: a dry run with ids", "UpdateMemories", [
    "dry_run",
    /for a filter/,
    { namespace, ids: [id], metadata: { a: 1 }, dry_run: true },
  ]),
  refused("UpdateMemories: nothing to update", "UpdateMemories", [
    "metadata",
    /nothing to update/,
    { namespace, ids: [id] },
  ]),
  refused("UpdateMemories: neither ids nor a filter", "UpdateMemories", [
    "ids",
    /missing/,
    { namespace, metadata: { a: 1 } },
  ]),
  refused("UpdateMemories: a path that is none of metadata", "UpdateMemories", [
    "remove[1]",
    /no path of metadata/,
    { namespace, ids: [id], remove: ["a", "$id"] },
  ]),
  refused("UpdateMemories: a path with a wrong backslash", "UpdateMemories", [
    "remove[0]",
    /backslash/,
    { namespace, ids: [id], remove: ["a\\b"] },
  ]),
  refused("UpdateMemories: 257 paths", "UpdateMemories", [
    "remove",
    /257 paths; the limit is 256/,
    { namespace, ids: [id], remove: Array.from({ length: 257 }, (_, i) => `k${i}`) },
  ]),
  refused("UpdateMemories: metadata that is too long", "UpdateMemories", [
    "metadata",
    /the limit is 16,384/,
    { namespace, ids: [id], metadata: { a: "x".repeat(16_384) } },
  ]),
  refused("UpdateMemories: a page token of another list", "UpdateMemories", [
    "page_token",
    /none that this list gave/,
    { namespace, filter: { a: 1 }, metadata: { a: 1 }, page_token: "WyJvbGRlc3QiXQ" },
  ]),
  {
    name: "UpdateMemories: a dry run",
    rpc: "UpdateMemories",
    request: { namespace, filter: { a: "nothing" }, remove: ["b.c"], dry_run: true },
    code: "ok",
  },
  ...(["after", "before"] as const).flatMap((field): Scenario[] => [
    {
      name: `Recall: ${field} a time`,
      rpc: "Recall",
      request: { query, namespace, [field]: "2026-01-01T00:00:00.000000001Z" },
      code: "ok",
    },
    {
      name: `Recall: ${field} no time`,
      rpc: "Recall",
      request: { query, namespace, [field]: "yesterday" },
      code: "invalid_argument",
      field,
      says: /RFC 3339/,
      jsonOnly: true,
    },
  ]),
];
