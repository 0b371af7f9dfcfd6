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

  it("names its regions by words of their texts, and lists what is in one", async () => {
    const regions = page.getByRole("region", { name: "Regions and colours" }).locator("button");
    await expect.poll(() => regions.count()).toBeGreaterThan(2);
    const title = (await regions.first().locator("bdi").textContent()) as string;
    const [word = ""] = title.split(", ");
    await regions.first().click();
    const picked = page.getByRole("region", { name: "Picked memories" });
    await picked.getByRole("heading", { name: title }).waitFor();
    const texts = await picked.locator(".result-text").allTextContents();
    expect(texts.length).toBeGreaterThan(1);
    await picked.getByRole("button", { name: "Clear" }).click();
    await picked.waitFor({ state: "detached" });
    // A name says what distinguishes a region, so not every text has it, but others have it less.
    const all = prose(MEMORIES).filter((text) => text.toLowerCase().includes(word)).length / MEMORIES;
    expect(all).toBeLessThan(0.9);
  });

  it("colours its points by a key of the metadata", async () => {
    await page.getByLabel("Colour by").selectOption("part");
    const groups = page.locator(".legend button", { hasText: "part: " });
    await expect.poll(() => groups.count()).toBe(3);
    const counts = (await groups.locator(".quiet").allTextContents()).map(Number);
    expect(counts.reduce((sum, many) => sum + many)).toBe(1_024);
    const hues = () =>
      page.evaluate(`(() => {
      const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const style = getComputedStyle(canvas);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data[i] + "," + data[i + 1] + "," + data[i + 2]);
      return [1, 2, 3, 4].map((n) => {
        const hex = style.getPropertyValue("--map-group-" + n).trim().slice(1);
        const want = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
        return [...seen].some((rgb) => rgb.split(",").every((value, i) => Math.abs(value - want[i]) < 12));
      });
    })()`);
    // The canvas is drawn anew in a later frame than the list of groups.
    await expect.poll(hues).toEqual([true, true, true, false]);
    await page.getByLabel("Colour by").selectOption("");
  });

  it("picks what a rectangle has in it, and opens it in the list", async () => {
    const canvas = page.locator("canvas");
    const { x, y, width, height } = (await canvas.boundingBox()) as Box;
    await page.keyboard.down("Shift");
    await page.mouse.move(x + width * 0.45, y + height * 0.45);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.55, y + height * 0.55, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const picked = page.getByRole("region", { name: "Picked memories" });
    await picked.getByRole("heading", { name: "In the rectangle" }).waitFor();
    const many = Number.parseInt((await picked.getByRole("status").textContent()) as string, 10);
    expect(many).toBeGreaterThan(1);
    await picked.getByRole("link", { name: /in the list/ }).click();
    await page.getByText(`${Math.min(many, 256)} memories of 2,000`).waitFor();
    await visit(page, server.url, "map/diary");
  });

  it("shows the text that the pointer is on", async () => {
    await clickAPoint(page);
    await page.locator(".map-tip").waitFor();
    expect(await page.locator(".map-tip").textContent()).not.toBe("");
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

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function fill(caller: Caller): Promise<void> {
  const texts = prose(MEMORIES);
  for (let start = 0; start < MEMORIES; start += AT_ONCE) {
    const some = texts.slice(start, Math.min(start + AT_ONCE, MEMORIES));
    const parts = ["one", "two", "three"];
    await Promise.all(
      some.map((text, i) =>
        caller.store({ text, namespace: "diary", metadata: { part: parts[(start + i) % 3] as string } }),
      ),
    );
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
  const { x, y, width, height } = (await canvas.boundingBox()) as Box;
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
