import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, resultsOf, signUp } from "../support/caller.js";
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

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "small things in the portal", () => {
  let server: TestServer;
  let browser: Browser;
  let page: Page;
  let key: string;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    ({ page } = await openVisitor(browser, server.url, {
      permissions: ["clipboard-read", "clipboard-write"],
    }));
    caller = await signUp(server.url);
    key = caller.key;
    await caller.store({ text: "مرحبا بالعالم", namespace: "people" });
  }, 60_000);
  afterAll(async () => {
    await closeContexts(browser);
  });

  it("takes a key with Bearer before it, and says what is wrong with other letters", async () => {
    await visit(page, server.url, "");
    await page.getByLabel("API key").fill("ключ");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("A key has only Latin letters").waitFor();
    await page.getByLabel("API key").fill(`Bearer ${key}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  });

  it("closes an open memory by Back, and keeps the direction of its text", async () => {
    await visit(page, server.url, "memories/people");
    await page.getByText("مرحبا بالعالم").click();
    const dialog = page.getByRole("dialog", { name: "Memory" });
    await dialog.waitFor();
    expect(await dialog.locator(".memory-text").getAttribute("dir")).toBe("auto");
    expect(page.url()).toMatch(/memories\/people\/mem_/);
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "people" }).waitFor();
  });

  it("keeps what was typed in the playground, and names an unknown page", async () => {
    await visit(page, server.url, "playground");
    await page.getByLabel("Question").fill("Where does Ada live?");
    await visit(page, server.url, "nowhere");
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page.evaluate("location.hash = '#/playground'");
    expect(await page.getByLabel("Question").inputValue()).toBe("Where does Ada live?");
  });

  it("closes a memory of the playground by Back, and does not reopen a closed one", async () => {
    await visit(page, server.url, "usage");
    await page.getByRole("link", { name: "Playground" }).first().click();
    await page.getByLabel("Namespace", { exact: true }).fill("people");
    await page.getByLabel("Question").fill("مرحبا");
    await page.getByRole("button", { name: "Recall", exact: true }).click();
    const result = page.getByRole("button", { name: "مرحبا بالعالم" });
    const dialog = page.getByRole("dialog", { name: "Memory" });
    await result.click();
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    await result.click();
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
    await result.waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Usage" }).waitFor();
  });

  it("goes to another page while a memory is open", async () => {
    await visit(page, server.url, "memories/people");
    // The other page is loaded only now, and meanwhile the one with the dialog is hidden.
    await page.reload();
    await page.locator(".row").first().click();
    await page.getByRole("dialog", { name: "Memory" }).waitFor();
    await visit(page, server.url, "usage");
    await page.getByRole("heading", { name: "Hour by hour" }).waitFor();
    expect(page.url()).toMatch(/#\/usage$/);
  });

  it("recalls with neighbors, in several namespaces, by several questions and with age", async () => {
    await caller.store({ text: "Ada waters her ferns.", namespace: "plants" });
    await caller.store({ text: "The zebra sleeps standing.", namespace: "plants" });
    await visit(page, server.url, "playground/plants");
    await page.getByLabel("Question", { exact: true }).fill("Who looks after ferns?");
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Ask also").fill("Which animal rests upright?");
    await page.getByLabel("Search also in").fill("people");
    await page.getByLabel("Half-life in days").fill("7");
    await page.getByLabel("Before, 0 to 5").fill("1");
    await page.getByLabel("After, 0 to 5").fill("1");
    await page.getByRole("button", { name: "Recall", exact: true }).click();
    const ferns = page.locator(".results > li").filter({ has: page.getByRole("button", { name: /ferns/ }) });
    await ferns.getByText("for “Who looks after ferns?”").waitFor();
    await ferns.getByText("in plants").waitFor();
    await ferns.getByText("by age").waitFor();
    await ferns.getByRole("list", { name: "After" }).getByText("The zebra sleeps standing.").waitFor();
    await page.getByText("The same with curl").first().click();
    const sample = await page.locator(".playground pre").first().textContent();
    expect(sample).toMatch(/"neighbors":\s*\{\s*"before":\s*1,\s*"after":\s*1/);
    expect(sample).toContain('"604800s"');
  });

  it("opens a memory of the playground by its address", async () => {
    const [stored] = resultsOf(await caller.recall("hello", "people", 1));
    await visit(page, server.url, `playground/people/${stored?.id}`);
    await page.reload();
    await page.getByRole("dialog", { name: "Memory" }).getByText("مرحبا بالعالم").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toMatch(/playground\/people$/);
  });

  it("keeps the direction of what is typed and found", async () => {
    await visit(page, server.url, "playground/people");
    for (const label of ["Namespace", "Question", "Text"]) {
      expect(await page.getByLabel(label, { exact: true }).getAttribute("dir"), label).toBe("auto");
    }
    await page.getByLabel("Question").fill("مرحبا");
    await page.getByRole("button", { name: "Recall", exact: true }).click();
    expect(await page.locator(".result-text").first().getAttribute("dir")).toBe("auto");
  });

  it("calls nothing a strong match that the model cannot judge, and says what it reads", async () => {
    await visit(page, server.url, "account");
    await page.getByText("bundled, reads English").waitFor();
    await visit(page, server.url, "playground/people");
    await page.getByText("The model reads English.", { exact: false }).first().waitFor();
    const recall = async (query: string) => {
      await page.getByLabel("Question").fill(query);
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await page.getByText(/1 result/).waitFor();
      await page.locator(".results li").waitFor();
    };
    await recall("Hello, world!");
    expect(await page.locator(".rank-mark").count()).toBe(1);
    expect(await page.getByText("It cannot tell well what this means").count()).toBe(0);
    await recall("مرحبا بالعالم");
    await expect.poll(() => page.locator(".rank-mark").count()).toBe(0);
    expect(await page.locator(".results .mono").first().textContent()).toMatch(/^(0\.9\d\d|1\.000)$/);
    expect(await page.getByText("strong match").count()).toBe(0);
    await page.getByText("It cannot tell well what this means").waitFor();
  });

  it("writes a size that does not break", async () => {
    await visit(page, server.url, "memories");
    const sizes = await page.locator("td[data-label=Size]").allInnerTexts();
    expect(sizes.length).toBeGreaterThan(0);
    for (const size of sizes) expect(size).toMatch(/^[\d.]+\u00a0k?B$/);
  });

  it("says Copied on the tab that was copied, and on no other", async () => {
    await visit(page, server.url, "start");
    await page.getByRole("button", { name: "Copy curl sample" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Python" }).click();
    expect(await page.getByText("Copied", { exact: true }).count()).toBe(0);
  });

  it("begins a dialog at its field or its heading, not at Close", async () => {
    const focused = "document.activeElement.id || document.activeElement.tagName";
    await visit(page, server.url, "keys");
    await page.getByRole("button", { name: "Create key" }).click();
    expect(await page.evaluate(focused)).toBe("key-name");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Revoke first key" }).click();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("INPUT");
    await page.keyboard.press("Escape");
    await visit(page, server.url, "memories/people");
    await page.locator(".row").first().click();
    await page.getByRole("dialog").waitFor();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("H2");
    await page.keyboard.press("Escape");
  });

  it("takes a double click as a click: it sends once, and leaves open what it opens", async () => {
    await visit(page, server.url, "playground/twice");
    await page.getByLabel("Text").fill("Ada keeps bees.");
    await page.getByRole("button", { name: "Store", exact: true }).dblclick();
    await page.getByText("Stored", { exact: true }).waitFor();
    await visit(page, server.url, "memories/twice");
    expect(await page.locator(".row").count()).toBe(1);
    await page.locator(".row").dblclick();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.keyboard.press("Escape");
  });

  it("keeps what is typed while a slow network stores, and takes nobody back who has gone on", async () => {
    const late = async (route: Route) => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      await route.continue();
    };
    await page.route(/Service\/(Store|DeleteMemory)$/, late);
    await visit(page, server.url, "playground/slow");
    const text = page.getByLabel("Text", { exact: true });
    await text.fill("Ada keeps hens.");
    await page.getByRole("button", { name: "Store", exact: true }).click();
    await text.fill("Ada sells eggs.");
    await page.getByText("Stored in").waitFor();
    expect(await text.inputValue()).toBe("Ada sells eggs.");
    await visit(page, server.url, "memories/slow");
    await page.locator(".row").click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const deleted = page.waitForResponse(/DeleteMemory$/);
    await page.getByRole("button", { name: "Delete memory" }).click();
    await page.evaluate("location.hash = '#/playground/slow'");
    expect((await deleted).status()).toBe(200);
    await page.unroute(/Service\/(Store|DeleteMemory)$/);
    await text.fill("");
    expect(page.url()).toMatch(/#\/playground\/slow$/);
  });

  it("deletes no other memory than the one that was asked about, when Back leads to another", async () => {
    const { body: old } = await caller.store({ text: "Ada is ten.", namespace: "ages" });
    const now = { text: "Ada is eleven.", namespace: "ages", supersedes: [String(old.id)] };
    await caller.call("POST /store", { body: now });
    await visit(page, server.url, "memories/ages?superseded=1");
    await page.getByRole("button", { name: "Ada is ten." }).click();
    await page.getByRole("link", { name: "another one" }).click();
    await page.locator(".memory-text", { hasText: "eleven" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete memory" }).waitFor();
    await page.goBack();
    await page.locator(".memory-text", { hasText: "ten" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete memory" }).count()).toBe(0);
    await page.keyboard.press("Escape");
  });

  it("asks before it loses what was typed into a memory", async () => {
    const answers: boolean[] = [];
    page.on("dialog", (asked) => (answers.shift() ? asked.accept() : asked.dismiss()));
    const asked = () => page.waitForEvent("dialog");
    await visit(page, server.url, "memories/people");
    await page.locator(".row").first().click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const text = page.getByRole("dialog", { name: "Edit memory" }).getByLabel("Text");
    await text.fill("مرحبا");
    await page.waitForTimeout(600);
    const press = () => page.keyboard.press("Escape");
    const back = () => page.evaluate("history.back()");
    for (const leave of [() => page.mouse.click(5, 5), press, press, press, back, back]) {
      await Promise.all([asked(), leave()]);
      expect(await text.inputValue()).toBe("مرحبا");
    }
    answers.push(true);
    await Promise.all([asked(), press()]);
    await text.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await text.fill("مرحبا");
    answers.push(true);
    await Promise.all([asked(), back()]);
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("keeps what was typed into a memory when the session ends, until somebody signs in again", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, caller.key);
    await caller.store({ text: "Ada knows nobody.", namespace: "friends" });
    await visit(page, server.url, "memories/friends");
    await page.locator(".row").click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const form = page.getByRole("dialog", { name: "Edit memory" });
    await form.getByLabel("Text").fill("Ada knows Ben.");
    const [cookie] = await page.context().cookies();
    await page.context().clearCookies();
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Sign in again in another tab").waitFor();
    await page.context().addCookies([cookie as NonNullable<typeof cookie>]);
    await form.getByRole("button", { name: "Save" }).click();
    await form.waitFor({ state: "detached" });
    await page.locator(".memory-text", { hasText: "Ada knows Ben." }).waitFor();
    await page.context().close();
  });

  it("shows what others have made of a memory meanwhile, and keeps a form whose memory they deleted", async () => {
    const { body } = await caller.store({ text: "Ada has a cat.", namespace: "cats" });
    const id = String(body.id);
    await visit(page, server.url, "memories/cats");
    await page.locator(".row").click();
    const form = page.getByRole("dialog", { name: "Edit memory" });
    const text = form.getByLabel("Text");
    const save = async (typed: string) => {
      await text.fill(typed);
      await form.getByRole("button", { name: "Save" }).click();
    };
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await caller.call(`PATCH /namespaces/cats/memories/${id}`, { body: { text: "Ada has two cats." } });
    await save("Ada has a black cat.");
    await form.getByText("Someone else has changed this meanwhile").waitFor();
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.locator(".memory-text", { hasText: "two" }).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    expect(await text.inputValue()).toBe("Ada has two cats.");
    await caller.call(`DELETE /namespaces/cats/memories/${id}`);
    await save("Ada has two black cats.");
    await form.getByText("Not found").waitFor();
    await page.getByText("This namespace is empty").waitFor({ state: "attached" });
    expect(await text.inputValue()).toBe("Ada has two black cats.");
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Escape");
  });

  it("marks what is chosen in forced colours, too, and how much is used", async () => {
    await page.emulateMedia({ forcedColors: "active" });
    await visit(page, server.url, "usage");
    const ground = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((each) => getComputedStyle(each).backgroundColor);
    expect(await ground("nav a[aria-current=page]")).not.toBe(await ground("nav a:not([aria-current])"));
    expect(await ground(".segments label:has(:checked)")).not.toBe(
      await ground(".segments label:not(:has(:checked))"),
    );
    expect(await ground(".gauge > div")).not.toBe(await ground(".gauge"));
    await page.emulateMedia({ forcedColors: null });
  });

  it("loses no new key by Back, and deletes a namespace whose name has two spaces", async () => {
    await visit(page, server.url, "keys");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("a bee");
    await page.keyboard.press("Enter");
    const made = page.getByLabel("Your API key");
    const shown = await made.inputValue();
    await page.goBack();
    await made.waitFor({ state: "detached" });
    await page.goForward();
    expect(await made.inputValue()).toBe(shown);
    await page.getByLabel("I have saved it").check();
    await page.getByRole("button", { name: "Done" }).click();
    await made.waitFor({ state: "detached" });
    await caller.store({ text: "x", namespace: "two  spaces" });
    await visit(page, server.url, "memories");
    await page.getByRole("button", { name: "Delete two spaces" }).click();
    // As a reader sees it.
    await page.getByLabel(/^Type/).fill((await page.locator("label code").allInnerTexts()).join(""));
    await page.getByRole("button", { name: "Delete namespace" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it("suggests namespaces that begin with what is typed, also beyond the first hundred", async () => {
    for (let i = 0; i < 101; i++) await caller.store({ text: "x", namespace: `a/${i}` });
    await caller.store({ text: "x", namespace: "zebra" });
    await visit(page, server.url, "playground");
    await page.getByLabel("Namespace", { exact: true }).fill("zeb");
    await expect.poll(() => page.locator("#namespaces option").count()).toBe(1);
    expect(await page.locator("#namespaces option").getAttribute("value")).toBe("zebra");
  });

  it.each([390, 641, 961])(
    "keeps what can be done with keys and namespaces in sight at %d px",
    async (viewportWidth) => {
      await page.setViewportSize({ width: viewportWidth, height: 844 });
      for (const [hash, name] of [
        ["keys", "Rotate first key"],
        ["keys", "Revoke first key"],
        ["memories", "Delete people"],
      ] as const) {
        await visit(page, server.url, hash);
        await page.reload();
        if (hash === "memories") await page.getByLabel("Find by the beginning").fill("people");
        const action = page.getByRole("button", { name });
        const { x = -1, width = 0 } = (await action.boundingBox()) ?? {};
        expect(x, name).toBeGreaterThanOrEqual(0);
        expect(x + width, name).toBeLessThanOrEqual(viewportWidth);
      }
      await page.setViewportSize({ width: 1280, height: 720 });
    },
  );

  it.each([641, 768, 961, 1101])(
    "shows keys and calls at %d px without scrolling sideways",
    async (viewportWidth) => {
      await page.setViewportSize({ width: viewportWidth, height: 844 });
      // Its error is a long one.
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      await fetch(`${server.url}/store`, { method: "POST", headers, body: '{"nothing": 1}' });
      for (const hash of ["keys", "calls"]) {
        await visit(page, server.url, hash);
        const table = page.locator(".scroll:has(tbody)").first();
        await table.waitFor();
        expect(await table.evaluate((box) => box.scrollWidth - box.clientWidth), hash).toBeLessThanOrEqual(0);
      }
      // An id stands in two lines, not in five.
      expect((await page.locator(".call-ids > code").first().boundingBox())?.height).toBeLessThan(40);
      await page.setViewportSize({ width: 1280, height: 720 });
    },
  );

  it("moves to the first and last tab by Home and End", async () => {
    await visit(page, server.url, "start");
    const tabs = page.getByRole("tab");
    await tabs.first().focus();
    await page.keyboard.press("End");
    expect(await tabs.last().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Home");
    expect(await tabs.first().getAttribute("aria-selected")).toBe("true");
  });
});
