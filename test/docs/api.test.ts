import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { KEYS_MAX } from "../../src/accounts/account.js";
import { CALLS_PAGE_DEFAULT, CALLS_PAGE_MAX, SHARES_MAX } from "../../src/accounts/calls/read-calls.js";
import { GRACE_SECONDS_MAX, KEY_NAME_BYTES_MAX } from "../../src/accounts/keys.js";
import { EMAIL_BYTES_MAX } from "../../src/accounts/sign-up.js";
import { USAGE_DAYS_MAX } from "../../src/accounts/usage.js";
import { count } from "../../src/errors.js";
import { IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_TTL_MS } from "../../src/memory/idempotency/idempotency.js";
import { BATCH_MAX } from "../../src/memory/operations/store-batch.js";
import { STREAM_LIMITS } from "../../src/memory/operations/stream/open-streams.js";
import { HEARTBEAT_MS } from "../../src/memory/operations/stream/watch.js";
import { IDS_MAX } from "../../src/memory/requests/id.js";
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX } from "../../src/memory/requests/metadata.js";
import { NAMESPACE_BYTES_MAX } from "../../src/memory/requests/namespace.js";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../../src/memory/requests/page.js";
import { TOP_K_DEFAULT, TOP_K_MAX } from "../../src/memory/requests/recall-options.js";
import { TEXT_BYTES_MAX } from "../../src/memory/requests/text.js";
import { BATCH_BODY_BYTES_MAX, BODY_BYTES_MAX } from "../../src/server/rpc/service.js";
import { items, quoted, read, section, unquoted } from "../support/documents.js";

describe("docs/api.md", () => {
  const calls = new Map(
    items(section("docs/api.md", "## Calls")).map(([rpc, , path]) => [rpc, unquoted(path)]),
  );
  const methods = [MemoryService, AccountService].flatMap((service) =>
    service.methods.map((method) => ({ name: `${service.name}/${method.name}`, method })),
  );
  const proto = read("proto/recalld/v1/memory.proto") + read("proto/recalld/v1/account.proto");

  test("lists every RPC, and no other", () => {
    expect([...calls.keys()]).toEqual(methods.map(({ name }) => name));
  });

  test("gives each RPC the plain path that the contract names", () => {
    const served = [...proto.matchAll(/Also served as\s+(?:\/\/ )?`(\w+ [^`]+)`[^;]*?rpc (\w+)/g)];
    expect(served.length).toBeGreaterThan(5);
    const named = new Map(served.map(([, path, rpc]) => [rpc as string, path as string]));
    for (const { name, method } of methods) expect(calls.get(name)).toBe(named.get(method.name) ?? "–");
  });

  test.each(methods)("tells every field of $name", ({ method }) => {
    const prose = section("docs/api.md", `## ${method.name}`).replace(/^```.*?^```$/gms, "");
    const told = new Set(quoted(prose).map((word) => word.replace(/^.*\[\]\./, "")));
    const fields = [...method.input.fields, ...method.output.fields].map(({ name }) => name);
    expect(fields.filter((name) => !told.has(name))).toEqual([]);
  });

  test("tells every field of what answers are made of", () => {
    const prose = read("docs/api.md").replace(/^```.*?^```$/gms, "");
    const told = new Set(quoted(prose).map((word) => word.replace(/^.*\[\]\./, "")));
    const parts = (message: DescMessage): DescMessage[] =>
      message.fields.flatMap(({ message: part }) =>
        part?.file.proto.package === "recalld.v1" ? [part] : [],
      );
    const fields = methods.flatMap(({ method }) => parts(method.output)).flatMap(({ fields }) => fields);
    expect(fields.map(({ name }) => name).filter((name) => !told.has(name))).toEqual([]);
  });

  const { watch, export: exported } = STREAM_LIMITS;
  const limits: [heading: string, said: string][] = [
    ["## JSON", `${count(BODY_BYTES_MAX)} bytes`],
    ["## Store", `at most ${count(TEXT_BYTES_MAX)} bytes`],
    ["## Store", `1 to ${NAMESPACE_BYTES_MAX} bytes`],
    ["## Store", `${count(METADATA_BYTES_MAX)} bytes as JSON, ${METADATA_DEPTH_MAX} levels deep`],
    [
      "## Headers",
      `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters, kept for ${IDEMPOTENCY_TTL_MS / 3_600_000} hours`,
    ],
    ["## Recall", `1 to ${TOP_K_MAX}, ${TOP_K_DEFAULT} when left out`],
    ["## ListMemories", `1 to ${PAGE_SIZE_MAX}, ${PAGE_SIZE_DEFAULT} when left out`],
    ["## ListNamespaces", `1 to ${PAGE_SIZE_MAX}, ${PAGE_SIZE_DEFAULT} when left out`],
    ["## StoreBatch", `1 to ${BATCH_MAX}`],
    ["## StoreBatch", `${count(BATCH_BODY_BYTES_MAX)} bytes`],
    ["## GetMemories", `1 to ${IDS_MAX}`],
    ["## DeleteMemories", `1 to ${IDS_MAX}`],
    ["## ListNamespaces", `at most ${NAMESPACE_BYTES_MAX} bytes`],
    ["## WatchNamespace", `An account may have ${watch.perAccount} watches open`],
    ["## WatchNamespace", `for ${HEARTBEAT_MS / 1000} seconds`],
    ["## ExportMemories", `An account may have ${exported.perAccount} open`],
    ["## SignUp", `at most ${EMAIL_BYTES_MAX} bytes`],
    ["## GetUsage", `1 to ${USAGE_DAYS_MAX}`],
    ["## GetUsage", `up to ${SHARES_MAX}`],
    ["## ListRecentCalls", `1 to ${CALLS_PAGE_MAX}, ${CALLS_PAGE_DEFAULT} when left out`],
    ["## CreateKey", `at most ${KEY_NAME_BYTES_MAX} bytes`],
    ["## CreateKey", `0 to ${count(GRACE_SECONDS_MAX)}`],
    ["## CreateKey", `at most ${KEYS_MAX} keys`],
  ];
  test.each(limits)("%s says: %s", (heading, said) => {
    expect(section("docs/api.md", heading)).toContain(said);
  });
});
