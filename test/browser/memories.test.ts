import { readFile } from "node:fs/promises";
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

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? "memories in the portal", () => {
  let server: TestServer;
  let browser: Browser;
  let visitor: Visitor;
  let page: Page;
  let caller: Caller;

  beforeAll(async () => {
    needPortal();
    server = await sharedServer();
    caller = await signUp(server.url);
    for (const [i, text] of ["Ada lives in Paris.", "Ada drinks tea.", "Rex is a dog."].entries()) {
      await caller.store({ text, namespace: "home", metadata: { i } });
    }
    browser = await openBrowser();
    visitor = await openVisitor(browser, server.url, { acceptDownloads: true });
    page = visitor.page;
    await signInWith(page, server.url, caller.key);
  });
  afterAll(async () => {
    await closeContexts(browser);
  });

  async function open(text: string): Promise<void> {
    await page.goto(`${server.url}/#/memories/home`);
    await settle(page);
    await page.getByRole("button", { name: text }).click();
    await page.getByRole("dialog", { name: "Memory", exact: true }).waitFor();
  }

  async function importHere(buffer: Buffer): Promise<void> {
    await openMore(page);
    await page.getByRole("button", { name: "Import" }).click();
    const upload = { name: "memories", mimeType: "application/json", buffer };
    await page.getByLabel("Drop a file here, or choose one").setInputFiles(upload);
  }

  const closeImport = () => page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  it("edits a memory's text, metadata and expiry", async () => {
    await open("Ada drinks tea.");
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const save = page.getByRole("button", { name: "Save" });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel("Text", { exact: true }).fill("Ada drinks coffee.");
    await page.getByLabel("Metadata, a JSON object").fill('{"i": 7}');
    await page.getByLabel("Expires; empty for never").fill("2199-03-04T05:06");
    await save.click();
    await page.getByRole("dialog", { name: "Edit memory" }).waitFor({ state: "detached" });
    await page.getByRole("dialog").getByText("Ada drinks coffee.").waitFor();
    await page.getByText("Mar 4, 2199, 5:06 AM").waitFor();
    const [first] = resultsOf(await caller.recall("What does Ada drink?", "home", 1));
    expect(first).toMatchObject({ text: "Ada drinks coffee.", metadata: { i: 7 } });
  });

  it("tells that someone else has changed it meanwhile, and overwrites nothing", async () => {
    await open("Rex is a dog.");
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const [rex] = resultsOf(await caller.recall("dog", "home", 1));
    const path = `PATCH ${caller.pathOf("home", rex?.id)}`;
    expect(await caller.call(path, { body: { text: "Rex is a wolf." } })).toMatchObject({ code: "ok" });
    // The list behind the dialog is loaded anew when somebody comes back to the tab after a while.
    await page.waitForTimeout(5_100);
    const loaded = page.waitForResponse(/ListMemories/);
    await page.evaluate(() => dispatchEvent(new Event("visibilitychange")));
    await loaded;
    await page.getByLabel("Text", { exact: true }).fill("Rex is a cat.");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Someone else has changed this meanwhile").waitFor();
    expect(resultsOf(await caller.recall("wolf", "home", 1))[0]?.text).toBe("Rex is a wolf.");
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  it("supersedes a memory, and shows the old one on request with a link to the new one", async () => {
    await open("Ada lives in Paris.");
    await page.getByRole("button", { name: "Supersede" }).click();
    await page.getByLabel("New text").fill("Ada lives in Lisbon.");
    await page.getByRole("button", { name: "Store in its place" }).click();
    await page.getByRole("dialog", { name: "Supersede memory" }).waitFor({ state: "detached" });
    const drawer = page.getByRole("dialog", { name: "Memory", exact: true });
    await drawer.getByText("Ada lives in Lisbon.").waitFor();
    await drawer.getByRole("button", { name: "Close" }).click();
    await drawer.waitFor({ state: "detached" });
    await page.getByText("3 memories and 1 superseded").waitFor();
    await expect.poll(() => page.getByText("Ada lives in Paris.").count()).toBe(0);
    await page.getByRole("button", { name: "1 superseded" }).click();
    await page.getByText("4 memories").waitFor();
    await openMore(page);
    expect(await page.getByLabel("Superseded memories, too").isChecked()).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Ada lives in Paris." }).click();
    expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
    await page.getByRole("link", { name: "another one" }).click();
    await page.getByRole("dialog").getByText("Ada lives in Lisbon.").waitFor();
  });

  it("lists the oldest first on request", async () => {
    await page.goto(`${server.url}/#/memories/home`);
    await page.reload();
    await settle(page);
    await page.getByLabel("Order").selectOption("Oldest first");
    await expect.poll(() => page.locator(".row-text").first().textContent()).toBe("Ada drinks coffee.");
  });

  it("exports a namespace, and imports it into another one, once", async () => {
    const download = page.waitForEvent("download");
    await openMore(page);
    await page.getByRole("button", { name: "Export" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("home.jsonl");
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ count: lines.length - 2 });
    await page.goto(`${server.url}/#/memories/copy`);
    await settle(page);
    const exported = Buffer.from(`${lines.join("\n")}\n`);
    for (const said of ["3 stored, 0 there already, 0 refused", "0 stored, 3 there already, 0 refused"]) {
      await importHere(exported);
      await page.getByText(`3 of 3 of recalld: ${said}`).waitFor();
      expect(await page.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("100");
      await closeImport();
    }
    expect(resultsOf(await caller.recall("Where does Ada live?", "copy", 9))).toHaveLength(3);
  });

  it("imports what the command line imports, and says what is wrong with the rest", async () => {
    await page.goto(`${server.url}/#/memories/imported`);
    await settle(page);
    await importHere(await readFile("test/fixtures/imports/mem0.json"));
    await page.getByText(/of mem0: [1-9]\d* stored, 0 there already/).waitFor();
    await closeImport();
    await importHere(Buffer.from('{"text": "Ada sings."}\n{"text": ""}\nno JSON\n'));
    await page.getByText("3 of 3 of jsonl: 1 stored, 0 there already, 2 refused").waitFor();
    expect(await page.getByRole("dialog").getByRole("listitem").allTextContents()).toEqual([
      "line 2: it has no text",
      "line 3: it is not a JSON object",
    ]);
    await closeImport();
    for (const [content, says] of [
      ["hello", "the file is of no known format"],
      ['{"format":"recalld-export","version":1}\n{"id":"mem_1","text":"a"}\n', "the export is not complete"],
      ["\xff", "the file is not UTF-8"],
    ] as const) {
      await importHere(Buffer.from(content, "latin1"));
      await page.getByRole("dialog").getByRole("alert").getByText(says).waitFor();
      await closeImport();
    }
  });

  it("takes a file that is dropped", async () => {
    await openMore(page);
    await page.getByRole("button", { name: "Import" }).click();
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['{"text": "Ada paints."}'], "a.jsonl"));
      return data;
    })()`);
    await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: data });
    await page.getByText("1 of 1 of jsonl: 1 stored").waitFor();
    await closeImport();
  });

  it("lists, counts and deletes what a filter finds", async () => {
    const texts = ["a", "b", "c"].map((name) => `note ${name}`);
    for (const [i, text] of texts.entries()) {
      await caller.store({ text, namespace: "notes", metadata: { year: 2020 + i } });
    }
    await page.goto(`${server.url}/#/memories/notes`);
    await settle(page);
    await page.getByText("3 memories").waitFor();
    await page.getByLabel("Filter").fill('{"year": ');
    await page.getByText("This is not valid JSON").waitFor();
    await page.getByLabel("Filter").fill('{"year": {"$gte": 2021}}');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("2 of 3 memories match the filter").waitFor();
    expect(await page.getByText("note a").count()).toBe(0);
    await page.getByRole("button", { name: "Delete what the filter finds" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This deletes 2 memories").waitFor();
    await dialog.getByRole("textbox").fill("notes");
    await dialog.getByRole("button", { name: "Delete memories" }).click();
    await page.getByText("No memory matches.").waitFor();
    expect(resultsOf(await caller.recall("note", "notes", 9)).map(({ text }) => text)).toEqual(["note a"]);
    await page.getByLabel("Filter").fill('{"$nonsense": 1}');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("The server did not accept this input").waitFor();
  });

  it("finds namespaces by the beginning of their names", async () => {
    for (let i = 0; i < 9; i++) await caller.store({ text: "x", namespace: `user/${i}` });
    await page.goto(`${server.url}/#/memories`);
    await page.reload();
    await settle(page);
    await page.getByLabel("Find by the beginning of the name").fill("user/3");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("Find by the beginning of the name").fill("nobody");
    await page.getByText("No namespace begins with this.").waitFor();
  });

  it("reports no fault to the console, and loads nothing from elsewhere", () => {
    // The browser itself reports what the server refused above: an update and a filter.
    expect(visitor.faults.filter((fault) => !/ (400|409) /.test(fault))).toEqual([]);
  });
});
