import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { aFlow, type Flow, ISSUER } from "../support/oauth.js";
import { startServer, type TestServer } from "../support/server.js";
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

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "an application that asks for a key", () => {
  let server: TestServer;
  let browser: Browser;
  let app: Server;
  let back: string;
  let caller: Caller;
  let flow: Flow;

  beforeAll(async () => {
    needPortal();
    // Even where all origins may call.
    server = await startServer({ env: { PUBLIC_URL: ISSUER, CORS_ORIGINS: "*" } });
    browser = await openBrowser();
    caller = await signUp(server.url);
    await caller.store({ text: "Ada lives in Lisbon.", namespace: "home" });
    app = createServer(({ url = "" }, response) => {
      response.setHeader("content-type", "text/html");
      response.end(url.startsWith("/back") ? ARRIVED : attacking(server.url, flow.query()));
    });
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    back = `http://127.0.0.1:${(app.address() as AddressInfo).port}/back`;
    flow = await aFlow(server.url, back);
  }, 60_000);
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  afterAll(async () => {
    await closeContexts(browser);
    await server?.stop();
    app?.close();
  });

  const open = async (page: Page, changes: Record<string, string | undefined> = {}) => {
    await page.goto(`${server.url}/authorize?${flow.query(changes)}`);
    await settle(page);
  };
  const visitor = async () => {
    const { page, faults } = await openVisitor(browser, server.url);
    // The application's own pages are where this leads.
    return { page, faults: () => faults.filter((fault) => !fault.includes(new URL(back).host)) };
  };
  const signedIn = async () => {
    const opened = await visitor();
    await signInWith(opened.page, server.url, caller.key);
    return opened;
  };
  const arrived = async (page: Page) => {
    await page.waitForURL(`${back}?**`);
    return new URL(page.url()).searchParams;
  };
  const keys = async () => (await caller.call("GET /keys")).body.keys as { name: string; id: string }[];
  const allow = (page: Page) => page.getByRole("button", { name: "Allow" });
  /** Allows as a user does: waits for the button, moves the pointer, clicks. */
  const clickAllow = async (page: Page) => {
    await page.locator('button[aria-disabled="false"]').waitFor();
    await page.mouse.move(1, 1);
    await allow(page).click();
  };

  it("is allowed what its user chooses, who signs in on the way, and revokes it", async () => {
    const { page, faults } = await visitor();
    await open(page);
    await page.getByText("An application asks for a key to your memories.").waitFor();
    await page.getByLabel("API key").fill(caller.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Let an application use your memories" }).waitFor();
    const card = await page.locator(".authorize").textContent();
    expect(card).toContain("Flow asks for a key to your memories.");
    expect(card).toContain("the name that it gave itself, which nobody has checked");
    expect(card).toContain(`a program on this device: ${new URL(back).host}`);
    await page.getByRole("radio", { name: "Only read" }).check();
    await page.getByLabel("Only in namespace").fill("home");
    await page.getByLabel("The key ends").selectOption("in 7 days");
    await clickAllow(page);
    const answer = await arrived(page);
    expect([answer.get("iss"), answer.get("state"), answer.get("error")]).toEqual([ISSUER, "xyz", null]);
    const { body } = await flow.exchange(String(answer.get("code")), { redirect_uri: back });
    const key = { authorization: `Bearer ${body.access_token}` };
    const recalled = await caller.call("POST /recall", {
      body: { query: "Lisbon", namespace: "home" },
      header: key,
    });
    expect(recalled.body.results).toMatchObject([{ text: "Ada lives in Lisbon." }]);
    await visit(page, server.url, "keys");
    const row = page.getByRole("row").filter({ hasText: `Flow (${new URL(back).host})` });
    expect(await row.textContent()).toMatch(/read only[\s\S]*home/);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await row.waitFor({ state: "detached" });
    expect((await caller.call("GET /namespaces", { header: key })).code).toBe("unauthenticated");
    expect(faults()).toEqual([]);
  });

  it("is allowed by who signs up on the way, and saves the new key first", async () => {
    const { page, faults } = await visitor();
    await open(page);
    await page.getByRole("button", { name: "Create my key" }).click();
    await page.getByLabel("I have saved it").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await clickAllow(page);
    expect((await arrived(page)).get("code")).toMatch(/^rco_/);
    expect(faults()).toEqual([]);
  });

  it("is denied", async () => {
    const { page, faults } = await signedIn();
    await open(page);
    await page.getByRole("button", { name: "Deny" }).click();
    const answer = await arrived(page);
    expect([answer.get("error"), answer.get("iss"), answer.get("code")]).toEqual([
      "access_denied",
      ISSUER,
      null,
    ]);
    expect(await keys()).toHaveLength(1);
    expect(faults()).toEqual([]);
  });

  it("is offered nothing but reading where it asked for no more", async () => {
    const { page } = await signedIn();
    await open(page, { scope: "read" });
    await page.getByRole("radio", { name: "Only read" }).waitFor();
    expect(await page.getByRole("radio").count()).toBe(1);
  });

  it("is told of a wrong request only when its user goes there", async () => {
    const { page } = await signedIn();
    await open(page, { resource: "https://evil.example/mcp" });
    await page.getByText("(invalid_target)").waitFor();
    expect(page.url()).toContain(`${server.url}/authorize`);
    expect(await allow(page).count()).toBe(0);
    await page.getByRole("button", { name: `Go back to ${new URL(back).host}` }).click();
    expect((await arrived(page)).get("error")).toBe("invalid_target");
  });

  it("gets nobody sent to an address that it has not registered", async () => {
    const { page } = await signedIn();
    await open(page, { redirect_uri: "https://evil.example/" });
    await page.getByText("redirect_uri is not one that this application has registered").waitFor();
    expect(await page.locator(".authorize button, .authorize a").count()).toBe(0);
  });

  it("is not allowed by a key that may not manage the account", async () => {
    const { body } = await caller.call("POST /recalld.v1.AccountService/CreateKey", {
      body: { name: "home", namespace: "home" },
    });
    const { page } = await visitor();
    await signInWith(page, server.url, String(body.api_key));
    await open(page);
    await page.getByText("it cannot manage the account").waitFor();
    expect(await allow(page).count()).toBe(0);
    const { id } = body.key as { id: string };
    await caller.call("POST /recalld.v1.AccountService/RevokeKey", { body: { id } });
  });

  it.each(["light", "dark"] as const)(
    "is asked about on a page that all can use (%s)",
    async (colorScheme) => {
      const { page } = await openVisitor(browser, server.url, { colorScheme });
      await signInWith(page, server.url, caller.key);
      for (const changes of [{}, { resource: "https://evil.example/mcp" }, { client_id: "rcc_x" }]) {
        await open(page, changes);
        expect(await findings(page)).toEqual([]);
      }
    },
  );

  it("finds the window again that it has opened", async () => {
    const { page } = await signedIn();
    await page.goto(back.replace("/back", "/app"));
    const opening = page.context().waitForEvent("page");
    await page.evaluate("void (window.child = open(window.asking))");
    const child = await opening;
    await clickAllow(child);
    await page.waitForFunction("window.heard !== undefined");
    expect(await page.evaluate("window.heard")).toContain("code=rco_");
  });

  describe("is allowed by nothing but a deliberate click", () => {
    const DELAY_MS = 1_000;
    /** Opens the page with a clock that stands still, as if it had come to the front now. */
    const inFront = async () => {
      const { page } = await signedIn();
      let answers = 0;
      page.on("request", (request) => {
        if (request.url().endsWith("/authorize/answer")) answers++;
      });
      await page.clock.install();
      await open(page);
      await allow(page).waitFor();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      const comeToFront = () => page.evaluate("dispatchEvent(new Event('focus'))");
      await comeToFront();
      await allow(page).scrollIntoViewIfNeeded();
      const box = await allow(page).boundingBox();
      const at = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 10 };
      const ignored = page.getByText("Nothing was allowed");
      return { page, at, ignored, comeToFront, answers: () => answers };
    };

    it("not by one that comes as the page opens, but by a later one", async () => {
      const { page, at, ignored, answers } = await inFront();
      await page.mouse.move(1, 1);
      await page.mouse.click(at.x, at.y);
      await ignored.waitFor();
      expect(await allow(page).getAttribute("aria-disabled")).toBe("true");
      await page.clock.runFor(DELAY_MS - 1);
      await page.mouse.click(at.x, at.y);
      expect(await allow(page).getAttribute("aria-disabled")).toBe("true");
      await page.clock.runFor(1);
      await page.locator('button[aria-disabled="false"]').waitFor();
      expect(answers()).toBe(0);
      await page.mouse.click(at.x, at.y);
      expect((await arrived(page)).get("code")).toMatch(/^rco_/);
    });

    it("not while the pointer has not moved, but once it has", async () => {
      const { page, at, ignored, answers } = await inFront();
      await page.clock.runFor(DELAY_MS);
      await page.locator('button[aria-disabled="false"]').waitFor();
      await page.mouse.click(at.x, at.y);
      await ignored.waitFor();
      await page.mouse.click(at.x, at.y);
      expect(answers()).toBe(0);
      await page.mouse.move(at.x + 3, at.y);
      await page.mouse.click(at.x + 3, at.y);
      expect((await arrived(page)).get("code")).toMatch(/^rco_/);
    });

    it("not by one that comes as the page returns to the front", async () => {
      const { page, at, ignored, comeToFront, answers } = await inFront();
      await page.clock.runFor(DELAY_MS);
      await page.mouse.move(1, 1);
      await page.mouse.move(2, 2);
      await page.evaluate("dispatchEvent(new Event('blur'))");
      await page.clock.runFor(DELAY_MS);
      await page.mouse.click(at.x, at.y);
      await ignored.waitFor();
      await comeToFront();
      await page.clock.runFor(DELAY_MS - 1);
      await page.mouse.click(at.x, at.y);
      expect(await allow(page).getAttribute("aria-disabled")).toBe("true");
      expect(answers()).toBe(0);
    });

    it("not by a key that is held down or comes as the page opens, but by one that is pressed later", async () => {
      const { page, ignored, answers } = await inFront();
      await allow(page).focus();
      await page.keyboard.press("Enter");
      await ignored.waitFor();
      await page.keyboard.down("Enter");
      await page.clock.runFor(DELAY_MS);
      await page.locator('button[aria-disabled="false"]').waitFor();
      await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      await page.evaluate("0");
      expect(answers()).toBe(0);
      await page.keyboard.press("Enter");
      expect((await arrived(page)).get("code")).toMatch(/^rco_/);
    });

    it("by a finger, which moves no pointer", async () => {
      const context = await browser.newContext({ hasTouch: true });
      const page = await context.newPage();
      await signInWith(page, server.url, caller.key);
      await open(page);
      await page.locator('button[aria-disabled="false"]').waitFor();
      await allow(page).tap();
      expect((await arrived(page)).get("code")).toMatch(/^rco_/);
    });
  });

  it("cannot allow itself anything from a page of its own", async () => {
    const { page } = await signedIn();
    // Away from the portal first, whose own calls may still be under way, and are allowed.
    await page.goto(back.replace("/back", "/app"));
    const before = (await keys()).length;
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.url().startsWith(server.url) && response.request().method() === "POST")
        statuses.push(response.status());
    });
    for (const host of ["127.0.0.1", "localhost"]) {
      const elsewhere = back.replace("127.0.0.1", host).replace("/back", "/app");
      for (const attempt of ["plain", "typed", "headed"]) {
        await page.goto(elsewhere);
        expect([attempt, await page.evaluate(`attempts.${attempt}()`)]).not.toEqual([attempt, "read"]);
      }
      for (const form of ["text", "fields"]) {
        await page.goto(elsewhere);
        await page.locator(`#${form} button`).click();
        await page.waitForURL(`${server.url}/**`);
      }
      await page.goto(elsewhere);
      const frame = page.frames().find((each) => each.url().startsWith(server.url));
      expect((await frame?.content().catch(() => "")) ?? "").not.toContain("recalld");
    }
    expect(statuses.length).toBeGreaterThan(3);
    for (const status of statuses) expect([401, 415]).toContain(status);
    expect(await keys()).toHaveLength(before);
  });
});

