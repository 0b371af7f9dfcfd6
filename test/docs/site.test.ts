import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openapi } from "../../gen/openapi.js";
import { addressOf } from "../../scripts/docs/addresses.js";
import { openAnchors } from "../../scripts/docs/anchors.js";
import { codeBlock } from "../../scripts/docs/highlight.js";
import { MOVED_PAGES } from "../../src/server/portal/portal.js";
import { openIndex } from "../../web/docs/sections.js";
import { groupsOf } from "../../web/src/reference/calls.js";
import type { Document } from "../../web/src/reference/openapi.js";
import { documents, ROOT, read } from "../support/documents.js";
import { anchorsIn, fileOf, linksIn, pages, SCRIPT, STYLE, site } from "../support/site.js";

/** Address of the docs, below whatever path a proxy puts before it. */
const HOME = "http://server/some/where/docs/";
const PORTAL_PAGES = readdirSync(`${ROOT}/web/src`);
const CALLS = groupsOf(openapi as Document).flatMap(([, calls]) => calls.map(({ name }) => name));

describe("the docs at /docs", () => {
  test.each([...MOVED_PAGES])("have %s at %s now, which is there", (old, address) => {
    expect(site.has(fileOf(old)), old).toBe(false);
    expect(leadsSomewhere(new URL(address, HOME)), address).toBe(true);
  });

  test("have a page for every guide, and each is in the navigation", () => {
    const [, home = ""] = pages.find(([path]) => path === "index.html") ?? [];
    const [navigation = ""] = home.split("<main");
    for (const path of documents) {
      const address = addressOf(path);
      expect(site.has(fileOf(address)), path).toBe(true);
      // The index of the decisions leads to each of them.
      if (address.startsWith("decisions/")) continue;
      expect(navigation, path).toContain(`<a href="${address || "./"}"`);
    }
  });

  test.each(pages)("%s leads only to what is there", (path, html) => {
    const address = path.replace(/(^index)?\.html$/, "");
    const dead = linksIn(html).filter((link) => !leadsSomewhere(new URL(link, HOME + address)));
    expect(dead).toEqual([]);
  });

  test.each(pages)("%s has no script, style or address that the policy would refuse", (_path, html) => {
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style="| on\w+="|javascript:/i);
    const loaded = [...html.matchAll(/<(?:script|link|img|source|iframe)[^>]* (?:src|href)="([^"]*)"/g)];
    expect(loaded.map(([, link]) => link).filter((link) => /^(?:\w+:|\/)/.test(link as string))).toEqual([]);
  });

  test.each(pages.filter(([path]) => !path.startsWith("files/deploy")))(
    "%s shows no markup",
    (_path, html) => {
      const prose = html.replace(/<(pre|code)\b.*?<\/\1>/gs, "");
      expect(prose.match(/&lt;(?:!--|\/?[a-z]).{0,40}/g) ?? []).toEqual([]);
    },
  );

  test("name sections as GitHub does", () => {
    const nameOf = openAnchors();
    expect(
      ["What's `it` worth?", "Ärger & Co.", "a_b-c  d", "Again", "Again", "again-1"].map(nameOf),
    ).toEqual(["whats-it-worth", "ärger--co", "a_b-c--d", "again", "again-1", "again-1-1"]);
  });

  test("are built again when anything changes that they are made of, and the image has all of it", () => {
    const madeOf = JSON.parse(read("scripts/docs/made-of.json")) as string[];
    const missing = sourcesOfPages().filter(
      (path) => !madeOf.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    expect(missing).toEqual([]);
    const letThrough = read(".dockerignore").split("\n");
    for (const path of madeOf) expect(letThrough, path).toContain(`!${path}`);
  });

  test.each([
    ["sh", 'echo "$HOME"'],
    ["json", '{"a": 1}'],
    ["yaml", "a: true"],
    ["ts", "const a = 1;"],
    ["python", "def a(): pass"],
    ["http", "POST /store HTTP/1.1"],
    ["toml", 'a = "b"'],
    ["proto", "message A {}"],
  ])("mark up %s, and leave other code as it is", (language, code) => {
    expect(codeBlock(code, language)).toContain('<span class="hljs-');
    expect(codeBlock("<a>", "cron")).toContain("<code>&lt;a&gt;</code>");
  });

  test("are where the portal links to", () => {
    const portal = readdirSync(`${ROOT}/web/src`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".tsx"))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    const links = portal.flatMap((code) =>
      [...code.matchAll(/(?:href=|DOCS = )"(docs\/[^"]*)"/g)].map(([, link = ""]) => link),
    );
    expect(links.length).toBeGreaterThan(2);
    const dead = links.filter((link) => !leadsSomewhere(new URL(`../${link}`, HOME)));
    expect(dead).toEqual([]);
    const pages = portal.flatMap((code) =>
      [...code.matchAll(/linkTo\("(\w+)"/g)].map(([, page = ""]) => page),
    );
    expect(pages.filter((page) => !PORTAL_PAGES.includes(page) && page !== "playground")).toEqual([]);
  });

  test("let the search find each section, guides before background", () => {
    const [name = ""] = [...site.keys()].filter((path) => path.startsWith("assets/search-"));
    const sections = JSON.parse(site.get(name) ?? "[]") as {
      address: string;
      title: string;
      minor: boolean;
    }[];
    expect(sections.length).toBeGreaterThan(300);
    const dead = sections.filter(({ address }) => !leadsSomewhere(new URL(address, HOME)));
    expect(dead).toEqual([]);
    expect(sections.find(({ address }) => address === "api#retrying-safely")).toMatchObject({
      title: "Retrying safely",
      minor: false,
    });
    expect(sections.find(({ address }) => address.startsWith("decisions/"))?.minor).toBe(true);
  });
});

