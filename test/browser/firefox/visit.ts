/**
 * Visits pages of the portal in Firefox, and prints what it found as JSON: `visit.ts FIREFOX URL KEY HASH…`. It is
 * a program of its own, because Node 20 has WebSocket only with a flag.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Firefox } from "./bidi.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [1440, 390];
/** The keys, as WebDriver names them. */
const TAB = "\uE004";
const ENTER = "\uE007";
/** Elements that are passed at most on the way to one. */
const TABS_MAX = 60;

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
  const poll = () => {
    if (document.querySelector("h1") && !document.querySelector(".loading")) resolve(true);
    else if (Date.now() - began > 30000) reject(new Error("the page does not settle"));
    else setTimeout(poll, 50);
  };
  setTimeout(poll, 100);
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

const appears = (selector: string) => `new Promise((resolve, reject) => {
  const began = Date.now();
  const poll = () => {
    const found = document.querySelector(${JSON.stringify(selector)});
    if (found) resolve(found.textContent);
    else if (Date.now() - began > 30000) reject(new Error(${JSON.stringify(`no ${selector}`)}));
    else setTimeout(poll, 50);
  };
  poll();
})`;

/** Goes to an element from one to the next, as one does without a mouse. */
async function tabTo(firefox: Firefox, selector: string): Promise<void> {
  for (let steps = 0; steps < TABS_MAX; steps++) {
    await firefox.type(TAB);
    if (await firefox.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`))
      return;
  }
  throw new Error(`${selector} is not reached with ${TABS_MAX} tabs`);
}

async function signIn(firefox: Firefox, key: string): Promise<void> {
  await tabTo(firefox, "#key");
  await firefox.type(`${key}${ENTER}`);
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
  await tabTo(firefox, "#query");
  await firefox.type(`Where does she live?${ENTER}`);
  return firefox.evaluate<string>(appears(".results .result-text"));
}

console.log(JSON.stringify(await main(process.argv.slice(2))));