/** Page to which codes are sent; it tells the page that opened its window. */
const ARRIVED = "<!doctype html><title>back</title><script>opener?.postMessage(location.href, '*')</script>";

/** Page of an application that asks in a window, and tries to consent in its user's place. */
function attacking(url: string, query: string): string {
  const consent = JSON.stringify({ query, allow: true, access: "full", namespace: "", days: 30 });
  const fields = consent.replaceAll("&", "&amp;").replaceAll("'", "&#39;");
  return `<!doctype html><title>elsewhere</title>
    <form id="text" action="${url}/authorize/answer" method="post" enctype="text/plain">
      <input name='${fields.slice(0, -1)},"x":"' value='"}'><button>go</button></form>
    <form id="fields" action="${url}/authorize/answer" method="post">
      <input name="query" value="${query.replaceAll("&", "&amp;")}"><input name="allow" value="true"><button>go</button></form>
    <iframe src="${url}/authorize?${query.replaceAll("&", "&amp;")}"></iframe>
    <script>
      window.asking = ${JSON.stringify(`${url}/authorize?${query}`)};
      addEventListener("message", ({ data }) => { window.heard = data; });
      const ask = (init) =>
        fetch(${JSON.stringify(`${url}/authorize/answer`)}, {
          method: "POST", credentials: "include", body: ${JSON.stringify(consent)}, ...init,
        }).then((response) => (response.ok ? "read" : "refused"), () => "failed");
      window.attempts = {
        plain: () => ask({ mode: "no-cors" }),
        typed: () => ask({ headers: { "content-type": "application/json" } }),
        headed: () => ask({ headers: { "content-type": "application/json", "x-recalld-session": "1" } }),
      };
    </script>`;
}
