/** Makes pictures of every page, wide and narrow, light and dark: `npm run screenshots [folder]`. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Page } from "playwright-core";
import { AccountService, KeyAccess } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import { startServer } from "../support/server.js";
import { findChromium, launchChromium } from "./chromium.js";
import { openMenu, openMore } from "./places.js";
import { sentences } from "./sentences.js";

const FOLDER = process.argv[2] ?? "dist/pictures";
/** Pictures that the documentation shows. */
const PICTURES = ["reveal-wide-light", "playground-wide-light", "usage-narrow-dark"];
const PICTURES_FOLDER = "docs/pictures";
const SIZES = {
  wide: { width: 1440, height: 900 },
  medium: { width: 768, height: 1024 },
  narrow: { width: 390, height: 844 },
};
/** Pages of the documentation, by the names of their pictures. */
const DOCS = { docs: "", "docs-guide": "recipes", "docs-missing": "nothing/here" };
const AT_ONCE = 8;
const SOURCES = ["chat", "mail", "chat", "calendar"];

async function main(): Promise<void> {
  const executable = findChromium();
  if (executable === undefined) throw new Error("no Chromium: install it, or name it in CHROMIUM");
  mkdirSync(FOLDER, { recursive: true });
  const server = await startServer({ env: { FREE_CALLS: "1000" } });
  const browser = await launchChromium(executable);
  try {
    const key = await fill(server.url);
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
        const page = await context.newPage();
        await shootAll(page, server.url, key, (name) => join(FOLDER, `${name}-${size}-${colorScheme}.png`));
        await context.close();
      }
    }
    mkdirSync(PICTURES_FOLDER, { recursive: true });
    for (const name of PICTURES)
      copyFileSync(join(FOLDER, `${name}.png`), join(PICTURES_FOLDER, `${name}.png`));
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Fills an account as if it had been used for a while, as far as possible within a minute. */
async function fill(url: string): Promise<string> {
  let key = "";
  const withKey: Interceptor = (next) => (request) => {
    if (key) request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors: [withKey] });
  const accounts = createClient(AccountService, transport);
  const memory = createClient(MemoryService, transport);
  ({ apiKey: key } = await accounts.signUp({ email: "ada@example.com" }));
  await accounts.createKey({ name: "support bot", access: KeyAccess.READ_ONLY, namespace: "assistant" });
  await accounts.createKey({ name: "nightly import", access: KeyAccess.FULL });
  const texts = sentences(480);
  for (let start = 0; start < texts.length; start += AT_ONCE) {
    await Promise.all(
      texts.slice(start, start + AT_ONCE).map((text, index) =>
        memory.store({
          text,
          namespace: "assistant",
          eventTime: timestampFromMs(Date.UTC(2026, 5, 1) + (start + index) * 7_200_000),
          metadata: {
            source: SOURCES[(start + index) % SOURCES.length] as string,
            turn: start + index,
            user: "ada",
          },
        }),
      ),
    );
  }
  for (const [index, text] of texts.slice(0, 24).entries()) {
    await memory.store({ text, namespace: index % 3 ? "team/standups" : "travel plans" });
    await memory.recall({ query: text, namespace: "assistant" });
  }
  await refused(memory.recall({ query: "What?", namespace: "assistant", topK: 99 }));
  await refused(memory.getMemory({ namespace: "assistant", id: "mem_unknown" }));
  return key;
}

/** Waits for a call that the server refuses: the page of calls shows its error. */
async function refused(call: Promise<unknown>): Promise<void> {
  const outcome = await call.then(
    () => "ok",
    () => "refused",
  );
  if (outcome === "ok") throw new Error("the server took a call that it should refuse");
}

async function shootAll(page: Page, url: string, key: string, path: (name: string) => string): Promise<void> {
  const shoot = (name: string) => page.screenshot({ path: path(name) });
  const open = async (hash: string) => {
    await page.goto(`${url}/#/${hash}`);
    await page.locator("h1").waitFor();
    await page.waitForLoadState("networkidle");
    await page.locator(".loading").waitFor({ state: "detached" });
  };
  for (const [name, address] of Object.entries(DOCS)) {
    await page.goto(`${url}/docs/${address}`);
    await page.waitForLoadState("networkidle");
    await shoot(name);
  }
  await open("");
  await shoot("welcome");
  await page.getByLabel("API key").fill("rcl_not_a_key");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").or(page.locator("#key-problem:not(:empty)")).first().waitFor();
  await shoot("welcome-error");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.getByRole("button", { name: "Create my key" }).click();
  await page.getByRole("dialog").waitFor();
  await shoot("reveal");
  await page.getByLabel("I have saved it").check();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Run it here" }).click();
  await page.locator(".results").waitFor();
  await shoot("start");
  // Another account, which has memories.
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  await page.context().request.post(`${url}/session`, { headers, data: "{}" });
  await page.reload();
  for (const name of ["usage", "calls", "keys", "account", "memories", "reference", "reference/Recall"]) {
    await open(name);
    await shoot(name.replace("/", "-"));
  }
  await open("usage");
  await openMenu(page);
  await shoot("menu");
  await open("keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await shoot("create-key");
  await open(`memories/assistant?columns=${encodeURIComponent('["source","turn"]')}`);
  await page
    .getByRole("checkbox", { name: /^Select / })
    .nth(2)
    .check();
  await shoot("namespace");
  await page.locator(".row").first().click();
  await shoot("memory");
  await open("memories/assistant");
  await openMore(page);
  await shoot("more");
  await page.getByRole("button", { name: "Import" }).click();
  await shoot("import");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await open("memories/assistant?q=Does Ada like green tea?");
  await page.locator(".found").waitFor();
  await shoot("search");
  await open("playground/assistant");
  await page.getByLabel("Question").fill("Does Ada prefer green tea in the morning?");
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  await page.locator(".results").waitFor();
  await shoot("playground");
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Search also in").fill("travel plans");
  await page.getByLabel("Half-life in days").fill("30");
  await page.getByLabel("Before, 0 to 5").fill("1");
  await page.getByLabel("After, 0 to 5").fill("1");
  await shoot("playground-more");
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  await page.locator(".neighbors").first().waitFor();
  await page.locator(".playground-results").evaluate((results) => results.scrollIntoView());
  await shoot("playground-neighbors");
}

await main();
