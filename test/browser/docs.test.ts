import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedServer, type TestServer } from "../support/server.js";
import { closeContexts, findings, NO_CHROMIUM, needPortal, openBrowser, openVisitor } from "./visitor.js";

/** Pages of every kind, none of them long: the introduction, a guide with tables, a file, a folder. */
const PAGES = ["", "clients", "files/server.json", "files/proto/recalld/v1", "no/such/page"];
/** Maximum size of the portal's first scripts, compressed. */
const SCRIPT_BYTES_MAX = 130_000;
const PHONE = { width: 320, height: 640 };

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the docs in a browser", () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await closeContexts(browser);
  });

  it("open by the address of a section, and show it below the bar", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await page.goto(`${server.url}/docs/api#retrying-safely`);
    const heading = page.getByRole("heading", { name: "Retrying safely" });
    await heading.waitFor();
    const bar = await page.locator(".bar").boundingBox();
    const { y = 0 } = (await heading.boundingBox()) ?? {};
    expect(y).toBeGreaterThan(bar?.height ?? 0);
    expect(y).toBeLessThan(200);
    await page.getByRole("navigation", { name: "Docs" }).getByRole("link", { name: "Errors" }).click();
    await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
    expect(page.url()).toBe(`${server.url}/docs/errors`);
    await page.goto(`${server.url}/docs`);
    expect(page.url()).toBe(`${server.url}/docs/`);
    expect(faults).toEqual([]);
  });

  it("find a section by its words and lead to it, with the keyboard alone", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await page.goto(`${server.url}/docs/mcp`);
    await page.keyboard.press("/");
    await page.keyboard.type("retrying safel");
    await page
      .locator(".found")
      .getByRole("link", { name: /Retrying safely\s*API/ })
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url}/docs/api#retrying-safely`);
    await page.getByRole("searchbox").fill("xyzzyplugh");
    await page.getByText("Nothing was found.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Nothing was found.").waitFor({ state: "hidden" });
    expect(faults).toEqual([]);
  });

  it("find a section of the page that is open, whatever is mistyped", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await page.goto(`${server.url}/docs/api`);
    await page.getByRole("searchbox").fill("supersedng");
    await page
      .locator(".found")
      .getByRole("link", { name: /^Superseding/ })
      .click();
    await page.waitForURL(`${server.url}/docs/api#superseding`);
    await page.locator(".found").waitFor({ state: "hidden" });
    expect(faults).toEqual([]);
  });

  it("have the theme of the portal, and change it for both", async () => {
    const { page, faults } = await openVisitor(browser, server.url, { colorScheme: "dark" });
    const shown = () => page.evaluate("document.documentElement.dataset.theme");
    await page.goto(`${server.url}/docs/`);
    expect(await shown()).toBe("dark");
    await page.getByRole("button", { name: "Light theme" }).click();
    expect(await shown()).toBe("light");
    await page.getByRole("link", { name: "Portal", exact: true }).click();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    expect(await shown()).toBe("light");
    await page.getByRole("link", { name: "Docs" }).click();
    await page.getByRole("heading", { level: 1, name: "recalld" }).waitFor();
    expect(faults).toEqual([]);
  });

  it("add nothing to the portal's first load", async () => {
    const { page } = await openVisitor(browser, server.url);
    const scripts: Promise<number>[] = [];
    page.on("requestfinished", (request) => {
      expect(request.url()).not.toContain("/docs/");
      if (request.resourceType() === "script")
        scripts.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(server.url);
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    const bytes = (await Promise.all(scripts)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
    await page.context().close();
  });

  it("lead from a wrong address to a page that has searched for its words already", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await page.goto(`${server.url}/docs/retrying/safely`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page
      .locator(".found-here")
      .getByRole("link", { name: /Retrying safely\s*API/ })
      .click();
    await page.waitForURL(`${server.url}/docs/api#retrying-safely`);
    await page.goto(`${server.url}/docs/mcp.md`);
    await page.waitForURL(`${server.url}/docs/mcp`);
    await page.goto(`${server.url}/docs/oauth#the-key`);
    await page.waitForURL(`${server.url}/docs/mcp#the-key`);
    // The browser itself reports that the first address was none.
    expect(faults.filter((fault) => !/ 404 /.test(fault))).toEqual([]);
    await page.context().close();
  });

  it("show all of every line of code", async () => {
    const { page } = await openVisitor(browser, server.url, { viewport: { width: 768, height: 1024 } });
    for (const name of ["", "recipes", "clients"]) {
      await page.goto(`${server.url}/docs/${name}`);
      const cut = await page
        .locator(".code pre")
        .evaluateAll((blocks) => blocks.filter((each) => each.scrollWidth > each.clientWidth).length);
      expect(cut, name).toBe(0);
      expect(await page.getByRole("button", { name: "Copy" }).first().isVisible(), name).toBe(true);
    }
    await page.context().close();
  });

  it("show what settings and metrics mean without scrolling sideways", async () => {
    const { page } = await openVisitor(browser, server.url, { viewport: { width: 1440, height: 900 } });
    for (const path of ["configuration", "operations"]) {
      await page.goto(`${server.url}/docs/${path}`);
      const cut = await page
        .locator(".scroll")
        .evaluateAll((tables) => tables.filter((each) => each.scrollWidth > each.clientWidth).length);
      expect(cut, path).toBe(0);
    }
  });

  it("mark the page that is open in forced colours, legibly", async () => {
    const { page } = await openVisitor(browser, server.url, { forcedColors: "active" });
    await page.goto(`${server.url}/docs/clients`);
    const colours = await page.locator(".pages a[aria-current]").evaluate((each) => {
      const expected = document.createElement("i");
      expected.style.cssText = "forced-color-adjust: none; background: SelectedItem; color: SelectedItemText";
      document.body.append(expected);
      const coloursOf = (element: Element) => {
        const { backgroundColor, color } = getComputedStyle(element);
        return `${color} on ${backgroundColor}`;
      };
      return [coloursOf(each), coloursOf(expected)];
    });
    expect(colours[0]).toBe(colours[1]);
  });

  it("copy code", async () => {
    const { page, faults } = await openVisitor(browser, server.url, {
      permissions: ["clipboard-write", "clipboard-read"],
    });
    await page.goto(`${server.url}/docs/`);
    const block = page.locator("figure.code").first();
    await block.getByRole("button").click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start\n");
    expect(faults).toEqual([]);
  });

  it("can be read without any script, and by phones", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE });
    const page = await context.newPage();
    await page.goto(`${server.url}/docs/errors`);
    await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
    expect(await page.getByRole("searchbox").isVisible()).toBe(false);
    await context.close();
    const phone = await openVisitor(browser, server.url, { viewport: PHONE });
    for (const name of [...PAGES, "api", "configuration", "operations"]) {
      await phone.page.goto(`${server.url}/docs/${name}`);
      expect(await phone.page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(
        320,
      );
    }
    // The browser itself reports the page that is none.
    expect(phone.faults.filter((fault) => !/ 404 /.test(fault))).toEqual([]);
    await phone.page.context().close();
  });

  it.each(["light", "dark"] as const)("have nothing that axe finds in the %s theme", async (colorScheme) => {
    const { page } = await openVisitor(browser, server.url, { colorScheme });
    for (const name of PAGES) {
      await page.goto(`${server.url}/docs/${name}`);
      expect(await findings(page), name).toEqual([]);
    }
    await page.getByRole("searchbox").fill("filter");
    await page.locator(".found a").first().waitFor();
    expect(await findings(page), "the search").toEqual([]);
    await page.context().close();
  });
});
