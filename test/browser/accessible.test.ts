import AxeBuilder from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signUp } from "../support/caller.js";
import { startServer, type TestServer } from "../support/server.js";
import { sentences } from "./sentences.js";
import { NO_CHROMIUM, needPortal, openBrowser, openVisitor, settle, signInWith, visit } from "./visitor.js";

const NAMESPACE = "assistant";

/** Every page and everything that opens on it: a name, an address, and actions to do there. */
const PLACES: readonly (readonly [name: string, hash: string, act?: (page: Page) => Promise<unknown>])[] = [
  ["usage", "usage", (page) => page.getByText("Show as a table").click()],
  ["quick start", "start", runHere],
  ["calls", "calls"],
  ["keys", "keys"],
  ["account", "account"],
  ["creating a key", "keys", (page) => page.getByRole("button", { name: "Create key" }).click()],
  ["revoking the last key", "keys", (page) => page.getByRole("button", { name: "Revoke first key" }).click()],
  ["namespaces", "memories"],
  ["a namespace", `memories/${NAMESPACE}`],
  ["a memory", `memories/${NAMESPACE}`, (page) => page.locator(".row").first().click()],
  ["a namespace with columns and a selection", `memories/${NAMESPACE}?columns=["a"]`, select],
  ["a search in a namespace", `memories/${NAMESPACE}?q=tea`],
  ["an empty namespace", "memories/nothing"],
  ["the playground", `playground/${NAMESPACE}`, recall],
  ["the map", `map/${NAMESPACE}`, lightUp],
  ["the API reference", "reference"],
  ["the reference of a call", "reference/Recall"],
  ["destroying by the reference", "reference/DeleteMemory", destroy],
];

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the portal, for everyone", () => {
  let server: TestServer;
  let browser: Browser;
  let key: string;
  let reader: string;

  beforeAll(async () => {
    needPortal();
    server = await startServer();
    browser = await openBrowser();
    const caller = await signUp(server.url);
    key = caller.key;
    reader = await openReader(server.url);
    for (const text of sentences(60)) await caller.store({ text, namespace: NAMESPACE, metadata: { a: 1 } });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
    it("has nothing that axe finds on the welcome page and in the key's reveal", async () => {
      const { page } = await openVisitor(browser, server.url, { colorScheme });
      await visit(page, server.url, "");
      expect(await findings(page)).toEqual([]);
      await page.getByRole("button", { name: "Create my key" }).click();
      await page.getByText("Waiting for your first call").waitFor();
      expect(await findings(page)).toEqual([]);
      await page.context().close();
    }, 120_000);

    it("has nothing that axe finds on any page", async () => {
      const { page } = await openVisitor(browser, server.url, { colorScheme });
      await signInWith(page, server.url, key);
      for (const [name, hash, act] of PLACES) {
        await visit(page, server.url, hash);
        await page.reload();
        await settle(page);
        await act?.(page);
        expect(await findings(page), name).toEqual([]);
      }
      await page.context().close();
    }, 300_000);
  });

  it("has nothing that axe finds for a key that may only read one namespace", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, reader);
    for (const hash of [
      "start",
      "playground",
      "keys",
      "memories",
      `memories/${NAMESPACE}`,
      "memories/other",
    ]) {
      await visit(page, server.url, hash);
      expect(await findings(page), hash).toEqual([]);
    }
    await page.context().close();
  }, 120_000);

  it("fits a phone: nothing but code and tables is wider than the screen", async () => {
    const { page } = await openVisitor(browser, server.url, { viewport: { width: 320, height: 640 } });
    await signInWith(page, server.url, key);
    for (const [name, hash] of PLACES) {
      await visit(page, server.url, hash);
      expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(320);
    }
    await page.context().close();
  }, 120_000);

  it("can be used with the keyboard alone", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, key);
    await visit(page, server.url, `memories/${NAMESPACE}`);
    await page.locator(".row").first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.className")).toBe("row");
    await page.context().close();
  });

  it("keeps the theme that was chosen", async () => {
    const { page } = await openVisitor(browser, server.url, { colorScheme: "light" });
    await visit(page, server.url, "");
    await page.getByRole("button", { name: "Use the dark theme" }).click();
    await page.reload();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.context().close();
  });
});

/** Opens an account with a memory, and returns a key that may only read it. */
async function openReader(url: string): Promise<string> {
  const caller = await signUp(url);
  await caller.store({ text: "Ada lives in Lisbon.", namespace: NAMESPACE });
  const scope = { access: "KEY_ACCESS_READ_ONLY", namespace: NAMESPACE };
  const { body } = await caller.call("POST /recalld.v1.AccountService/CreateKey", { body: scope });
  return String(body.api_key);
}

async function findings(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}

async function select(page: Page): Promise<void> {
  await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
  await page.getByRole("button", { name: /^Delete \d+ selected/ }).waitFor();
  // Its list covers the head of the table.
  await page.getByText("Columns (1)").click();
}

async function runHere(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run it here" }).click();
  await page.locator(".results").waitFor();
}

async function recall(page: Page): Promise<void> {
  await page.getByLabel("Question").fill("Who prefers tea?");
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  await page.locator(".results").waitFor();
  for (const details of await page.locator("summary").all()) await details.click();
}

async function destroy(page: Page): Promise<void> {
  await page.getByLabel("namespace").fill(NAMESPACE);
  await page.getByLabel("id", { exact: true }).fill("mem_01kafz3v2wes8vptq3jbm5yr4x");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("dialog").waitFor();
}

async function lightUp(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Light up by meaning" }).fill("Who is ill?");
  await page.getByRole("button", { name: "Light up" }).click();
  await page.locator(".result-text").first().click();
  await page.getByRole("heading", { name: "Metadata" }).waitFor();
  await page.getByText("The map as a table").click();
}
