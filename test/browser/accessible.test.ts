import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { type Place, placesOf } from "./places.js";
import { sentences } from "./sentences.js";
import {
  closeContexts,
  findings,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  settle,
  signInWith,
  visit,
} from "./visitor.js";

const NAMESPACE = "assistant";
const PLACES = placesOf(NAMESPACE);
/** Texts from right to left, with letters and numbers from left to right in them. */
const RIGHT_TO_LEFT = [
  "قال أحمد إن الاجتماع يوم 12 May في room 4.",
  "דנה אוהבת תה, not coffee.",
  "سارة تفضل الشاي",
];
const RIGHT_TO_LEFT_NAMESPACE = "ذاكرة";

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the portal, for everyone", () => {
  let server: TestServer;
  let browser: Browser;
  let key: string;
  let reader: string;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    const caller = await signUp(server.url);
    key = caller.key;
    reader = await openReader(server.url);
    for (const text of sentences(60)) await caller.store({ text, namespace: NAMESPACE, metadata: { a: 1 } });
    // One that scrolls is opened first.
    await caller.store({ text: "Ada likes tea. ".repeat(200), namespace: NAMESPACE, metadata: { a: 1 } });
    for (const text of RIGHT_TO_LEFT)
      await caller.store({ text, namespace: RIGHT_TO_LEFT_NAMESPACE, metadata: { لون: "أحمر" } });
  }, 120_000);
  afterAll(async () => {
    await closeContexts(browser);
  });

  const visitAll = async (page: Page, places: readonly Place[]) => {
    const { width } = page.viewportSize() as { width: number };
    for (const { name, hash, act } of places) {
      // The page that is left need not show the next one before it is loaded anew.
      await page.evaluate(`history.replaceState(null, "", ${JSON.stringify(`#/${hash}`)})`);
      await page.reload();
      await settle(page);
      await act?.(page);
      expect(await findings(page), name).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(width);
    }
  };

  describe.each([
    { colorScheme: "light", percent: 100 },
    { colorScheme: "dark", percent: 200 },
  ] as const)("in the $colorScheme theme, at $percent %", ({ colorScheme, percent }) => {
    const deviceScaleFactor = percent / 100;
    // A browser that enlarges a page shows less of it at a time.
    const viewport = { width: 1_280 / deviceScaleFactor, height: 800 / deviceScaleFactor };
    const looks = { colorScheme, deviceScaleFactor, viewport };

    it("has nothing that axe finds on the welcome page and in the key's reveal", async () => {
      const { page } = await openVisitor(browser, server.url, looks);
      await visit(page, server.url, "");
      expect(await findings(page)).toEqual([]);
      await page.getByRole("button", { name: "Create my key" }).click();
      await page.getByText("Waiting for your first call").waitFor();
      expect(await findings(page)).toEqual([]);
      await page.context().close();
    }, 120_000);

    it("has nothing that axe finds, and nothing out of sight, on any page and in any dialog", async () => {
      const { page } = await openVisitor(browser, server.url, looks);
      await signInWith(page, server.url, key);
      await visitAll(page, PLACES);
      await page.context().close();
    }, 300_000);
  });

  it("has nothing that axe finds where texts and names run from right to left", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, key);
    const places = placesOf(RIGHT_TO_LEFT_NAMESPACE);
    await visitAll(
      page,
      places.filter(({ hash }) => hash.includes("/%")),
    );
    await page.context().close();
  }, 300_000);

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
    const caller = await signUp(server.url);
    const long = { text: "tea ".repeat(300), namespace: NAMESPACE, event_time: "2016-03-05T09:30:00Z" };
    await caller.call("POST /store", { body: long });
    await caller.store({ text: "tea", namespace: "x".repeat(200) });
    await caller.call("POST /recall", { body: { namespace: NAMESPACE } });
    await signInWith(page, server.url, caller.key);
    for (const { name, hash } of PLACES) {
      await visit(page, server.url, hash);
      expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(320);
      expect(await page.evaluate(CUT_OFF), name).toEqual([]);
    }
    // The facts of a memory take as many lines as they need.
    const metadata = {
      a: "the calendar of the family",
      b: "a list of ten things",
      c: "a third",
      d: "a fourth",
    };
    await caller.store({ text: "tea", namespace: NAMESPACE, metadata });
    await visit(page, server.url, `memories/${NAMESPACE}?columns=["a","b","c","d"]`);
    const cut = `[...document.querySelectorAll(".memories tbody tr")]
      .filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)
      .map(({ textContent }) => textContent)`;
    expect(await page.evaluate(cut)).toEqual([]);
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

  it("leaves the focus on a button while its call runs, and calls once however often it is pressed", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, key);
    await visit(page, server.url, `playground/${NAMESPACE}`);
    let calls = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/Recall", async (route) => {
      calls++;
      await released;
      await route.continue();
    });
    await page.getByLabel("Question").fill("Who prefers tea?");
    const button = page.getByRole("button", { name: "Recall", exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Recalling…" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("Question").press("Enter");
    await page.getByRole("button", { name: "Recalling…" }).focus();
    release();
    await page.locator(".results").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Recall");
    expect(calls).toBe(1);
    await page.context().close();
  });

  it("leaves the focus on the content when a memory that had it is deleted", async () => {
    const { page } = await openVisitor(browser, server.url);
    const caller = await signUp(server.url);
    await caller.store({ text: "to be deleted", namespace: "focus" });
    await signInWith(page, server.url, caller.key);
    await visit(page, server.url, "memories/focus");
    await page.locator(".row").first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Delete memory" }).press("Enter");
    await page.locator(".row").waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
    await page.context().close();
  });

  it("keeps the theme that was chosen", async () => {
    const { page } = await openVisitor(browser, server.url, { colorScheme: "light" });
    await visit(page, server.url, "");
    await page.getByRole("button", { name: "Dark theme" }).click();
    await page.reload();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.context().close();
  });
});

/** Lists what reaches beyond the screen, where only code, tables that scroll and names that end in dots may. */
const CUT_OFF = `[...document.querySelectorAll("main *")]
  .filter((each) => !each.closest("pre, table:not(.cards), .cut *") && each.getBoundingClientRect().right > innerWidth)
  .map(({ className, textContent }) => className + ": " + textContent)`;

/** Opens an account with a memory, and returns a key that may only read it. */
async function openReader(url: string): Promise<string> {
  const caller = await signUp(url);
  await caller.store({ text: "Ada lives in Lisbon.", namespace: NAMESPACE });
  const scope = { access: "KEY_ACCESS_READ_ONLY", namespace: NAMESPACE };
  const { body } = await caller.call("POST /recalld.v1.AccountService/CreateKey", { body: scope });
  return String(body.api_key);
}
