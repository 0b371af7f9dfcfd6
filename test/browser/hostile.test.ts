import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { callerAt } from "../support/caller.js";
import { sharedServer, startServer, type TestServer } from "../support/server.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  settle,
  signInWith,
  visit,
} from "./visitor.js";

const MARKUP = [
  "<img src=x onerror=window.hurt=1>",
  "<svg onload=window.hurt=1>",
  '"><script>window.hurt=1</script>',
  "javascript:window.hurt=1",
  "{{constructor.constructor('window.hurt=1')()}}",
];
const NAMESPACE = MARKUP[0] as string;
const EMAIL = "<img/src=x/onerror=window.hurt=1>@example.com";

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the portal and hostile texts", () => {
  let server: TestServer;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    key = await fill(server.url);
  }, 60_000);
  afterAll(async () => {
    await closeContexts(browser);
  });

  it("shows markup in text, metadata, namespace, key name and email as text, everywhere", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, key);
    const ns = encodeURIComponent(NAMESPACE);
    const places = {
      account: EMAIL,
      keys: MARKUP[3],
      memories: NAMESPACE,
      [`memories/${ns}`]: MARKUP[2],
      [`playground/${ns}`]: "",
    };
    for (const [hash, text] of Object.entries(places)) {
      await visit(page, server.url, hash);
      expect(await page.locator("main").textContent(), hash).toContain(text);
      expect(await page.evaluate("window.hurt"), hash).toBeUndefined();
    }
    await visit(page, server.url, `playground/${ns}`);
    await page.getByLabel("Question").fill(MARKUP[1] as string);
    await page.getByRole("button", { name: "Recall", exact: true }).click();
    await page.locator(".result-text").first().click();
    await page.getByRole("heading", { name: "Metadata" }).waitFor();
    expect(await page.locator(".json").textContent()).toContain("onerror");
    await visit(page, server.url, "keys");
    await page.getByRole("button", { name: "Revoke <img" }).click();
    await page.getByText("stop working immediately").waitFor();
    expect(await page.locator("main img, main script, dialog img, dialog script").count()).toBe(0);
    expect(await page.evaluate("window.hurt")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it("copies on plain http, where browsers have no clipboard, by selecting", async () => {
    const { page } = await openVisitor(browser, server.url);
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await visit(page, server.url, "");
    await page.getByRole("button", { name: "Create my key" }).click();
    await page.getByRole("button", { name: "Copy key" }).click();
    await page.getByText("Press Ctrl+C to copy").waitFor();
    const made = await page.getByLabel("Your API key").inputValue();
    const selected =
      "document.activeElement.value.slice(...['Start', 'End'].map((end) => document.activeElement['selection' + end]))";
    expect(await page.evaluate(selected)).toBe(made);
    await page.getByRole("button", { name: "Copy curl sample" }).click();
    expect(await page.evaluate("getSelection().toString()")).toContain(made);
  });

  it("says kindly that a key is wrong, and explains when one stops working", async () => {
    const { page } = await openVisitor(browser, server.url);
    await visit(page, server.url, "");
    await page.getByLabel("API key").fill("rcl_not-a-key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The key was not accepted").waitFor();
    const { apiKey } = await createClient(AccountService, transportTo(server.url)).createKey(
      { name: "short-lived" },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await signInWith(page, server.url, apiKey);
    const { keys } = await createClient(AccountService, transportTo(server.url)).listKeys(
      {},
      { headers: { authorization: `Bearer ${key}` } },
    );
    const id = keys.find(({ name }) => name === "short-lived")?.id ?? "";
    await createClient(AccountService, transportTo(server.url)).revokeKey(
      { id },
      { headers: { authorization: `Bearer ${key}` } },
    );
    // The page may have noticed by itself, and then has no links any more.
    await page.evaluate("location.hash = '#/keys'");
    await page.getByText("its key no longer works").waitFor();
  });

  it("says kindly that the quota is used up, and warns before", async () => {
    const small = await startServer({ env: { FREE_CALLS: "5" } });
    try {
      const { page } = await openVisitor(browser, small.url);
      await visit(page, small.url, "");
      await page.getByRole("button", { name: "Create my key" }).click();
      await page.getByLabel("I have saved it").check();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("link", { name: "Playground" }).first().click();
      await page.getByLabel("Question").fill("Anything?");
      for (let left = 4; left >= 0; left -= 1) {
        await page.getByRole("button", { name: "Recall", exact: true }).click();
        await page.getByText(`${left} ${left === 1 ? "call" : "calls"} left`).waitFor();
        if (left !== 1) continue;
        await page.getByRole("link", { name: "Usage" }).click();
        await page.getByText("1 call is left").waitFor();
        await page.getByRole("link", { name: "Playground" }).click();
        await page.getByLabel("Question").fill("Anything?");
      }
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await page.getByText("All calls of this plan are used").waitFor();
      // What can be offered then: the way to more, and to what is stored.
      await page.getByText(/ask those who run this server.*acc_/).waitFor();
      await page.getByRole("button", { name: "Copy account" }).waitFor();
      await page.getByRole("link", { name: "read, export and delete them" }).waitFor();
      await page.getByRole("link", { name: "Usage" }).click();
      await page.getByText("Your memories are safe").waitFor();
      await settle(page);
    } finally {
      await small.stop();
    }
  }, 60_000);
});

async function fill(url: string): Promise<string> {
  const client = createClient(AccountService, transportTo(url));
  const { accountId: id, apiKey } = await client.signUp({
    email: EMAIL,
  });
  const headers = { authorization: `Bearer ${apiKey}` };
  for (const name of MARKUP) await client.createKey({ name: name.slice(0, 64) }, { headers });
  const caller = callerAt(url, { id, key: apiKey });
  for (const text of MARKUP) {
    const { code, message } = await caller.store({
      text,
      namespace: NAMESPACE,
      metadata: { [NAMESPACE]: MARKUP, __proto: text },
    });
    if (code !== "ok") throw new Error(message);
  }
  return apiKey;
}

function transportTo(url: string) {
  return createConnectTransport({ baseUrl: url, httpVersion: "1.1" });
}
