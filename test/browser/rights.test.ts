import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { openMenu, openMore } from "./places.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  settle,
  signInWith,
  visit,
} from "./visitor.js";

const run = promisify(execFile);
const READ_ONLY = { access: "KEY_ACCESS_READ_ONLY" };
const PAGES = [
  "start",
  "playground",
  "memories",
  "memories/home",
  "usage",
  "calls",
  "keys",
  "account",
  "reference",
];
/** Buttons of what a read-only key may not do. */
const CHANGES = /^(Store|Import|Edit|Supersede|Delete|Create key|Rotate|Revoke|Close account)/;
const WIDTHS = [1440, 390];

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "the portal and a key's rights", () => {
  let server: TestServer;
  let browser: Browser;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    browser = await openBrowser();
    caller = await signUp(server.url);
    await caller.store({ text: "Ada lives in Lisbon.", namespace: "home" });
    await caller.store({ text: "The standup is at ten.", namespace: "work" });
  }, 60_000);
  afterAll(async () => {
    await closeContexts(browser);
  });

  /** Signs in with a new key, on a screen of the given width. */
  async function signInAs(name: string, scope: JsonObject, width = 1440) {
    const { code, body } = await caller.call("POST /recalld.v1.AccountService/CreateKey", {
      body: { name, ...scope },
    });
    expect(code).toBe("ok");
    const visitor = await openVisitor(browser, server.url, { viewport: { width, height: 900 } });
    await signInWith(visitor.page, server.url, String(body.api_key));
    const key = String(body.api_key);
    // No page keeps the key: users put it where the sample says.
    const filledIn = async (tab: string) =>
      (await sampleOf(visitor.page, server.url, tab)).replaceAll("rcl_YOUR_KEY", key);
    return { ...visitor, filledIn, done: () => visitor.page.context().close() };
  }

  it.each(WIDTHS)("names the key in use and its rights on every page, %d pixels wide", async (width) => {
    const { page, faults, done } = await signInAs("support bot", { ...READ_ONLY, namespace: "home" }, width);
    for (const hash of PAGES) {
      await visit(page, server.url, hash);
      await openMenu(page);
      const shown = page.getByRole("link", { name: "Key in use: support bot" });
      await shown.waitFor();
      expect(await shown.textContent(), hash).toMatch(/rcl_\w{4}…read onlyonly in home$/);
      const { x = 0, width: wide = 0 } = (await shown.boundingBox()) ?? {};
      expect(x + wide, hash).toBeLessThanOrEqual(width);
    }
    expect(faults).toEqual([]);
    await done();
  });

  it("offers a read-only key nothing that the server would refuse, and says why", async () => {
    const { page, faults, done } = await signInAs("reader", READ_ONLY);
    for (const hash of PAGES) {
      await visit(page, server.url, hash);
      await page.getByRole("link", { name: /Key in use: reader.*read only.*all namespaces/ }).waitFor();
      if (hash !== "reference")
        expect(await page.getByRole("button", { name: CHANGES }).count(), hash).toBe(0);
      if (["start", "playground", "keys"].includes(hash))
        await page.getByText("This key may only read").waitFor();
    }
    await visit(page, server.url, "memories/nothing");
    await page.getByText("Your key may only read, and cannot store something here.").waitFor();
    await visit(page, server.url, "memories/home");
    await page.getByRole("button", { name: "Ada lives in Lisbon." }).click();
    await page.getByRole("dialog", { name: "Memory" }).waitFor();
    expect(await page.getByRole("button", { name: CHANGES }).count()).toBe(0);
    expect(faults).toEqual([]);
    await done();
  });

  it("lets a read-only key recall, by samples that work when pasted", async () => {
    const { page, filledIn, done } = await signInAs("reader", READ_ONLY);
    for (const tab of ["curl", "Python", "gRPC", "TypeScript"]) {
      const sample = await sampleOf(page, server.url, tab);
      expect(sample, tab).not.toMatch(/store/i);
      expect(sample, tab).toContain("home");
    }
    const { stdout } = await run("bash", ["-c", await filledIn("Python")]);
    expect(stdout).toMatch(/^0\.\d+ Ada lives in Lisbon/);
    await page.getByText(/^It works: \d+ calls arrived/).waitFor();
    await visit(page, server.url, "playground/home");
    await page.getByLabel("Question").fill("Where does Ada live?");
    await page.getByRole("button", { name: "Recall", exact: true }).click();
    await page.getByRole("button", { name: "Ada lives in Lisbon." }).waitFor();
    await done();
  });

  it("keeps a key of one namespace there, and explains the others", async () => {
    const { page, faults, filledIn, done } = await signInAs("homer", { namespace: "home" });
    const { stdout } = await run("bash", ["-c", await filledIn("curl")]);
    expect(stdout).toContain('"namespace":"home"');
    await visit(page, server.url, "playground/work");
    await page.getByText("Your key is for this namespace alone.").waitFor();
    expect(await page.getByLabel("Namespace", { exact: true }).inputValue()).toBe("home");
    expect(await page.getByLabel("Namespace", { exact: true }).getAttribute("readonly")).not.toBeNull();
    await page.getByLabel("Text").fill("Ada has a cat.");
    await page.getByRole("button", { name: "Store" }).click();
    await page.getByText("Stored", { exact: true }).waitFor();
    await page.evaluate("location.hash = '#/memories/work'");
    await page.getByText("Your key is for another namespace").waitFor();
    await page.getByRole("main").getByRole("link", { name: "home" }).click();
    await openMore(page);
    await page.getByRole("button", { name: "Import" }).waitFor();
    await page.evaluate("location.hash = '#/keys'");
    await page.getByText("This key is for one namespace").waitFor();
    await page.getByText("store, recall, read, list and delete").waitFor();
    expect(faults).toEqual([]);
    await done();
  });

  it("says before a call of the reference is tried that the key may not make it", async () => {
    const { page, done } = await signInAs("reader", READ_ONLY);
    for (const [name, hints] of [
      ["Store", 1],
      ["Recall", 0],
    ] as const) {
      await visit(page, server.url, `reference/${name}`);
      await page.getByRole("button", { name: "Send" }).waitFor();
      expect(await page.getByText("Your key may only read").count(), name).toBe(hints);
    }
    await done();
  });

  it("offers everything to a full key", async () => {
    const { page } = await openVisitor(browser, server.url);
    await signInWith(page, server.url, caller.key);
    for (const [hash, button] of [
      ["playground", "Store"],
      ["memories", "Delete home"],
      ["keys", "Create key"],
    ] as const) {
      await visit(page, server.url, hash);
      await page.getByRole("button", { name: button, exact: true }).waitFor();
      await page.getByRole("link", { name: /Key in use: first key.*full access.*all namespaces/ }).waitFor();
    }
    await page.context().close();
  });
});

/** Returns the text under a tab of the quick start, as it is copied. */
async function sampleOf(page: Page, url: string, tab: string): Promise<string> {
  await visit(page, url, "start");
  await settle(page);
  await page.getByRole("tab", { name: tab, exact: true }).click();
  return (await page.getByRole("tabpanel").locator("pre").textContent()) ?? "";
}
