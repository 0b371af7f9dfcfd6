import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { importFile } from "../../cli/import/import-memories.js";
import { Recalld, type RecalldError } from "../../clients/typescript/src/index.js";
import { MemoryService, Secrets_OnSecret } from "../../gen/recalld/v1/memory_pb.js";
import { refusedMemoryIn } from "../../web/src/transfer/import-file.js";
import { signUp } from "../support/caller.js";
import { connect, overHttp } from "../support/mcp.js";
import { type Outcome, type Protocol, protocolsOf } from "../support/protocols.js";
import { CARD, JWT } from "../support/secrets.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// The protocols' names are needed before the server's port is known.
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);
const NAMESPACE = "secrets";
const text = `Ana pays with ${CARD}.`;
const metadata = { login: { token: JWT } };
const CARD_FOUND = { kind: "card_number", field: "text", start: 14, end: 33 };
const JWT_FOUND = { kind: "jwt", field: "metadata.login.token", start: 0, end: JWT.length };
const REDACTED = { text: "Ana pays with [REDACTED].", metadata: { login: { token: "[REDACTED]" } } };

let plain: TestServer;
let strict: TestServer;
let key: string;
let strictKey: string;
beforeAll(async () => {
  [plain, strict] = await Promise.all([startServer(), startServer({ env: { ON_SECRET: "redact" } })]);
  ({ key } = await signUp(plain.url));
  strictKey = (await signUp(strict.url)).key;
});
afterAll(() => Promise.all([plain?.stop(), strict?.stop()]));

function expectNothingRepeated(outcome: unknown): void {
  const told = JSON.stringify(outcome);
  expect(told).not.toContain(CARD);
  expect(told).not.toContain(JWT);
}

