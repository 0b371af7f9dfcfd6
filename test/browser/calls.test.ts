import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  signInWith,
  visit,
} from "./visitor.js";

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "calls and usage in the portal", () => {
  let server: TestServer;
  let browser: Browser;
  let page: Page;
  let caller: Caller;
  let faults: readonly string[];

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    caller = await signUp(server.url);
    ({ page, faults } = await openVisitor(browser, server.url));
    await signInWith(page, server.url, caller.key);
  });
  afterAll(async () => {
    await closeContexts(browser);
  });

  const choice = (name: string) => page.getByRole("combobox", { name, exact: true });
  const row = (text: string) => page.locator("tbody tr").filter({ hasText: text });

  it("lists the calls with their outcome, time and key, and no text", async () => {
    const { body } = await caller.call("POST /recalld.v1.AccountService/CreateKey", {
      body: { name: "agent" },
    });
    await fetch(`${server.url}/store`, {
      method: "POST",
      headers: { authorization: `Bearer ${body.api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "Ada has a secret.", namespace: "home" }),
    });
    await visit(page, server.url, "calls");
    await page.getByRole("heading", { name: "Calls" }).waitFor();
    const stored = row("Store");
    await stored.getByText("agent").waitFor();
    expect(await stored.textContent()).toMatch(
      /^StoreHTTP · homeok\w{3} \d+, \d\d:\d\d:\d\d[\d.]+\u00a0msagent/,
    );
    expect(await page.locator("main").textContent()).not.toContain("secret");
  });

  it("chooses by outcome, call and key, and shows an error's message and what came since by Refresh", async () => {
    await choice("Outcome").selectOption("errors only");
    await page.getByText("No call has failed").waitFor();
    await caller.call(`GET ${caller.pathOf("home", "mem_none")}`);
    await caller.call("POST /recalld.v1.AccountService/CreateKey", { body: { name: "newest" } });
    await page.getByRole("button", { name: "Refresh" }).click();
    const failed = row("GetMemory");
    await failed.getByText("invalid_argument").waitFor();
    await failed.getByText("id is not of the form").waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await choice("Outcome").selectOption("all");
    await choice("Call").selectOption("Store");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await choice("Key").selectOption("first key");
    await page.getByText("None of these calls is of this kind.").waitFor();
    expect(page.url()).toMatch(/#\/calls\?call=Store&key=key_\w+$/);
    await choice("Key").selectOption("agent");
    await row("Store").waitFor();
    await choice("Key").selectOption("newest");
    await choice("Key").selectOption("all");
    await choice("Namespace").fill("nowhere");
    await choice("Namespace").press("Enter");
    await page.getByText("None of these calls is of this kind.").waitFor();
    await choice("Namespace").fill("home");
    await choice("Namespace").press("Enter");
    await row("Store").waitFor();
    expect(page.url()).toMatch(/#\/calls\?call=Store&namespace=home$/);
    await choice("Namespace").fill("");
    await choice("Call").selectOption("all");
  });

  it("tells keys of one name apart, and says of no other call that none has failed", async () => {
    await caller.call("POST /recalld.v1.AccountService/CreateKey", { body: { name: "agent" } });
    await visit(page, server.url, "calls?code=errors&call=Store");
    await page.getByText("None of these calls is of this kind.").waitFor();
    expect(await page.getByText("No call has failed").count()).toBe(0);
    await page.getByRole("button", { name: "Refresh" }).click();
    const agents = choice("Key").locator("option", { hasText: /^agent \(rcl_\w+…\)$/ });
    await expect.poll(() => agents.count()).toBe(2);
    await visit(page, server.url, "calls");
  });

  it("lists calls of one moment and request id once each, also after Refresh", async () => {
    const header = { "x-request-id": "one-turn" };
    await Promise.all(Array.from({ length: 20 }, () => caller.call("GET /account", { header })));
    await page.getByRole("button", { name: "Refresh" }).click();
    const rows = row("one-turn");
    await expect.poll(() => rows.count()).toBe(20);
    await caller.call("GET /namespaces");
    await page.getByRole("button", { name: "Refresh" }).click();
    await row("ListNamespaces").waitFor();
    expect(await rows.count()).toBe(20);
  });

  it("breaks no key's name and no request id, on a phone and on a tablet", async () => {
    for (const width of [390, 768, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const heights = await page
        .locator(".call-ids > *")
        .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
      expect(Math.max(...heights), String(width)).toBeLessThan(30);
      expect(Math.min(...heights), String(width)).toBeGreaterThan(8);
    }
  });

  it("shows more, page by page", async () => {
    for (let i = 0; i < 110; i++) await caller.call("GET /usage");
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBe(100);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => page.locator("tbody tr").count()).toBeGreaterThan(110);
    // What is chosen is sought beyond the first page.
    await page.reload();
    await choice("Call").selectOption("GetUsage");
    await page.evaluate("location.hash = '#/calls?call=Store'");
    await row("Store").waitFor();
  });

  it("says which keys and namespaces use the plan", async () => {
    await caller.store({ text: "The standup is at ten.", namespace: "work" });
    await visit(page, server.url, "usage");
    await page.reload();
    const ofKeys = page.getByRole("group", { name: "Usage by key" });
    await ofKeys.getByText("agent").waitFor();
    await ofKeys.getByText("first key").waitFor();
    const ofNamespaces = page.getByRole("group", { name: "Usage by namespace" });
    await ofNamespaces.getByRole("link", { name: "work" }).waitFor();
    await ofNamespaces.getByRole("link", { name: "home" }).click();
    await page.getByRole("button", { name: "Ada has a secret." }).waitFor();
  });

  it("reports no fault to the console", () => {
    expect(faults).toEqual([]);
  });
});
