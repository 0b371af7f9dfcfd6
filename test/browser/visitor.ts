import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { findChromium, launchChromium } from "./chromium.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXECUTABLE = findChromium();
/** The builder's default has twice the size, and is read in each page again. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

if (EXECUTABLE === undefined && process.env.REQUIRE_CHROMIUM === "1")
  throw new Error("REQUIRE_CHROMIUM=1, but there is no Chromium: install it, or name it in CHROMIUM");

/** Reason why the portal cannot be tested here, for the name of a skipped test; else undefined. */
export const NO_CHROMIUM = EXECUTABLE === undefined ? "no Chromium is installed" : undefined;

/** A user with a browser, and a record of everything that must not happen in it. */
export interface Visitor {
  readonly page: Page;
  /**
   * Errors in the console (also refusals by the content policy), uncaught errors, requests to other hosts.
   */
  readonly faults: string[];
}

let browser: Promise<Browser> | undefined;

/** The browser of this process: its tests share it, one after another. It ends with the process. */
export function openBrowser(): Promise<Browser> {
  browser ??= launchChromium(EXECUTABLE as string);
  return browser;
}

/** Closes all that a test has opened in the browser. */
export async function closeContexts(left: Browser | undefined): Promise<void> {
  await Promise.all((left?.contexts() ?? []).map((context) => context.close()));
}

export async function openVisitor(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== url) faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
}

/** Finds by axe what not everyone can use on a page, by rule and element. The page has no frames. */
export async function findings(page: Page): Promise<string[]> {
  // Otherwise each look opens a second page, and describes all that is right in both.
  const axe = new AxeBuilder({ page, axeSource })
    .setLegacyMode(true)
    .options({ resultTypes: ["violations"] });
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}

/** Opens a page of the portal and waits until its content has loaded. */
export async function visit(page: Page, url: string, hash: string): Promise<void> {
  await page.goto(`${url}/#/${hash}`);
  await settle(page);
}

export async function settle(page: Page): Promise<void> {
  await page.locator("h1").waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator(".loading").waitFor({ state: "detached" });
}

export async function signInWith(page: Page, url: string, key: string): Promise<void> {
  await visit(page, url, "");
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".shell[data-signed-in=true]").waitFor();
}

/** Builds the portal if that was not done yet, as when one test file runs alone. */
export function needPortal(): void {
  if (existsSync(`${ROOT}dist/web/index.html`)) return;
  execFileSync("npm", ["run", "-s", "build:web"], { cwd: ROOT, stdio: "ignore" });
}
