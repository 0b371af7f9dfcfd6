import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { startServer, type TestServer } from "../support/server.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  signInWith,
  visit,
} from "./visitor.js";

const STAY = "Stay signed in on this device";

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "a browser that is signed in", () => {
  let server: TestServer;
  let browser: Browser;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    // Even where all origins may call.
    server = await startServer({ env: { CORS_ORIGINS: "*" } });
    browser = await openBrowser();
    caller = await signUp(server.url);
    await caller.store({ text: "Ada lives in Lisbon.", namespace: "home" });
  }, 60_000);
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  afterAll(async () => {
    await closeContexts(browser);
    await server?.stop();
  });

  async function signedIn() {
    const visitor = await openVisitor(browser, server.url);
    await signInWith(visitor.page, server.url, caller.key);
    return { ...visitor, context: visitor.page.context() };
  }

  async function newTab(context: BrowserContext, hash = ""): Promise<Page> {
    const page = await context.newPage();
    await visit(page, server.url, hash);
    return page;
  }

  const welcome = (page: Page) => page.getByRole("button", { name: "Create my key" }).waitFor();
  const signOutButton = (page: Page) => page.getByRole("button", { name: "Sign out" });

  it("is so in every tab, also in one that Ctrl-click opens", async () => {
    const { page, context, faults } = await signedIn();
    const other = await newTab(context, "usage");
    await other.getByText("of 1,000 used").waitFor();
    const opening = context.waitForEvent("page");
    await page.getByRole("link", { name: "Memories" }).click({ modifiers: ["ControlOrMeta"] });
    const opened = await opening;
    await opened.getByRole("link", { name: "home", exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it("keeps no key and no secret where a script could read it", async () => {
    const { page, context } = await signedIn();
    const seen = await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])",
    );
    expect(seen).not.toMatch(/rc[ls]_/);
    expect(await context.cookies()).toMatchObject([
      {
        name: `recalld-session-${server.port}`,
        value: expect.stringMatching(/^rcs_/),
        httpOnly: true,
        sameSite: "Strict",
        path: "/",
        expires: -1,
      },
    ]);
  });

  it.each([
    ["stays so when it is closed, if that was asked for", true],
    ["is signed out when it is closed, if nothing was asked for", false],
  ])("%s", async (_, stays) => {
    const { page } = await openVisitor(browser, server.url);
    await visit(page, server.url, "");
    await page.getByLabel("API key").fill(caller.key);
    if (stays) await page.getByLabel(STAY).check();
    await page.getByRole("button", { name: "Sign in" }).click();
    await signOutButton(page).waitFor();
    const { cookies, origins } = await page.context().storageState();
    await page.context().close();
    // A cookie without an end does not outlive the browser.
    const kept = cookies.filter(({ expires }) => expires !== -1);
    expect(kept).toHaveLength(stays ? 1 : 0);
    const again = await openVisitor(browser, server.url, { storageState: { cookies: kept, origins } });
    await visit(again.page, server.url, "memories");
    if (stays) await again.page.getByRole("link", { name: "home", exact: true }).waitFor();
    else await welcome(again.page);
    expect(again.faults).toEqual([]);
  });

  it("is signed out in all tabs at once, and signed in again in all", async () => {
    const { page, context } = await signedIn();
    const other = await newTab(context, "memories");
    await other.getByRole("link", { name: "home", exact: true }).waitFor();
    await signOutButton(page).click();
    await welcome(page);
    await welcome(other);
    await other.getByText("You signed out in another tab").waitFor();
    expect(await context.cookies()).toEqual([]);
    await page.getByLabel("API key").fill(caller.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await signOutButton(page).waitFor();
    await other.getByRole("link", { name: "home", exact: true }).waitFor();
  });

  it("is listed with the others on the keys page, which signs each out", async () => {
    const one = await signedIn();
    const other = await signedIn();
    await visit(one.page, server.url, "keys");
    const rows = one.page.getByRole("region", { name: "Signed-in browsers" }).locator("tbody tr");
    await rows.locator(".badge", { hasText: "this browser" }).waitFor();
    // The last one is that of the other browser.
    const revoke = rows.last().getByRole("button", { name: "Revoke a browser with first key" });
    await revoke.waitFor();
    const before = await rows.count();
    expect(await rows.locator(".badge-good").count()).toBe(1);
    await revoke.click();
    await rows.nth(before - 1).waitFor({ state: "detached" });
    await other.page.getByRole("link", { name: "Memories" }).click();
    await other.page.getByText("You were signed out").waitFor();
    await rows.getByRole("button", { name: "Revoke this browser" }).click();
    await welcome(one.page);
    await one.page.reload();
    await welcome(one.page);
  });

  it("signs out one other by a double click", async () => {
    // The others first: the page may show for a moment what it knew when it signed in.
    for (let i = 0; i < 2; i++) await signedIn();
    const one = await signedIn();
    await visit(one.page, server.url, "keys");
    const rows = one.page.getByRole("region", { name: "Signed-in browsers" }).locator("tbody tr");
    await rows.first().waitFor();
    const before = await rows.count();
    const revoke = rows.nth(before - 2).getByRole("button");
    await revoke.hover();
    await one.page.mouse.down();
    await one.page.mouse.up();
    await rows.nth(before - 1).waitFor({ state: "detached" });
    await one.page.mouse.down({ clickCount: 2 });
    await one.page.mouse.up({ clickCount: 2 });
    await one.page.reload();
    await rows.first().waitFor();
    expect(await rows.count()).toBe(before - 1);
  });

  it("takes over the key that a tab has kept, once", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await visit(page, server.url, "");
    await page.evaluate(`sessionStorage.setItem("recalld.key", ${JSON.stringify(caller.key)})`);
    await page.reload();
    await signOutButton(page).waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.reload();
    await signOutButton(page).waitFor();
    await page.evaluate('sessionStorage.setItem("recalld.key", "rcl_revoked")');
    await signOutButton(page).click();
    await welcome(page);
    expect(faults).toEqual([]);
  });

  it("asks for nothing more while it is being signed out", async () => {
    const { page, faults } = await signedIn();
    await page.route("**/session", async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      // The session has ended, but the page does not know it yet.
      const response = await route.fetch();
      await page.evaluate('location.hash = "#/usage"');
      await page.getByRole("heading", { name: "Usage" }).waitFor();
      await page.waitForTimeout(500);
      await route.fulfill({ response });
    });
    await signOutButton(page).click();
    await welcome(page);
    expect(faults).toEqual([]);
  });

  it("shows a new key in samples until the page is left, and then what stands for it", async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    await visit(page, server.url, "");
    await page.getByRole("button", { name: "Create my key" }).click();
    const key = await page.getByLabel("Your API key").inputValue();
    await page.getByLabel("I have saved it").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.locator("pre").textContent()).toContain(key);
    await page.reload();
    await page.getByText("Put your key in place of rcl_YOUR_KEY").waitFor();
    expect(await page.locator("pre").textContent()).toContain("KEY='rcl_YOUR_KEY'");
    expect(await page.evaluate("JSON.stringify({ ...sessionStorage })")).toBe("{}");
    expect(faults).toEqual([]);
  });

  it("waits for a server that is away when the page is opened", async () => {
    const { context } = await signedIn();
    let away = true;
    await context.route(/\/(session|readyz)$/, (route) => (away ? route.abort() : route.continue()));
    const page = await context.newPage();
    await page.goto(`${server.url}/#/memories`);
    await page.getByText("The server cannot be reached").waitFor();
    away = false;
    await page.getByRole("link", { name: "home", exact: true }).waitFor();
  });

  it("says that signing out did not arrive, and stays signed in", async () => {
    const { page } = await signedIn();
    await page.route("**/session", (route) => route.abort());
    await signOutButton(page).click();
    await page.getByText("Not signed out yet").waitFor();
    await page.unroute("**/session");
    await signOutButton(page).click();
    await welcome(page);
  });

  it("is told when it takes no cookie", async () => {
    const { page } = await openVisitor(browser, server.url);
    await page.route("**/session", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      return route.fulfill({ status: 200, contentType: "application/json", body: "{}" });
    });
    await visit(page, server.url, "");
    await page.getByLabel("API key").fill(caller.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("your browser did not take the session's cookie").waitFor();
  });

  describe("and visits a page of another origin", () => {
    let elsewhere: Server;
    beforeAll(async () => {
      elsewhere = createServer((_request, response) => {
        response.setHeader("content-type", "text/html");
        response.end(forgedForms(server.url));
      });
      await new Promise<void>((resolve) => elsewhere.listen(0, resolve));
    });
    afterAll(() => elsewhere.close());

    const attempts = ["plain", "typed", "headed", "delete"] as const;

    // Another port is another origin of the same site; another name of this machine is another site.
    it.each(["127.0.0.1", "localhost"])(
      "at %s, it is not used there",
      async (host) => {
        const { page, context } = await signedIn();
        const forging = await context.newPage();
        const answers: number[] = [];
        forging.on("response", (response) => {
          const isPreflight = response.request().method() === "OPTIONS";
          if (response.url().startsWith(server.url) && !isPreflight) answers.push(response.status());
        });
        const { port } = elsewhere.address() as AddressInfo;
        for (const attempt of attempts) {
          await forging.goto(`http://${host}:${port}/`);
          const outcome = await forging.evaluate(`window.attempts.${attempt}()`);
          expect([attempt, outcome]).not.toEqual([attempt, "read"]);
        }
        for (const id of ["store", "close", "session", "look"]) {
          await forging.goto(`http://${host}:${port}/`);
          await forging.locator(`#${id} button`).click();
          await forging.waitForURL(`${server.url}/**`);
        }
        expect(answers.length).toBeGreaterThan(3);
        for (const status of answers) expect([401, 404, 405, 415]).toContain(status);
        await page.reload();
        await signOutButton(page).waitFor();
        const { body } = await caller.call("GET /namespaces");
        expect(body.namespaces).toMatchObject([{ namespace: "home", memories: 1 }]);
      },
      240_000,
    );
  });
});

