import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { closeContexts, NO_CHROMIUM, openBrowser } from "../browser/visitor.js";
import { ROOT } from "../support/documents.js";
import { startServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

type Client = typeof import("../../clients/typescript/src/index.js");

/** A page of another origin than the server's. */
const PAGE = `<!doctype html><script type="module">
import * as client from "/index.js";
globalThis.client = client;
</script>`;
const built = mkdtempSync(join(tmpdir(), "recalld-client-"));

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the client in a browser", () => {
  let server: TestServer;
  let page: Server;
  let browser: Browser;

  beforeAll(async () => {
    const args = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", join(ROOT, "clients/typescript")];
    const { status, stdout } = spawnSync(process.execPath, [...args, "--outDir", built], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stdout);
    page = createServer(({ url = "/" }, response) => {
      const isCode = url.endsWith(".js");
      response.setHeader("content-type", isCode ? "text/javascript" : "text/html");
      response.end(isCode ? readFileSync(join(built, url)) : PAGE);
    });
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    server = await startServer({ env: { CORS_ORIGINS: originOf(page) } });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await closeContexts(browser);
    page?.close();
    await server?.stop();
    rmSync(built, { recursive: true, force: true });
  });

  test("stores, lists, watches and reads errors from a page of another origin", async () => {
    const tab = await browser.newPage();
    await tab.goto(`${originOf(page)}/`);
    const found = await tab.evaluate(work, { apiKey: await signUp(server.url), baseUrl: server.url });
    expect(found).toEqual({
      texts: ["Ana plays the piano."],
      told: ["heartbeat", "stored"],
      requestId: "mine",
      code: "invalid_argument",
      field: "topK",
      named: true,
    });
  });
});

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs in the page. */
async function work({ apiKey, baseUrl }: { apiKey: string; baseUrl: string }) {
  const { Recalld, RecalldError } = (globalThis as unknown as { client: Client }).client;
  const recalld = new Recalld({ apiKey, baseUrl });
  const namespace = "page";
  const told: string[] = [];
  let requestId = "";
  for await (const { type } of recalld.watch({ namespace })) {
    told.push(type);
    if (type === "stored") break;
    const stored = await recalld.store({ namespace, text: "Ana plays the piano." }, { requestId: "mine" });
    requestId = stored.requestId;
  }
  const texts: string[] = [];
  for await (const { text } of recalld.memories({ namespace })) texts.push(text);
  const error = await recalld.recall({ namespace, query: "?", topK: 21 }).catch((thrown: unknown) => thrown);
  if (!(error instanceof RecalldError)) throw error;
  return {
    texts,
    told,
    requestId,
    code: error.code,
    field: error.field,
    named: error.requestId !== undefined,
  };
}
