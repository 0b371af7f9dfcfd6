import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DATABASES } from "../support/databases.js";
import { connect } from "../support/mcp.js";
import { readJson } from "../support/protocols.js";
import type { TestServer } from "../support/server.js";
import {
  closeContexts,
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  settle,
  type Visitor,
  visit,
} from "./visitor.js";

const run = promisify(execFile);
/** Output of a sample that found the answer first. */
const FOUND = /^0\.\d{3} Her dog Rex hides/;

describe.each(DATABASES)("the portal in Chromium, on $name", ({ name, missing, make }) => {
  const reason = NO_CHROMIUM ?? missing;
  describe.skipIf(reason !== undefined)(reason ?? name, () => {
    let server: TestServer;
    let browser: Browser;
    let visitor: Visitor;
    let page: Page;
    let key: string;

    beforeAll(async () => {
      needPortal();
      server = await (await make()).start();
      browser = await openBrowser();
      visitor = await openVisitor(browser, server.url, {
        permissions: ["clipboard-read", "clipboard-write"],
      });
      page = visitor.page;
    }, 60_000);
    afterAll(async () => {
      await closeContexts(browser);
      await server?.stop();
    });

    it("signs up with one field and one button", async () => {
      await visit(page, server.url, "");
      await page.getByLabel("Email").fill("ada@example.com");
      await page.getByRole("button", { name: "Create my key" }).click();
      await page.getByRole("dialog", { name: "Your key is ready" }).waitFor();
      key = await page.getByLabel("Your API key").inputValue();
      expect(key).toMatch(/^rcl_[A-Za-z0-9]{40,}$/);
    });

    it("does not lose the key to Esc, a click outside, or a reload", async () => {
      const dialog = page.getByRole("dialog");
      for (let i = 0; i < 3; i += 1) await page.keyboard.press("Escape");
      await page.mouse.click(2, 2);
      expect(await dialog.isVisible()).toBe(true);
      page.once("dialog", (question) => void question.accept());
      await page.reload();
      expect(await page.getByLabel("Your API key").inputValue()).toBe(key);
      expect(await page.getByRole("button", { name: "Continue" }).isDisabled()).toBe(true);
    });

    it("shows all of the key at every width", async () => {
      const size = page.viewportSize() ?? { width: 1280, height: 720 };
      for (const width of [240, 320, 400, 1600]) {
        await page.setViewportSize({ width, height: 800 });
        const cut = await page
          .getByLabel("Your API key")
          .evaluate((field: { scrollHeight: number; clientHeight: number }) => {
            return field.scrollHeight - field.clientHeight;
          });
        expect(cut, `${width} px`).toBe(0);
      }
      await page.setViewportSize(size);
    });

    it("copies and downloads the key", async () => {
      await page.getByRole("button", { name: "Copy key" }).click();
      await page.getByText("Copied", { exact: true }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download as .env" }).click();
      expect((await download).suggestedFilename()).toBe("recalld.env");
    });

    it("turns green when the quick start's curl is run", async () => {
      await page.getByText("Waiting for your first call").waitFor();
      const { stdout } = await run("bash", ["-c", await sampleOf(page, "curl")]);
      expect(stdout).toMatch(/^\{"results":\[\{"id":"[^"]*","text":"Her dog Rex hides/m);
      await page.getByText("It works: 5 calls arrived.").waitFor();
    });

    it("shows Python and gRPC that work when pasted", async () => {
      const python = await run("bash", ["-c", await sampleOf(page, "Python")]);
      expect(python.stdout).toMatch(FOUND);
      // The sample fetches buf through npx, which finds the installed one here.
      const grpc = await run("bash", ["-c", await sampleOf(page, "gRPC")]);
      expect(grpc.stdout).toMatch(/"results":\s*\[\s*\{\s*"id":\s*"[^"]*",\s*"text":\s*"Her dog Rex hides/);
    }, 60_000);

    it("shows TypeScript that works when pasted", async () => {
      const script = `set -e; cd "$(mktemp -d)"; mkdir recalld-quickstart; here=$PWD
        ln -s '${process.cwd()}/node_modules' node_modules; npx() { shift 2; node "$here/node_modules/tsx/dist/cli.mjs" "$@"; }
        ${await sampleOf(page, "TypeScript")}
        check() { node "$here/node_modules/typescript/bin/tsc" --strict --noEmit --skipLibCheck --module nodenext "$@"; }
        check quickstart.ts
        sed 's/query:/querry:/' quickstart.ts > wrong.ts
        ! check wrong.ts`;
      const { stdout } = await run("bash", ["-c", script]);
      expect(stdout).toMatch(FOUND);
      // It has types that know a wrong field.
      expect(stdout).toMatch(/wrong\.ts.*querry/s);
    }, 60_000);

    it("shows settings for agents, by which MCP's own client stores and recalls", async () => {
      const { mcpServers } = JSON.parse(await sampleOf(page, "MCP"));
      const { type, url, headers } = mcpServers.recalld;
      expect(type).toBe("http");
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
      const { client, call } = await connect(transport);
      const { data } = await call("memory_recall", { query: "Which animal fears storms?" });
      expect(data.memories[0].text).toMatch(/^Her dog Rex hides/);
      await client.close();
    });

    it("runs the same here, ranked by meaning, and no sample has left a copy", async () => {
      await page.getByRole("button", { name: "Run it here" }).click();
      await page.getByText("The question and its answer have no word in common").waitFor();
      const found = await page.locator(".results li > p").allInnerTexts();
      expect(found).toHaveLength(4);
      expect(found[0]).toMatch(/^Her dog Rex hides when it thunders\. best$/);
      const scores = await page.locator(".results .mono").allTextContents();
      expect(scores).toEqual([...scores].sort().reverse());
    });

    it("lets go of the key when its owner has saved it", async () => {
      await page.getByLabel("I have saved it").check();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByText("It works:").waitFor();
    });

    it("stores and recalls in the playground, with the scores and strong matches", async () => {
      await page.getByRole("link", { name: "Playground" }).first().click();
      await page.getByLabel("Namespace", { exact: true }).fill("notes");
      await page.getByLabel("Text").fill("Grandmother bakes rye bread on Sundays.");
      await page.getByText("Metadata", { exact: true }).click();
      await page.getByLabel("A JSON object").fill('{"from": "ada"}');
      const stored = page.waitForRequest((request) => request.url().endsWith("/Store"));
      await page.getByRole("button", { name: "Store" }).click();
      await page.getByText("Stored", { exact: true }).waitFor();
      expect(await (await stored).headerValue("recalld-namespace")).toBe("notes");
      await page.getByLabel("Question").fill("Grandmother bakes rye bread on Sunday.");
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await page.getByText("strong match").waitFor();
      expect(await page.getByText(/\d+ ms round trip/).count()).toBe(1);
      expect(await page.locator(".rank .hint").textContent()).toMatch(
        /^score 0\.9\d\d \+ 0\.\d{3} by words: grandmother, bakes, rye, bread.* · fit 1\.\d\d$/,
      );
      await page.getByText("Above 0.80 a match is strong").waitFor();
      await page.getByText("COSINE").check();
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await expect.poll(() => page.locator(".rank .hint").textContent()).toMatch(/^score 0\.9\d\d$/);
      await page.getByText("HYBRID").check();
      await page.getByText("Filter and floors").click();
      await page.getByLabel("Filter by metadata").fill('{"from": "bob"}');
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await page.getByText("None of the 1 memory passes the filter and the floors.").waitFor();
      await page.getByLabel("Filter by metadata").fill("");
      await page.getByLabel("Lowest fit").fill("1.5");
      await page.getByRole("button", { name: "Recall", exact: true }).click();
      await page.getByText(/The lowest fit left out 1; the best of them has a fit of 1\.\d\d/).waitFor();
    });

    it.each([
      ["Filter and floors", "Filter by metadata", '{"from": bob}', "Recall"],
      ["Filter and floors", "Lowest score", "5", "Recall"],
      ["More", "Weight", "5", "Recall"],
      ["Metadata", "A JSON object", '{"from": bob}', "Store"],
    ])(
      "shows in %s, which was closed, that %s is wrong when a form is sent",
      async (part, label, wrong, send) => {
        const summary = page.locator("summary").getByText(part, { exact: true });
        const field = page.getByLabel(label);
        if (!(await field.isVisible())) await summary.click();
        await page.getByLabel("Text").fill("Grandmother bakes rye bread on Sundays.");
        await field.fill(wrong);
        await summary.click();
        await page.getByRole("button", { name: send, exact: true }).click();
        await expect.poll(() => field.evaluate((each) => each === document.activeElement)).toBe(true);
        expect(await field.isVisible()).toBe(true);
        await field.fill("");
      },
    );

    it("moves the usage", async () => {
      await page.getByRole("link", { name: "Usage" }).click();
      await page.getByText("of 1,000 used").waitFor();
      // The playground made five calls. The samples stored four memories once, and each of six recalled.
      await page.getByText("985 calls left").waitFor();
      expect(await page.locator(".figure").allInnerTexts()).toEqual(expect.arrayContaining(["15", "985"]));
      await page.getByText("Show as a table").click();
      expect((await page.locator("tbody td").allInnerTexts()).slice(0, 2)).toEqual(["5", "10"]);
    });

    it("makes a key and revokes it, after which it is refused at once", async () => {
      await page.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("button", { name: "Create key" }).click();
      await page.getByLabel("Name", { exact: true }).fill("reader");
      await page.getByLabel("Only read").check();
      await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
      const reader = await page.getByLabel("Your API key").inputValue();
      await page.getByLabel("I have saved it").check();
      await page.getByRole("button", { name: "Done" }).click();
      expect((await recall(server.url, reader)).code).toBe("ok");
      await page.getByRole("button", { name: "Revoke reader" }).click();
      await page.getByText("stop working immediately").waitFor();
      await page.getByRole("button", { name: "Revoke key" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Revoke reader" }).waitFor({ state: "detached" });
      expect((await recall(server.url, reader)).code).toBe("unauthenticated");
    });

    it("rotates a key", async () => {
      await page.getByRole("button", { name: /^Rotate/ }).click();
      await page.getByLabel("From then on").selectOption("works for 5 more minutes");
      await page.getByRole("button", { name: "Create the new key" }).click();
      const next = await page.getByLabel("Your API key").inputValue();
      await page.getByLabel("I have saved it").check();
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByText("when first used").waitFor();
      expect((await recall(server.url, next)).code).toBe("ok");
      await page.reload();
      await page.getByText("ends in 5 minutes").waitFor();
    });

    it("opens a memory, deletes it, and drops a namespace", async () => {
      await visit(page, server.url, "memories");
      await page.getByRole("link", { name: "notes", exact: true }).click();
      await page.getByRole("button", { name: /Grandmother/ }).click();
      expect(await page.locator(".json").textContent()).toContain('"from": "ada"');
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Delete memory" }).click();
      await page.getByText("This namespace is empty").waitFor();
      await visit(page, server.url, "memories");
      await page.getByRole("button", { name: "Delete quickstart" }).click();
      expect(await page.getByRole("button", { name: "Delete namespace" }).isDisabled()).toBe(true);
      await page.getByLabel("Type quickstart to confirm").fill("quickstart");
      await page.getByRole("button", { name: "Delete namespace" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Delete quickstart" }).waitFor({ state: "detached" });
    });

    it("forgets the key when signing out", async () => {
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("button", { name: "Create my key" }).waitFor();
      expect(await page.evaluate("JSON.stringify([sessionStorage, localStorage])")).not.toContain("rcl_");
      await page.goBack();
      await settle(page);
      await page.getByRole("button", { name: "Create my key" }).waitFor();
    });

    it("never put the key into an address, met no error, and asked no other host", async () => {
      expect(page.url()).not.toContain("rcl_");
      expect(server.output()).not.toContain(key);
      expect(visitor.faults).toEqual([]);
    });

    it("signs in again with the key, and closes the account with a typed word", async () => {
      await page.getByLabel("API key").fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("link", { name: "Account", exact: true }).click();
      await page.getByRole("button", { name: "Close account" }).click();
      await page.getByLabel("Type close my account").fill("close my account");
      await page.getByRole("button", { name: "Close account and delete everything" }).click();
      await page.getByText("The account is closed", { exact: true }).waitFor();
      expect((await recall(server.url, key)).code).toBe("unauthenticated");
    });
  });
});

/** Returns the text under a tab of the quick start, as it is copied. */
async function sampleOf(page: Page, tab: string): Promise<string> {
  await page.getByRole("tab", { name: tab, exact: true }).click();
  return (await page.getByRole("tabpanel").locator("pre").textContent()) ?? "";
}

async function recall(url: string, key: string) {
  const response = await fetch(`${url}/recall`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ query: "bread", namespace: "notes" }),
  });
  return readJson(response);
}