test.each([
  ["recency", "api#recency"],
  ["prefer what is recent", "recipes#prefer-what-is-recent"],
  ["price", "recipes#know-what-a-call-costs"],
  ["gdpr", "recipes#delete-a-user"],
  ["delete a user", "recipes#delete-a-user"],
])("the search for %s finds what its asker needs first", async (query, address) => {
  const [name = ""] = [...site.keys()].filter((path) => path.startsWith("assets/search-"));
  const index = await openIndex(JSON.parse(site.get(name) ?? "[]"));
  expect(index.find(query)[0]?.section.address).toBe(address);
});

/** Lists the files of the repository that have a page or are shown on one, by what the pages say of themselves. */
function sourcesOfPages(): readonly string[] {
  const shown = [...site.keys()].filter((path) => path.startsWith("pictures/")).map((path) => `docs/${path}`);
  const files = pages.flatMap(([path]) =>
    path.startsWith("files/") ? path.slice("files/".length).replace(/\.html$/, "") : [],
  );
  return [...documents, ...shown, ...files.map((path) => (path.endsWith("/README") ? `${path}.md` : path))];
}

/** Whether a link from the docs has a target: a page and its section, a file of theirs, or a page of the portal. */
function leadsSomewhere({ href, protocol, host, hash }: URL): boolean {
  if (host !== "server") return ["http:", "https:", "mailto:"].includes(protocol);
  if (!href.startsWith(HOME)) return leadsIntoPortal(href);
  const address = decodeURIComponent(href.slice(HOME.length).replace(/#.*/s, ""));
  if (address === SCRIPT || address === STYLE) return true;
  const target = site.get(fileOf(address));
  if (target === undefined) return false;
  return hash === "" || hash === "#content" || anchorsIn(target).has(decodeURIComponent(hash.slice(1)));
}

function leadsIntoPortal(href: string): boolean {
  const [place, route = ""] = href.split("#/");
  const [page = "", call] = route.split("/");
  if (place !== new URL("../", HOME).href || (call !== undefined && !CALLS.includes(call))) return false;
  return page === "" || PORTAL_PAGES.includes(page);
}
