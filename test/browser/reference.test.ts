import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openapi } from "../../gen/openapi.js";
import { groupsOf } from "../../web/src/reference/calls.js";
import type { Document } from "../../web/src/reference/openapi.js";
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

const CALLS = groupsOf(openapi as Document).flatMap(([, calls]) => calls);

/** Colours are the same on all pages of calls, and looking at colours takes most of the time. */
const OPTIONS = { rules: { "color-contrast": { enabled: false } }, resultTypes: ["violations"] };
const VIOLATIONS = `axe.run("main", ${JSON.stringify(OPTIONS)}).then(({ violations }) => violations.map(({ id }) => id))`;

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the API reference", () => {
  let server: TestServer;
  let browser: Browser;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    caller = await signUp(server.url);
  });
  afterAll(async () => {
    await closeContexts(browser);
  });

  async function open(name: string) {
    const visitor = await openVisitor(browser, server.url);
    await signInWith(visitor.page, server.url, caller.key);
    await visit(visitor.page, server.url, `reference/${name}`);
    return { ...visitor, done: () => visitor.page.context().close() };
  }

  it("leads from its index to every call, and says when there is no such call", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await visit(page, server.url, "reference");
    const names = await page.locator(".reference-calls a").allTextContents();
    expect(names).toEqual(CALLS.map(({ name }) => name));
    await page.getByRole("main").getByRole("link", { name: "Recall", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Recall" }).waitFor();
    expect(page.url()).toBe(`${server.url}/#/reference/Recall`);
    await page.getByRole("link", { name: "All calls" }).click();
    await page.getByRole("heading", { level: 1, name: "API reference" }).waitFor();
    await visit(page, server.url, "reference/Recal");
    await page.getByRole("link", { name: "all calls", exact: true }).waitFor();
    await visit(page, server.url, "docs");
    await page.getByRole("heading", { level: 1, name: "API reference" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("has a page for every call, with samples in three languages, that helpers can read", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await visit(page, server.url, "reference");
    await page.evaluate(axe.source);
    for (const { name, path } of CALLS) {
      await page.evaluate(`location.hash = "#/reference/${name}"`);
      await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
      expect(await page.locator(".method-and-path").textContent(), name).toContain(path);
      expect(await page.getByRole("tab").allTextContents(), name).toEqual(["curl", "TypeScript", "Python"]);
      expect(await page.evaluate(VIOLATIONS), name).toEqual([]);
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("stores once for an Idempotency-Key, however often one sends, and again with a new one", async () => {
    const { page, faults, done } = await open("Store");
    const send = async () => {
      const answered = page.waitForResponse((response) => response.url() === `${server.url}/store`);
      await page.getByRole("button", { name: "Send" }).click();
      return String((await (await answered).json()).id);
    };
    const first = await send();
    await page.getByText(/^200 in \d+ ms$/).waitFor();
    expect(await send()).toBe(first);
    await page.getByText("replayed: the same was sent before").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    expect(await send()).not.toBe(first);
    expect(faults).toEqual([]);
    await done();
  });

  it("asks before it sends what destroys, and for a name when much is lost", async () => {
    await caller.store({ text: "Ada lives in Lisbon.", namespace: "home" });
    const { page, faults, done } = await open("DeleteNamespace");
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "DELETE" && sent.push(request.url()));
    await page.getByLabel("namespace").fill("home");
    await page.getByLabel("force").fill("true");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Send DeleteNamespace?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(sent).toEqual([]);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    expect(await dialog.getByRole("button", { name: "Send DeleteNamespace" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("DeleteNamespace");
    await dialog.getByRole("button", { name: "Send DeleteNamespace" }).click();
    await page.getByText(/^200 in \d+ ms$/).waitFor();
    expect(sent).toEqual([`${server.url}/namespaces/home?force=true`]);
    expect(faults).toEqual([]);
    await done();
  });

  it("shows samples with what stands for the key, which no page keeps", async () => {
    const { page, done } = await open("GetMemory");
    for (const tab of ["curl", "TypeScript", "Python"]) {
      await page.getByRole("tab", { name: tab }).click();
      const sample = await sampleOf(page);
      expect(sample).toContain("rcl_YOUR_KEY");
      expect(sample).toContain(server.url);
    }
    await done();
  });
});

async function sampleOf(page: Page): Promise<string> {
  return (await page.getByRole("tabpanel").locator("pre").textContent()) ?? "";
}
