import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../support/server.js";
import { closeContexts, NO_CHROMIUM, needPortal, openBrowser, openVisitor } from "./visitor.js";

const PREFIX = "/tools/memory";

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the portal under a sub-path", () => {
  let server: TestServer;
  let proxy: Server;
  let browser: Browser;

  beforeAll(async () => {
    needPortal();
    server = await startServer();
    proxy = await startProxy(server);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await closeContexts(browser);
    proxy?.close();
    await server?.stop();
  });

  it("signs up, and shows commands with the whole address", async () => {
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { page, faults } = await openVisitor(browser, origin);
    await page.goto(`${origin}${PREFIX}/`);
    await page.getByRole("button", { name: "Create my key" }).click();
    await page.getByText("Waiting for your first call").waitFor();
    expect(await page.locator("pre").textContent()).toContain(`curl -sS '${origin}${PREFIX}/store/batch'`);
    await page.getByLabel("I have saved it").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByText("of 1,000 used").waitFor();
    expect(faults).toEqual([]);
  });

  it("has the docs there, which search and lead back to it", async () => {
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { page, faults } = await openVisitor(browser, origin);
    await page.goto(`${origin}${PREFIX}/docs`);
    await page.getByRole("searchbox").fill("retrying safely");
    await page.locator(".found a").first().click();
    await page.waitForURL(`${origin}${PREFIX}/docs/api#retrying-safely`);
    await page.getByRole("link", { name: "Portal", exact: true }).click();
    await page.getByRole("button", { name: "Create my key" }).waitFor();
    expect(page.url()).toBe(`${origin}${PREFIX}/`);
    expect(faults).toEqual([]);
  });
});

/** Starts a proxy that removes the prefix, as a reverse proxy does, and answers 404 for all other paths. */
async function startProxy(server: TestServer): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const { url = "", method, headers } = incoming;
    if (!url.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end();
      return;
    }
    const path = url.slice(PREFIX.length);
    const onward = request({ host: "127.0.0.1", port: server.port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return proxy;
}