describe.each(PROTOCOLS)("through %s", (name) => {
  const protocolAt = (url: string) => protocolsOf(url).find((each) => each.name === name) as Protocol;
  const call = (rpc: Parameters<Protocol["call"]>[0], request: Record<string, unknown>, header = {}) =>
    protocolAt(plain.url).call(rpc, { namespace: NAMESPACE, ...request } as never, { key, header });
  const used = async () => (await call("GetAccount", { namespace: undefined })).body.calls_used as number;
  const memoryOf = async ({ body }: Outcome) =>
    (await call("GetMemory", { id: body.id })).body.memory as Record<string, unknown>;

  it("stores what looks like a secret unless it is asked otherwise", async () => {
    for (const on_secret of [undefined, "ON_SECRET_UNSPECIFIED", "STORE"]) {
      const stored = await call("Store", { text, metadata, on_secret });
      expect(stored.body).not.toHaveProperty("redacted");
      expect(await memoryOf(stored)).toMatchObject({ text, metadata });
    }
  });

  it("redacts a store, and names what it took out, also in a replay", async () => {
    const header = { "idempotency-key": `secrets, ${name}` };
    const asked = { text, metadata, on_secret: "REDACT" };
    const first = await call("Store", asked, header);
    expect(first).toMatchObject({
      code: "ok",
      body: { redacted: { secrets: [CARD_FOUND, JWT_FOUND], count: 2 } },
    });
    expect(await memoryOf(first)).toMatchObject(REDACTED);
    const again = await call("Store", asked, header);
    expect(again.header.get("idempotent-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expectNothingRepeated(again);
    expect((await call("Store", { text: "Ana likes tea.", on_secret: "REDACT" })).body).not.toHaveProperty(
      "redacted",
    );
  });

  it("redacts memories of a batch, each as it asks", async () => {
    const memories = [
      { text, on_secret: "REDACT" },
      { text },
      { text: "Tea", metadata, on_secret: "REDACT" },
    ];
    const { body } = await call("StoreBatch", { memories });
    const [first, second, third] = (body.results as { stored: Record<string, unknown> }[]).map(
      ({ stored }) => stored,
    );
    expect(first).toMatchObject({ redacted: { secrets: [CARD_FOUND], count: 1 } });
    expect(second).not.toHaveProperty("redacted");
    expect(third).toMatchObject({ redacted: { secrets: [JWT_FOUND], count: 1 } });
  });

  it("redacts an update, of its text and of its metadata", async () => {
    const { id } = (await call("Store", { text: "Ana pays." })).body;
    const updated = await call("UpdateMemory", { id, text, metadata, on_secret: "REDACT" });
    expect(updated.body).toMatchObject({
      memory: REDACTED,
      redacted: { secrets: [CARD_FOUND, JWT_FOUND], count: 2 },
    });
    expectNothingRepeated(updated);
    const plainly = await call("UpdateMemory", { id, text: "Ana pays.", on_secret: "REDACT" });
    expect(plainly.body).not.toHaveProperty("redacted");
  });

  it("refuses, names kinds and places, and charges nothing", async () => {
    const { id } = (await call("Store", { text: "Ana pays." })).body;
    const before = await used();
    const field = { text: "text", metadata: "metadata" };
    const refusals = [
      { outcome: await call("Store", { text, on_secret: "REFUSE" }), field: field.text, found: [CARD_FOUND] },
      {
        outcome: await call("Store", { text: "Tea", metadata, on_secret: "REFUSE" }),
        field: field.metadata,
        found: [JWT_FOUND],
      },
      {
        outcome: await call("StoreBatch", { memories: [{ text: "Tea" }, { text, on_secret: "REFUSE" }] }),
        field: "memories[1].text",
        found: [CARD_FOUND],
      },
      {
        outcome: await call("UpdateMemory", { id, metadata, on_secret: "REFUSE" }),
        field: field.metadata,
        found: [JWT_FOUND],
      },
      {
        outcome: await call("Store", { text: "Tea", metadata: { [CARD]: 1 }, on_secret: "REDACT" }),
        ...{
          field: field.metadata,
          found: [{ kind: "card_number", field: "metadata.[REDACTED]", start: 0, end: 19 }],
        },
      },
    ];
    for (const { outcome, field, found } of refusals) {
      expect(outcome).toMatchObject({ code: "invalid_argument", fields: [field], reason: "SECRET_FOUND" });
      expect(outcome.message).toContain(field);
      expect(JSON.parse(outcome.metadata?.secrets ?? "")).toEqual(found);
      expect(outcome.metadata?.count).toBe("1");
      expectNothingRepeated(outcome);
    }
    expect(await used()).toBe(before);
  });

  it("refuses another action", async () => {
    for (const rpc of ["Store", "UpdateMemory"] as const) {
      const outcome = await call(rpc, {
        id: rpc === "Store" ? undefined : `mem_${"0".repeat(26)}`,
        text,
        on_secret: 9,
      });
      expect(outcome).toMatchObject({ code: "invalid_argument", fields: ["on_secret"] });
    }
  });

  it("does what the server is set to, unless a call says otherwise", async () => {
    const store = (request: object) =>
      protocolAt(strict.url).call("Store", { namespace: NAMESPACE, text, ...request } as never, {
        key: strictKey,
      });
    expect((await store({})).body).toMatchObject({ redacted: { count: 1 } });
    expect((await store({ on_secret: "STORE" })).body).not.toHaveProperty("redacted");
    expect(await store({ on_secret: "REFUSE" })).toMatchObject({ reason: "SECRET_FOUND" });
  });
});

it("redacts and refuses through the tools of MCP", async () => {
  const { call } = await connect(overHttp({ url: strict.url, key: strictKey }));
  const { data } = await call("memory_store", { text, metadata });
  expect(data.redacted).toEqual({ secrets: [CARD_FOUND, JWT_FOUND], count: 2 });
  const listed = await call("memory_list", { ids: [data.id] });
  expect(listed.data.memories).toMatchObject([REDACTED]);
  const updated = await call("memory_update", { id: data.id, text });
  expect(updated.data.redacted).toEqual({ secrets: [CARD_FOUND], count: 1 });
  for (const tool of ["memory_store", "memory_update"]) {
    const refused = await call(tool, {
      ...(tool === "memory_update" && { id: data.id }),
      text,
      on_secret: "REFUSE",
    });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain("Store it without the secret.");
    expectNothingRepeated([updated, refused]);
  }
});

it("tells an import in the browser which memory of a batch it must leave out", async () => {
  const transport = createConnectTransport({ baseUrl: plain.url, httpVersion: "1.1" });
  const client = createClient(MemoryService, transport);
  const memories = [{ text: "Ana likes tea." }, { text, onSecret: Secrets_OnSecret.REFUSE }];
  const headers = { authorization: `Bearer ${key}` };
  const error = await client
    .storeBatch({ namespace: NAMESPACE, memories }, { headers })
    .catch((reason) => reason);
  const message = expect.stringContaining("memories[1].text has what looks like a secret");
  expect(refusedMemoryIn(error)).toEqual({ index: 1, message });
  const other = await client.storeBatch({ namespace: "", memories }, { headers }).catch((reason) => reason);
  expect(refusedMemoryIn(other)).toBeUndefined();
});

it("memory_store keeps or supersedes a similar memory", async () => {
  const { call } = await connect(overHttp({ url: plain.url, key }));
  const asked = { text: "Ana is allergic to peanuts.", namespace: "similar" };
  const first = await call("memory_store", asked);
  const same = { ...asked, text: "Ana has a peanut allergy." };
  const kept = await call("memory_store", { ...same, on_similar: "KEEP" });
  expect(kept.data).toEqual({
    id: first.data.id,
    namespace: "similar",
    note: expect.stringContaining("was there"),
  });
  const next = await call("memory_store", { ...same, on_similar: "SUPERSEDE" });
  expect(next.data).toEqual({ id: next.data.id, namespace: "similar" });
  const listed = await call("memory_list", { namespace: "similar" });
  expect(listed.data.memories).toMatchObject([{ id: next.data.id }]);
});

it("the client and an import redact, or refuse one memory and go on", async () => {
  const server = new Recalld({ baseUrl: plain.url, apiKey: key });
  const { redacted } = await server.store({ namespace: NAMESPACE, text, onSecret: "REDACT" });
  expect(redacted).toEqual({ secrets: [CARD_FOUND], count: 1 });
  const refused = server.store({ namespace: NAMESPACE, text, onSecret: "REFUSE" });
  await expect(refused).rejects.toMatchObject({
    code: "invalid_argument",
    reason: "SECRET_FOUND",
  } satisfies Partial<RecalldError>);
  const file = join(newDataDir(), "memories.jsonl");
  writeFileSync(
    file,
    [text, "Ana likes tea."].map((each, id) => `${JSON.stringify({ id: `${id}`, text: each })}\n`).join(""),
  );
  const request = { file, from: "jsonl", server, show: () => {} };
  const report = await importFile({ ...request, namespace: "refused", onSecret: "REFUSE" });
  expect(report).toMatchObject({ stored: 1, refused: 1 });
  expectNothingRepeated(report);
  expect(await importFile({ ...request, namespace: "redacted", onSecret: "REDACT" })).toMatchObject({
    stored: 2,
  });
  const texts: string[] = [];
  for await (const memory of server.memories({ namespace: "redacted" })) texts.push(memory.text);
  expect(texts.sort()).toEqual(["Ana likes tea.", REDACTED.text]);
});

it("no line of the log and no record of a call has what was redacted or refused", async () => {
  expectNothingRepeated(plain.output());
  const { body } = await (protocolsOf(plain.url)[0] as Protocol).call("ListRecentCalls", {}, { key });
  expect(JSON.stringify(body)).toContain("text has what looks like a secret: card_number");
  expectNothingRepeated(body);
});
