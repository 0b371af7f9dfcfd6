import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signUp } from "../support/caller.js";
import { freePort } from "../support/free-port.js";
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

describe.skipIf(NO_CHROMIUM !== undefined)(
  NO_CHROMIUM ?? "the portal whose server goes and comes back",
  () => {
    let server: TestServer;
    let env: Record<string, string>;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      needPortal();
      env = { PORT: String(await freePort()), SIGNUPS_PER_HOUR: "100" };
      server = await startServer({ env });
      browser = await openBrowser();
      ({ page } = await openVisitor(browser, server.url));
      const caller = await signUp(server.url);
      await caller.store({ text: "Ada moved to Lisbon in May.", namespace: "people" });
      await signInWith(page, server.url, caller.key);
    }, 60_000);
    afterAll(async () => {
      await closeContexts(browser);
      await server?.stop();
    });

    const back = async () => {
      server = await startServer({ env, dataDir: server.dataDir });
    };

    it("says that the server cannot be reached, and goes on by itself when it answers again", async () => {
      await visit(page, server.url, "memories");
      await server.stop();
      await page.evaluate("location.hash = '#/memories/people'");
      await page.getByText("The server cannot be reached").first().waitFor();
      expect(await page.getByText("Failed to fetch").count()).toBe(0);
      await back();
      await page.getByText("Ada moved to Lisbon in May.").waitFor();
      expect(await page.getByText("The server cannot be reached").count()).toBe(0);
    });

    it("shows no white page when a part of it cannot be loaded, and loads it when it can", async () => {
      await visit(page, server.url, "memories");
      await server.stop();
      await page.evaluate("location.hash = '#/playground/people'");
      await page.getByText("This page could not be loaded").waitFor();
      expect(await page.getByRole("button", { name: "Reload" }).isVisible()).toBe(true);
      await page.evaluate("location.hash = '#/memories'");
      await page.getByRole("heading", { name: "Memories" }).waitFor();
      await page.evaluate("location.hash = '#/playground/people'");
      await back();
      await page.getByRole("heading", { name: "Playground" }).waitFor();
    });

    it("survives a deploy: a part that is gone is loaded anew", async () => {
      await visit(page, server.url, "memories");
      await page.evaluate("sessionStorage.removeItem('recalld.reloaded')");
      let gone = 0;
      await page.route("**/assets/*.js", (route) =>
        gone++ === 0 ? route.fulfill({ status: 404 }) : route.continue(),
      );
      await page.evaluate("location.hash = '#/usage'");
      await page.getByRole("heading", { name: "Usage" }).waitFor();
      expect(gone).toBeGreaterThan(0);
      await page.unroute("**/assets/*.js");
    });

    it("says that what was sent had no answer, and asks for nothing again that costs a call", async () => {
      let recalls = 0;
      page.on("request", (request) => request.url().endsWith("/Recall") && recalls++);
      await page.route(/Service\/(ExportMemories|DeleteMemories)$/, (route) => route.abort());
      await visit(page, server.url, "memories/people?q=Lisbon");
      await page.getByText("More", { exact: true }).click();
      await page.getByRole("button", { name: "Export" }).click();
      const note = page.getByText("The server did not answer");
      await note.waitFor();
      expect(recalls).toBe(1);
      await visit(page, server.url, "memories/people");
      await page.getByRole("checkbox", { name: "Select all that are shown" }).check();
      await page.getByRole("button", { name: "Delete 1 selected" }).click();
      await page.getByRole("button", { name: "Delete 1 memory" }).click();
      await page.getByRole("dialog").getByText("The server did not answer").waitFor();
      await page.unroute(/Service\/(ExportMemories|DeleteMemories)$/);
      await page.getByRole("button", { name: "Delete 1 memory" }).click();
      await page.getByText("This namespace is empty").waitFor();
    });

    it("is called on this machine also while the browser is offline", async () => {
      await visit(page, server.url, "playground/offline");
      await page.evaluate("dispatchEvent(new Event('offline'))");
      await page.getByLabel("Text").fill("Ada reads on the plane.");
      await page.getByRole("button", { name: "Store", exact: true }).click();
      await page.getByText("Stored", { exact: true }).waitFor();
      await page.evaluate("location.hash = '#/memories/offline'");
      await page.getByText("Ada reads on the plane.").waitFor();
      await page.evaluate("dispatchEvent(new Event('online'))");
    });
  },
);
