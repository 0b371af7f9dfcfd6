import { getOption, hasOption } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { field as rulesOf } from "../../gen/buf/validate/validate_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { GRACE_SECONDS_MAX, KEY_NAME_BYTES_MAX } from "../../src/accounts/keys.js";
import { EMAIL_BYTES_MAX } from "../../src/accounts/sign-up.js";
import { USAGE_DAYS_MAX } from "../../src/accounts/usage.js";
import { QUERIES_MAX } from "../../src/memory/operations/recall/question.js";
import { BATCH_MAX } from "../../src/memory/operations/store-batch.js";
import { REMOVED_MAX } from "../../src/memory/requests/filter-path.js";
import { IDS_MAX } from "../../src/memory/requests/id.js";
import {
  ALSO_IN_MAX,
  EXTERNAL_ID_BYTES_MAX,
  NAMESPACE_BYTES_MAX,
} from "../../src/memory/requests/namespace.js";
import { PAGE_SIZE_MAX } from "../../src/memory/requests/page.js";
import { TOP_K_CEILING } from "../../src/memory/requests/recall-options.js";
import { TEXT_BYTES_MAX } from "../../src/memory/requests/text.js";

/** Rules of the domain and the accounts for each field, by name, which are the same in every request. */
const HELD: Readonly<Record<string, object>> = {
  text: { required: true, bytesMax: TEXT_BYTES_MAX },
  // Others may take its place.
  query: { bytesMax: TEXT_BYTES_MAX },
  queries: { itemsMax: QUERIES_MAX },
  also_in: { itemsMax: ALSO_IN_MAX },
  namespace: { required: true, bytesMax: NAMESPACE_BYTES_MAX },
  // A server's own limit is lower, unless its operator raises it.
  top_k: { from: 1, to: TOP_K_CEILING },
  max_tokens: { from: 1 },
  min_score: { from: 0, to: 1 },
  min_fit: { from: 0, to: 1.5 },
  page_size: { from: 1, to: PAGE_SIZE_MAX },
  id: { required: true },
  ids: { required: true, itemsMax: IDS_MAX },
  memories: { required: true, itemsMax: BATCH_MAX },
  // A filter may take the place of ids.
  "DeleteMemoriesRequest.ids": { itemsMax: IDS_MAX },
  "UpdateMemoriesRequest.ids": { itemsMax: IDS_MAX },
  remove: { itemsMax: REMOVED_MAX },
  // An empty one would delete all namespaces.
  "DeleteNamespacesRequest.prefix": { required: true, bytesMax: NAMESPACE_BYTES_MAX },
  prefix: { bytesMax: NAMESPACE_BYTES_MAX },
  email: { bytesMax: EMAIL_BYTES_MAX },
  name: { bytesMax: KEY_NAME_BYTES_MAX },
  grace_seconds: { from: 0, to: GRACE_SECONDS_MAX },
  account_id: { required: true },
  external_id: { bytesMax: EXTERNAL_ID_BYTES_MAX },
  days: { from: 1, to: USAGE_DAYS_MAX },
  // An update without a text leaves it as it is.
  "UpdateMemoryRequest.text": { bytesMax: TEXT_BYTES_MAX },
  // A list of calls may be of all namespaces.
  "ListRecentCallsRequest.namespace": { bytesMax: NAMESPACE_BYTES_MAX },
  // The scope of a new key is optional.
  "CreateKeyRequest.namespace": { bytesMax: NAMESPACE_BYTES_MAX },
};

const requests = [MemoryService, AccountService].flatMap(({ methods }) => methods.map(({ input }) => input));

describe("the rules in the contract are those that the code holds", () => {
  const ruled = requests.flatMap(({ name: message, fields }) =>
    fields
      .filter((field) => hasOption(field, rulesOf))
      .map((field) => ({ name: `${message}.${field.name}`, rules: getOption(field, rulesOf) })),
  );

  test.each(ruled)("$name", ({ name, rules: { required, type } }) => {
    const held = HELD[name] ?? HELD[name.split(".")[1] as string];
    const said = {
      ...(required && { required }),
      ...(type.case === "repeated" && { itemsMax: Number(type.value.maxItems) }),
      ...(type.case === "string" && { bytesMax: Number(type.value.maxBytes) }),
      ...((type.case === "int32" || type.case === "double") && {
        from: type.value.greaterThan.value,
        to: type.value.lessThan.value,
      }),
    };
    expect(said).toEqual(held);
  });

  test("no field of a request that the code holds to one lacks it", () => {
    const all = requests.flatMap(({ name, fields }) => fields.map((field) => `${name}.${field.name}`));
    const named = all.filter((name) => (HELD[name] ?? HELD[name.split(".")[1] as string]) !== undefined);
    expect(ruled.map(({ name }) => name)).toEqual(named);
  });
});
