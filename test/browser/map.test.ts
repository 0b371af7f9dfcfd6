import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { prose } from "../support/prose.js";
import { startServer, type TestServer } from "../support/server.js";
import {
  NO_CHROMIUM,
  needPortal,
  openBrowser,
  openVisitor,
  signInWith,
  type Visitor,
  visit,
} from "./visitor.js";

const MEMORIES = 2_000;
const AT_ONCE = 16;

describe.skipIf(NO_CHROMIUM !== undefined)(NO_CHROMIUM ?? `the map of ${MEMORIES} memories`, () => {
  let server: TestServer;
  let browser: Browser;
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    needPortal();
    server = await startServer({ env: { FREE_CALLS: "5000" } });
    const caller = await signUp(server.url);
    await fill(caller);
    browser = await openBrowser();
    visitor = await openVisitor(browser, server.url);
    page = visitor.page;
    await signInWith(page, server.url, caller.key);
    await visit(page, server.url, "map/diary");
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  it("draws every memory", async () => {
    await page.getByText("2,000 memories.").waitFor();
    await expect.poll(() => coloured(page)).toBeGreaterThan(5_000);
  });

  it("opens a memory at the side when its point is clicked", async () => {
    await clickAPoint(page);
    await page.getByRole("region", { name: "Selected memory" }).waitFor();
    expect(await page.locator(".memory-text").textContent()).toMatch(/\.$/);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("lights up what a query finds, and reads it", async () => {
    await page
      .getByRole("textbox", { name: "Light up by meaning" })
      .fill("which cipher needs an initialization vector?");
    await page.getByRole("button", { name: "Light up" }).click();
    await page.locator(".results li").nth(9).waitFor();
    await page.locator(".result-text").first().click();
    await expect.poll(() => page.locator(".memory-text").textContent()).toMatch(/initialization vector/i);
  });

  it("can be read as a table instead", async () => {
    await page.getByText("The map as a table").click();
    await page.getByText("Page 1 of 80").waitFor();
    await page.locator("tbody button").nth(20).press("Enter");
    await page.getByRole("heading", { name: "Memory", exact: true }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Memory");
  });

  it("zooms and moves", async () => {
    const before = await coloured(page);
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => coloured(page)).not.toBe(before);
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => coloured(page)).toBe(before);
    expect(visitor.faults).toEqual([]);
  });
});

async function fill(caller: Caller): Promise<void> {
  const texts = prose(MEMORIES);
  for (let start = 0; start < MEMORIES; start += AT_ONCE) {
    const some = texts.slice(start, Math.min(start + AT_ONCE, MEMORIES));
    await Promise.all(some.map((text) => caller.store({ text, namespace: "diary" })));
  }
}

/** Counts the canvas's pixels that are not empty. */
function coloured(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, index) => index % 4 === 3 && value > 0).length;
  })()`);
}

/** Moves the pointer until the map says that it is on a point, and clicks there. */
async function clickAPoint(page: Page): Promise<void> {
  const canvas = page.locator("canvas");
  const { x, y, width, height } = (await canvas.boundingBox()) as {
    x: number;
    y: number;
    width: number;
    height: number;
  };
  for (let step = 1; step < 200; step += 1) {
    const at = { x: x + width * ((step * 0.618) % 1), y: y + height * (0.1 + 0.8 * (step / 200)) };
    await page.mouse.move(at.x, at.y);
    await page.evaluate("new Promise(requestAnimationFrame)");
    if ((await canvas.getAttribute("data-pointing")) !== "true") continue;
    await page.mouse.click(at.x, at.y);
    return;
  }
  throw new Error("no point was found");
}
