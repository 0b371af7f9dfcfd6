import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Scenario } from "./scenario.js";

const NOBODY = `mem_${"0".repeat(26)}`;
const store = (request: Record<string, unknown>) =>
  ({ text: "The cat sleeps.", namespace: "versions", ...request }) as JsonValue;
const update = (request: Record<string, unknown>) =>
  ({ id: NOBODY, namespace: "versions", text: "The cat sleeps.", ...request }) as JsonValue;

const taken = (name: string, request: Record<string, unknown>, more = {}): Scenario => {
  return { name, rpc: "Store", request: store(request), code: "ok", ...more };
};
const refused = (
  name: string,
  field: string,
  request: Record<string, unknown>,
  more: Partial<Scenario> = {},
): Scenario => {
  return { name, rpc: "Store", request: store(request), code: "invalid_argument", field, ...more };
};
const replacing = { on_conflict: "REPLACE" };
const jsonOnly = { jsonOnly: true } as const;

/** Rules of the fields by which memories replace, supersede and expire. */
const SINGLE: readonly Scenario[] = [
  taken("external_id of 256 bytes", { external_id: "é".repeat(128), ...replacing }),
  refused(
    "external_id too long",
    "external_id",
    { external_id: "x".repeat(257) },
    { says: /257 bytes.*256/ },
  ),
  refused("external_id with a newline", "external_id", { external_id: "a\nb" }, { says: /control/ }),
  refused("external_id a number", "external_id", { external_id: 7 }, jsonOnly),
  refused("on_conflict without external_id", "on_conflict", { on_conflict: "KEEP" }, { says: /external_id/ }),
  refused("on_conflict 9", "on_conflict", { external_id: "a", on_conflict: 9 }),
  refused("on_conflict keep", "on_conflict", { external_id: "a", on_conflict: "keep" }, jsonOnly),

  // Python's last time, which its programs write for never.
  taken("expire_time at the end of the year 9999", { expire_time: "9999-12-31T23:59:59.999999Z" }),
  taken("ttl of a day", { ttl: "86400s" }),
  taken("ttl of an hour and a bit", { ttl: "3600.5s" }),
  refused(
    "expire_time in the past",
    "expire_time",
    { expire_time: "2001-01-01T00:00:00Z" },
    { says: /future/ },
  ),
  refused(
    "expire_time without a zone",
    "expire_time",
    { expire_time: "2090-01-01" },
    { ...jsonOnly, says: /RFC 3339/ },
  ),
  refused("expire_time a number", "expire_time", { expire_time: 4e9 }, jsonOnly),
  refused("ttl of nothing", "ttl", { ttl: "0s" }, { says: /positive/ }),
  refused("ttl of less than nothing", "ttl", { ttl: "-1s" }, { says: /positive/ }),
  refused("ttl beyond the year 9999", "ttl", { ttl: "315576000000s" }, { says: /9999/ }),
  refused("ttl without a unit", "ttl", { ttl: "60" }, jsonOnly),
  // Of the second and third, Protobuf's own decoder reads what stands before the first s.
  ...["s", "5s30m", "60seconds", "1e3s", "1.s", "0.0000000001s"].map((ttl) =>
    refused(`ttl ${ttl}`, "ttl", { ttl }, { ...jsonOnly, says: /is not a number of seconds/ }),
  ),
  refused("ttl beyond all Durations", "ttl", { ttl: "315576000001s" }, { ...jsonOnly, says: /10,000 years/ }),
  refused(
    "both expire_time and ttl",
    "ttl",
    { expire_time: "2090-01-01T00:00:00Z", ttl: "60s" },
    { ...jsonOnly, says: /beside .*expire_time/ },
  ),
  taken("ttl beside an expire_time that is null", { expire_time: null, ttl: "60s" }, jsonOnly),
  taken(
    "expire_time beside a ttl that is null",
    { expire_time: "2090-01-01T00:00:00Z", ttl: null },
    jsonOnly,
  ),

  ...["0001-01-01T00:00:00Z", "2016-03-05T09:30:00.123+01:00", "9999-12-31T23:59:59.999999999Z"].map(
    (event_time) => taken(`event_time ${event_time}`, { event_time }),
  ),
  taken("event_time beside an expiry", { event_time: "2016-03-05T09:30:00Z", ttl: "60s" }),
  // No calendar has the last two.
  ...[
    "0000-12-31T23:59:59Z",
    "2016-03-05",
    "10000-01-01T00:00:00Z",
    "2016-02-30T00:00:00Z",
    "2016-03-05T24:00:00Z",
  ].map((event_time) => refused(`event_time ${event_time}`, "event_time", { event_time }, jsonOnly)),
  taken("event_time in small letters", { event_time: "2016-03-05t09:30:00z" }, jsonOnly),
  // RFC 3339 can write both.
  ...["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"].map((event_time) =>
    refused(
      `event_time ${event_time}`,
      "event_time",
      { event_time },
      { ...jsonOnly, says: /from the year 1 to the year 9999/ },
    ),
  ),
  refused("event_time a number", "event_time", { event_time: 1_457_170_200 }, jsonOnly),

  taken("supersedes nothing", { supersedes: [] }),
  refused("supersedes 17", "supersedes", { supersedes: Array(17).fill(NOBODY) }, { says: /17 ids.*16/ }),
  refused("supersedes the same twice", "supersedes[1]", { supersedes: [NOBODY, NOBODY] }),
  refused("supersedes what is no id", "supersedes[1]", { supersedes: [NOBODY, "cat"] }),
  refused("supersedes a string", "supersedes", { supersedes: NOBODY }, { ...jsonOnly, says: /array/ }),
  refused("supersedes a list of numbers", "supersedes[0]", { supersedes: [5] }, jsonOnly),
  {
    ...refused("supersedes an unknown id", "supersedes[0]", { supersedes: [NOBODY] }),
    code: "not_found",
  },

  ...[0, 0.5, 1].map((above) => taken(`similar_above ${above}`, { similar_above: above })),
  ...[-0.1, 1.1].map((above) =>
    refused(`similar_above ${above}`, "similar_above", { similar_above: above }, { says: /from 0 to 1/ }),
  ),
  ...["ON_SIMILAR_UNSPECIFIED", "STORE", "KEEP", "SUPERSEDE"].map((action) =>
    // In a namespace of their own: they would supersede the memory with the external id.
    taken(`on_similar ${action}`, { namespace: "similar", on_similar: action, similar_above: 0.99 }),
  ),
  taken("on_similar STORE alone", { on_similar: "STORE" }),
  ...["KEEP", "SUPERSEDE"].flatMap((action) => [
    refused(`on_similar ${action} alone`, "on_similar", { on_similar: action }, { says: /similar_above/ }),
    refused(
      `on_similar ${action} beside external_id`,
      "on_similar",
      { on_similar: action, similar_above: 0.9, external_id: "similar" },
      { says: /external_id/ },
    ),
  ]),
  refused("on_similar 9", "on_similar", { on_similar: 9, similar_above: 0.9 }),
  refused("on_similar keep", "on_similar", { on_similar: "keep", similar_above: 0.9 }, jsonOnly),

  ...["ON_SECRET_UNSPECIFIED", "STORE", "REDACT", "REFUSE"].map((action) =>
    taken(`on_secret ${action}, where there is none`, { on_secret: action }),
  ),
  refused("on_secret 9", "on_secret", { on_secret: 9 }),
  refused("on_secret redact", "on_secret", { on_secret: "redact" }, jsonOnly),

  refused("similar_above a string", "similar_above", { similar_above: "0.5" }, jsonOnly),

  { name: "an update of an unknown id", rpc: "UpdateMemory", request: update({}), code: "not_found" },
  ...(
    [
      ["without anything", { text: undefined }, "update_mask"],
      ["of the id", { update_mask: "id" }, "update_mask"],
      ["of a key without a name", { update_mask: "metadata." }, "update_mask"],
      ["of a text that is missing", { text: undefined, update_mask: "text" }, "text"],
      ["with a blank text", { text: " " }, "text"],
      ["with a text too long", { text: "x".repeat(65_537) }, "text"],
      ["with metadata too long", { metadata: { a: "x".repeat(16_384) } }, "metadata"],
      ["with an id of another form", { id: "cat" }, "id"],
      ["of a part of a path", { text: undefined, update_mask: "event" }, "update_mask"],
      ["that expires in the past", { expire_time: "2001-01-01T00:00:00Z" }, "expire_time"],
    ] as const
  ).map(([what, request, field]): Scenario => {
    const asked = { rpc: "UpdateMemory", request: update(request) } as const;
    return { name: `an update ${what}`, ...asked, code: "invalid_argument", field };
  }),
  {
    name: "an update with a field that does not exist",
    rpc: "UpdateMemory",
    request: update({ txt: "a" }),
    code: "invalid_argument",
    field: "txt",
    jsonOnly: true,
  },
  {
    name: "include_superseded",
    rpc: "Recall",
    request: { query: "cat", namespace: "versions", include_superseded: true },
    code: "ok",
  },
];

/** Makes the rule of a single store one of a batch. */
function inBatch({ name, request, field, ...rest }: Scenario): Scenario[] {
  const { namespace, ...memory } = request as JsonObject;
  if (rest.rpc !== "Store" || "similar_above" in memory || "on_similar" in memory) return [];
  const batch = { namespace, memories: [memory] } as JsonValue;
  const named = field === undefined ? {} : { field: `memories[0].${field}` };
  return [{ ...rest, name: `a batch: ${name}`, rpc: "StoreBatch", request: batch, ...named }];
}

export const VERSION_SCENARIOS: readonly Scenario[] = [
  ...SINGLE,
  ...SINGLE.flatMap(inBatch),
  {
    name: "a batch: similar_above",
    rpc: "StoreBatch",
    request: { namespace: "versions", memories: [{ text: "a", similar_above: 0.5 }] },
    code: "invalid_argument",
    field: "memories[0].similar_above",
    jsonOnly: true,
  },
];