/** A page that tries what pages of other origins can: forms, and calls with the browser's cookies. */
function forgedForms(url: string): string {
  const form = (id: string, action: string, method: string, field: string) =>
    `<form id="${id}" action="${url}${action}" method="${method}" enctype="text/plain">
      <input name='${field}' value='"}'><button>go</button></form>`;
  return `<!doctype html><title>elsewhere</title>
    ${form("store", "/store", "post", '{"namespace":"home","text":"')}
    ${form("close", "/recalld.v1.MemoryService/DeleteNamespace", "post", '{"force":true,"namespace":"home","x":"')}
    ${form("session", "/session", "post", '{"x":"')}
    ${form("look", "/account", "get", "x")}
    <script>
      const ask = (path, init) =>
        fetch(${JSON.stringify(url)} + path, { credentials: "include", ...init }).then(
          (response) => (response.ok ? "read" : "refused"),
          () => "failed",
        );
      window.attempts = {
        plain: () => ask("/account", { mode: "no-cors" }),
        typed: () => ask("/recalld.v1.MemoryService/DeleteNamespace", {
          method: "POST", headers: { "content-type": "application/json" }, body: '{"namespace":"home","force":true}',
        }),
        headed: () => ask("/account", { headers: { "x-recalld-session": "1" } }),
        delete: () => ask("/session", { method: "DELETE", headers: { "x-recalld-session": "1" } }),
      };
    </script>`;
}
