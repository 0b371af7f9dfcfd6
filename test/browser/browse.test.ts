import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { openMore } from "./places.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  settle,
  signInWith,
  type Visitor,
} from "./visitor.js";

const TEXTS = [
  "Ada moved to Lisbon.",
  "Ada drinks green tea.",
  "Rex hides when it thunders.",
  "The standup is at ten.",
];

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "browsing memories in the portal", () => {
  let server: TestServer;
  let browser: Browser;
  let visitor: Visitor;
  let page: Page;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    caller = await signUp(server.url);
    for (const [i, text] of TEXTS.entries()) {
      await caller.store({
        text,
        namespace: "home",
        metadata: { "a.b": i % 2, source: i < 2 ? "chat" : "mail" },
      });
    }
    browser = await openBrowser();
    visitor = await openVisitor(browser, server.url);
    page = visitor.page;
    await signInWith(page, server.url, caller.key);
  });
  afterAll(async () => {
    await closeContexts(browser);
  });

  async function open(query = "", namespace = "home"): Promise<void> {
    await page.goto(`${server.url}/#/memories/${namespace}${query}`);
    await page.reload();
    await settle(page);
  }

  const texts = () => page.locator(".row-text").allTextContents();
  const focused = () => page.evaluate("document.activeElement.textContent");

  it("sums up what all namespaces hold, and one of them", async () => {
    await caller.store({ text: "Alone.", namespace: "other" });
    await page.goto(`${server.url}/#/memories`);
    await page.getByText(/^2 namespaces · 5 memories · [\d.]+/).waitFor();
    await open('?filter={"source":"chat"}');
    await page.getByText(/· 2 of 4 memories match the filter · [\d.]+/).waitFor();
  });

  it("shows the metadata that most memories have, or that one chooses, and remembers the choice", async () => {
    const headers = async () => (await page.getByRole("columnheader").allTextContents()).slice(1);
    await open();
    expect(await headers()).toEqual(["Memory", "a.b", "source", "Tokens", "Stored"]);
    await openMore(page);
    await page.getByRole("checkbox", { name: "a.b" }).uncheck();
    await page.getByRole("columnheader", { name: "a.b" }).waitFor({ state: "detached" });
    await page.getByRole("checkbox", { name: "a.b" }).check();
    await page.getByRole("columnheader", { name: "a.b" }).waitFor();
    // The choice lies over the table until the user turns to something else.
    await page.getByRole("heading", { level: 1 }).click();
    await page.getByRole("group", { name: /^Columns of the metadata/ }).waitFor({ state: "hidden" });
    await page.reload();
    await settle(page);
    expect(await headers()).toEqual(["Memory", "source", "a.b", "Tokens", "Stored"]);
    await open();
    expect(await headers()).toEqual(["Memory", "source", "a.b", "Tokens", "Stored"]);
  });

  it("takes two lines for a memory on a phone, and shows the first without scrolling", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open();
    const row = page.locator(".memories tbody tr").first();
    const { y = 0, height = 0 } = (await row.boundingBox()) ?? {};
    expect(height).toBeLessThanOrEqual(64);
    expect(y + height).toBeLessThan(844);
    expect(await row.getByRole("button", { name: "mail" }).isVisible()).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("searchbox", { name: "Search" }).waitFor();
    const tools = [page.getByRole("searchbox"), page.getByLabel("Filter"), page.getByLabel("Order")];
    const tops = await Promise.all(tools.map(async (tool) => (await tool.boundingBox())?.y));
    expect(new Set(tops).size).toBe(1);
    expect((await row.boundingBox())?.y).toBeLessThan(300);
  });

  it("lists what has the same value by a click on it, and keeps that while a memory is open", async () => {
    await page.getByRole("button", { name: "1", exact: true }).first().click();
    await expect.poll(texts).toEqual(["The standup is at ten.", "Ada drinks green tea."]);
    await page.getByRole("button", { name: "chat", exact: true }).click();
    await expect.poll(texts).toEqual(["Ada drinks green tea."]);
    expect(await page.getByLabel("Filter").inputValue()).toBe('{"a\\\\.b":1,"source":"chat"}');
    await page.getByRole("button", { name: "Ada drinks green tea." }).click();
    await page.getByRole("dialog", { name: "Memory" }).waitFor();
    expect(page.url()).toMatch(/memories\/home\/mem_\w+\?filter=/);
    await page.reload();
    await page.getByRole("dialog", { name: "Memory" }).getByText("Ada drinks green tea.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await texts()).toEqual(["Ada drinks green tea."]);
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(texts).toHaveLength(4);
  });

  it("recalls in the list, with what meaning and words give", async () => {
    await open();
    await page.getByRole("link", { name: "Playground" }).last().focus();
    await page.keyboard.press("/");
    await page.keyboard.type("Which tea does Ada like?");
    await page.keyboard.press("Enter");
    await page.getByText("4 results, best first").waitFor();
    const best = page.locator(".found > li").first();
    expect(await best.textContent()).toMatch(
      /^Ada drinks green tea\..*score 0\.\d{3} \+ 0\.\d{3} by words: tea, ada · fit/,
    );
    const before = await caller.used();
    await page.getByLabel("Filter").fill('{"source": "mail"}');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("2 results, best first").waitFor();
    expect(await caller.used()).toBe(before + 1);
    await best.getByRole("button").click();
    await page.getByRole("dialog", { name: "Memory" }).waitFor();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("searchbox", { name: "Search" }).fill("");
    await page.getByRole("columnheader", { name: "Memory" }).waitFor();
    expect(await caller.used()).toBe(before + 1);
  });

  it("moves among memories by keys, selects some, and deletes those after a look at them", async () => {
    for (const text of ["Junk one.", "Junk two.", "Kept."]) await caller.store({ text, namespace: "junk" });
    await open("?order=oldest", "junk");
    await page.locator(".row").first().focus();
    await page.keyboard.press("x");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("Junk two.");
    await page.keyboard.press("x");
    await page.keyboard.press("End");
    expect(await focused()).toBe("Kept.");
    await page.keyboard.press("Home");
    expect(await focused()).toBe("Junk one.");
    const [gone] = resultsOf(await caller.recall("Junk two.", "junk", 1));
    await caller.call(`DELETE ${caller.pathOf("junk", gone?.id)}`);
    await page.getByRole("button", { name: "Delete 2 selected" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete what is selected" });
    await dialog.getByText("This deletes 1 memory").waitFor();
    await dialog.getByText("1 other is gone already").waitFor();
    expect(await dialog.getByRole("listitem").allTextContents()).toEqual(["Junk one."]);
    await dialog.getByRole("button", { name: "Delete 1 memory" }).click();
    await dialog.waitFor({ state: "detached" });
    await expect.poll(texts).toEqual(["Kept."]);
    expect(await page.getByRole("button", { name: /selected$/ }).count()).toBe(0);
  });

  it("selects all that are shown, and none again", async () => {
    await open();
    await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
    await page.getByRole("button", { name: "Delete 4 selected" }).waitFor();
    await page.getByRole("checkbox", { name: "Select Rex" }).uncheck();
    await page.getByRole("button", { name: "Delete 3 selected" }).waitFor();
  });

  it("shows what is stored and deleted elsewhere while it is live, but not while it is hidden", async () => {
    await open("", "live");
    // The first attempts fail, and the watch begins all the same.
    let attempts = 0;
    await page.route("**/WatchNamespace", (route) => (++attempts <= 2 ? route.abort() : route.continue()));
    await openMore(page);
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByText("New memories appear by themselves").waitFor();
    expect(attempts).toBe(3);
    const { body } = await caller.store({ text: "It rains.", namespace: "live" });
    await page.getByRole("button", { name: "It rains." }).waitFor();
    expect(await page.locator("tr[data-fresh=true]").count()).toBe(1);
    await setHidden(true);
    await page.getByText("Paused while this page is hidden").waitFor();
    await caller.call(`DELETE ${caller.pathOf("live", body.id as string)}`);
    await caller.store({ text: "It snows.", namespace: "live" });
    await page.waitForTimeout(1_500);
    expect(await texts()).toEqual(["It rains."]);
    await setHidden(false);
    await expect.poll(texts, { timeout: 10_000 }).toEqual(["It snows."]);
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByText("New memories appear by themselves").waitFor({ state: "detached" });
    await page.unroute("**/WatchNamespace");
  });

  it("reports no fault to the console but the watches that were broken off", () => {
    expect(visitor.faults.filter((fault) => !/ERR_FAILED/.test(fault))).toEqual([]);
  });

  /** Lets the page believe that its tab is behind others. */
  async function setHidden(isHidden: boolean): Promise<void> {
    await page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));`);
  }
});
