import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { openapi } from "../../gen/openapi.js";
import { groupsOf } from "../../web/src/reference/calls.js";
import type { Document } from "../../web/src/reference/openapi.js";
import { addressOf, isPicture, linkBetween, targetOf } from "./addresses.js";
import { codeBlock } from "./highlight.js";
import { escapeHtml } from "./html.js";
import { type Assets, layOut, type Page } from "./layout.js";
import { renderMarkdown, type Section } from "./markdown.js";
import { type Group, navigationOf } from "./navigation.js";

/** File of the site, by its path below `/docs/`. */
export interface SiteFile {
  readonly path: string;
  readonly bytes: string | Buffer;
}

/** Section of a page, which the search finds. */
export interface Findable {
  readonly id: number;
  readonly address: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  /** Whether the page is for those who want to know more, so that guides come first. */
  readonly minor: boolean;
}

/** Page that the server sends for an address that leads nowhere, with its links as they are from there. */
const MISSING: Page = {
  address: "missing/page",
  title: "There is no such page",
  summary: "The address names no page of the docs.",
  headings: [],
  html: `<h1>There is no such page</h1>
<p>The address names no page of the docs. Search for what you need in the field above, choose a page from the list,
or go to the <a href="../">introduction</a> or the <a href="../../#/reference">API reference</a>.</p>
<div class="found-here" hidden>
<h2>What the words of the address find</h2>
<ol class="found-list"></ol>
</div>
`,
};

interface Source {
  readonly page: Page;
  readonly sections: readonly Section[];
  /** Files that the page links to or shows. */
  readonly leadsTo: readonly string[];
}

/** Group of the navigation whose pages are found last. */
const BACKGROUND = "Background";
/** More than these is not this repository's docs. */
const PAGES_MAX = 500;

/**
 * Makes the site: a page for each guide, and for each file and folder of the repository that a page links to,
 * so that no link leads nowhere. Each page needs the given script and style.
 */
export function makeSite(
  root: string,
  { script, style }: { readonly script: string; readonly style: string },
): readonly SiteFile[] {
  const navigation = navigationOf(readFileSync(join(root, "README.md"), "utf8"));
  const { sources, pictures } = collect(root, navigation);
  const icon = hashed("icon", ".svg", readFileSync(join(root, "web/src/icon.svg")));
  const search = hashed("search", ".json", JSON.stringify(findables(sources, navigation)));
  const assets: Assets = { script, style, icon: icon.path, search: search.path };
  const pages = sources.map(({ page }) => ({
    path: `${page.address || "index"}.html`,
    bytes: layOut(page, navigation, assets),
  }));
  const images = pictures.map((path) => ({ path: addressOf(path), bytes: readFileSync(join(root, path)) }));
  const missing = { path: `${MISSING.address}.html`, bytes: layOut(MISSING, navigation, assets) };
  return [...pages, missing, ...images, icon, search];
}

/** Reads the pages of the navigation and, from there, whatever they lead to. */
function collect(root: string, navigation: readonly Group[]) {
  const paths = new Set(navigation.flatMap(({ pages }) => pages.map(({ path }) => path)));
  const sources: Source[] = [];
  const pictures: string[] = [];
  // A set goes on with what is added to it meanwhile.
  for (const path of paths) {
    if (paths.size > PAGES_MAX) throw new Error(`the docs lead to more than ${PAGES_MAX} files`);
    if (isPicture(path)) {
      pictures.push(path);
      continue;
    }
    const source = sourceOf(root, path);
    sources.push(source);
    for (const next of source.leadsTo) paths.add(next);
  }
  return { sources, pictures };
}

function sourceOf(root: string, path: string): Source {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`the docs link to ${path}, which is not there`);
  if (found.isDirectory()) return folderOf(root, path);
  const text = readFileSync(join(root, path), "utf8");
  return extname(path) === ".md" ? guideOf(path, text) : fileOf(path, text);
}

function guideOf(path: string, text: string): Source {
  const address = addressOf(path);
  const leadsTo = new Set<string>();
  const { title, summary, headings, sections, html } = renderMarkdown(text, (href) => {
    const target = targetOf(path, href);
    if (target === undefined) return href;
    if (target.path === path) return target.hash || linkBetween(address, address);
    leadsTo.add(target.path);
    return linkBetween(address, addressOf(target.path)) + target.hash;
  });
  return { page: { address, title, summary, headings, html }, sections, leadsTo: [...leadsTo] };
}

/** Page that shows a file as it is. */
function fileOf(path: string, text: string): Source {
  const language = extname(path).slice(1);
  const html = `<h1 class="path">${escapeHtml(path)}</h1>\n${codeBlock(text, language)}`;
  return { page: pageOf(path, html), sections: [], leadsTo: [] };
}

/** Page that lists what is in a folder. */
function folderOf(root: string, path: string): Source {
  const leadsTo = readdirSync(join(root, path))
    .sort()
    .map((name) => `${path}/${name}`);
  const address = addressOf(path);
  const links = leadsTo.map((file) => {
    const href = linkBetween(address, addressOf(file));
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(file.slice(path.length + 1))}</a></li>`;
  });
  const html = `<h1 class="path">${escapeHtml(path)}</h1>\n<ul>\n${links.join("\n")}\n</ul>\n`;
  return { page: pageOf(path, html), sections: [], leadsTo };
}

function pageOf(path: string, html: string): Page {
  return { address: addressOf(path), title: path, summary: `${path} of recalld`, headings: [], html };
}

function findables(sources: readonly Source[], navigation: readonly Group[]): readonly Findable[] {
  const guides = navigation.filter(({ name }) => name !== BACKGROUND).flatMap(({ pages }) => pages);
  const major = new Set(guides.map(({ path }) => addressOf(path)));
  const found = sources.flatMap(({ page, sections }) =>
    sections.map((section) => findableOf(page, section, !major.has(page.address))),
  );
  return [...found, ...calls()].map((findable, id) => ({ id, ...findable }));
}

/** The calls of the portal's reference. */
function calls(): readonly Omit<Findable, "id">[] {
  const all = groupsOf(openapi as Document).flatMap(([, group]) => group);
  return all.map(({ name, path, summary = "", description = "" }) => ({
    address: `../#/reference/${name}`,
    page: "API reference",
    title: name,
    text: `${summary}\n${path}\n${description}`,
    minor: false,
  }));
}

function findableOf(page: Page, { heading, text }: Section, minor: boolean): Omit<Findable, "id"> {
  const isSection = heading !== undefined && heading.level > 1;
  const address = isSection ? `${page.address}#${heading.anchor}` : page.address;
  return { address, page: page.title, title: heading?.text ?? page.title, text, minor };
}

/** Gives a file a name that changes with its content, which caches may keep for ever. */
function hashed(name: string, extension: string, bytes: string | Buffer): SiteFile {
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 8);
  return { path: `assets/${name}-${hash}${extension}`, bytes };
}
