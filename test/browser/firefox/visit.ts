/**
 * Visits pages of the portal in Firefox, and prints what it found as JSON: `visit.ts FIREFOX URL KEY HASH…`. It is
 * a program of its own, because Node 20 has WebSocket only with a flag.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Firefox } from "./bidi.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [1440, 390];

/** Findings on one page. */
export interface Visited {
  readonly hash: string;
  readonly width: number;
  readonly title: string;
  /** Rules of axe that were broken, with the first element that breaks each. */
  readonly violations: readonly string[];
  /** Width of the page's content in pixels. */
  readonly scrollWidth: number;
}

export interface Report {
  readonly visited: readonly Visited[];
  readonly faults: readonly string[];
  /** Texts of the best result of the playground. */
  readonly recalled: string;
}

const SETTLED = `new Promise((resolve, reject) => {
  const began = Date.now();
  const look = () => {
    if (document.querySelector("h1") && !document.querySelector(".loading")) resolve(true);
    else if (Date.now() - began > 30000) reject(new Error("the page does not settle"));
    else setTimeout(look, 50);
  };
  setTimeout(look, 100);
})`;

async function main([program = "", url = "", key = "", ...hashes]: readonly string[]): Promise<Report> {
  const firefox = await Firefox.start(program);
  try {
    await firefox.open(`${url}/`);
    await firefox.evaluate(SETTLED);
    await signIn(firefox, key);
    const visited: Visited[] = [];
    for (const width of WIDTHS) {
      await firefox.resize(width, 900);
      for (const hash of hashes) visited.push(await visit(firefox, { url, hash, width }));
    }
    const recalled = await recall(firefox, url);
    return { visited, recalled, faults: firefox.faults };
  } finally {
    await firefox.close();
  }
}

/** Fills a field as a user does: React hears of it by the event. */
const fill = (selector: string, value: string) => `(() => {
  const field = document.querySelector(${JSON.stringify(selector)});
  const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value");
  set.call(field, ${JSON.stringify(value)});
  field.dispatchEvent(new Event("input", { bubbles: true }));
})()`;
const press = (text: string) => `[...document.querySelectorAll("button")]
  .find(({ textContent }) => textContent.trim() === ${JSON.stringify(text)}).click()`;
const appears = (selector: string) => `new Promise((resolve, reject) => {
  const began = Date.now();
  const look = () => {
    const found = document.querySelector(${JSON.stringify(selector)});
    if (found) resolve(found.textContent);
    else if (Date.now() - began > 30000) reject(new Error(${JSON.stringify(`no ${selector}`)}));
    else setTimeout(look, 50);
  };
  look();
})`;

async function signIn(firefox: Firefox, key: string): Promise<void> {
  await firefox.evaluate(fill("#key", key));
  await firefox.evaluate(press("Sign in"));
  await firefox.evaluate(appears('[data-signed-in="true"]'));
}

async function visit(
  firefox: Firefox,
  { url, hash, width }: { url: string; hash: string; width: number },
): Promise<Visited> {
  await firefox.open(`${url}/?${width}#/${hash}`);
  await firefox.evaluate(SETTLED);
  await firefox.evaluate(`(() => { ${AXE} })()`);
  const violations = await firefox.evaluate<string[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
  );
  const title = await firefox.evaluate<string>("document.title");
  const scrollWidth = await firefox.evaluate<number>("document.documentElement.scrollWidth");
  return { hash, width, title, violations, scrollWidth };
}

async function recall(firefox: Firefox, url: string): Promise<string> {
  await firefox.open(`${url}/?recall#/playground/home`);
  await firefox.evaluate(SETTLED);
  await firefox.evaluate(fill("#query", "Where does she live?"));
  await firefox.evaluate(press("Recall"));
  return firefox.evaluate<string>(appears(".results .result-text"));
}

console.log(JSON.stringify(await main(process.argv.slice(2))));
