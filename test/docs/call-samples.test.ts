import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { Recalld } from "../../clients/typescript/src/client.js";
import { openapi } from "../../gen/openapi.js";
import { type Call, groupsOf } from "../../web/src/reference/calls.js";
import type { Document } from "../../web/src/reference/openapi.js";
import { samplesOf } from "../../web/src/reference/samples.js";
import { type Caller, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Programs start here for each sample, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const run = promisify(execFile);
const missing = ["bash", "curl", "python3"].filter((name) => spawnSync(name, ["--version"]).status !== 0);
/** The account is closed last. */
const CALLS = groupsOf(openapi as Document)
  .flatMap(([, calls]) => calls)
  .sort((a, b) => Number(a.name === "CloseAccount") - Number(b.name === "CloseAccount"));
const TIMEOUT_MS = 5_000;

describe("the samples of the reference", () => {
  let server: TestServer;
  let caller: Caller;

  beforeAll(async () => {
    server = await sharedServer();
    caller = await signUp(server.url);
  });

  test("of TypeScript install the client that the server has", () => {
    const needs = CALLS.map((call) => samplesOf(call, { url: "https://a.example/x", key: "" })[1]?.needs);
    expect(new Set(needs)).toEqual(
      new Set([
        "npm install 'https://a.example/x/recalld-client.tgz'",
        "This sample is plain HTTP, and needs no package.",
      ]),
    );
  });

  /** Returns a sample with ids that there are in place of those of the document's examples. */
  async function sampleOf(call: Call, language: string): Promise<string> {
    const { body: stored } = await caller.store({ namespace: "pets", text: "The dog barks." });
    const { body: made } = await caller.call("POST /recalld.v1.AccountService/CreateKey", { body: {} });
    const { body: account } = await caller.call("POST /recalld.v1.AccountService/GetAccount", { body: {} });
    const found = samplesOf(call, { url: server.url, key: caller.key }).find(({ name }) => name === language);
    return (found?.code ?? "")
      .replace(/mem_01kafz\w+/g, String(stored.id))
      .replace(/key_01kafz\w+/g, String((made.key as { id: string }).id))
      .replace(/acc_01kafz\w+/g, String(account.account_id));
  }

  async function reopen(call: Call): Promise<void> {
    if (call.name === "CloseAccount") caller = await signUp(server.url);
  }

  test.skipIf(missing.length > 0).each(CALLS)("$name works in curl", async (call) => {
    const sample = await sampleOf(call, "curl");
    // A watch never ends by itself, and says at once that it lives.
    const script = call.name === "WatchNamespace" ? `${sample} --max-time 1 || true` : `${sample} --fail`;
    const { stdout } = await run("bash", ["-c", script], { timeout: TIMEOUT_MS });
    expect(stdout).toMatch(call.name === "WatchNamespace" ? /^(event|id|:)/ : /^\{/);
    await reopen(call);
  });

  test.each(CALLS)("$name works in TypeScript", async (call) => {
    const code = (await sampleOf(call, "TypeScript")).replace(/^import .*$/m, "");
    const said: unknown[] = [];
    const AsyncFunction = (async () => {}).constructor as new (
      ...names: string[]
    ) => (...values: unknown[]) => Promise<void>;
    await new AsyncFunction("Recalld", "console", code)(Recalld, {
      log: (...values: unknown[]) => said.push(...values),
    });
    if (typeof said[0] === "number") expect(said[0]).toBe(200);
    else expect(said[0]).toBeTypeOf("object");
    await reopen(call);
  });

  const plain = CALLS.filter(
    (call) => !samplesOf(call, { url: "", key: "" })[2]?.code.includes("recalld import"),
  );
  test.skipIf(missing.length > 0).each(plain)("$name works in Python without the client", async (call) => {
    const { stdout } = await run("python3", ["-c", await sampleOf(call, "Python")], { timeout: TIMEOUT_MS });
    expect(stdout).toMatch(/^\{/);
    await reopen(call);
  });
});
