import { addressOf, linkBetween, rootFrom } from "./addresses.js";
import { escapeHtml } from "./html.js";
import type { Heading } from "./markdown.js";
import type { Entry, Group } from "./navigation.js";

/** Files that every page loads, by their addresses below `/docs/`. */
export interface Assets {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  readonly search: string;
}

export interface Page {
  readonly address: string;
  readonly title: string;
  readonly summary: string;
  readonly headings: readonly Heading[];
  readonly html: string;
}

const SUMMARY_CHARACTERS_MAX = 160;
const LOGO = `<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" class="logo-ground"/><path class="logo-lines" d="M16 16 8.5 10M16 16l8-5.5M16 16l-4 8.5M16 16l7.5 5"/><circle class="logo-heart" cx="16" cy="16" r="4"/><g class="logo-dots"><circle cx="8.5" cy="10" r="2.2"/><circle cx="24" cy="10.5" r="2.2"/><circle cx="12" cy="24.5" r="2.2"/><circle cx="23.5" cy="21" r="2.2"/></g></svg>`;

/** Makes the whole page: it can be read without any script. */
export function layOut(page: Page, navigation: readonly Group[], assets: Assets): string {
  const root = rootFrom(page.address);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(cut(page.summary))}">
<title>${escapeHtml(page.title)} · recalld docs</title>
<link rel="icon" href="${root}${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${root}${assets.style}">
<script type="module" blocking="render" src="${root}${assets.script}"></script>
</head>
<body>
<a class="skip button" href="#content">Skip to content</a>
${header(root, assets)}
<div class="frame">
<nav class="pages" aria-label="Docs"><details open><summary>All pages</summary>${groups(page, navigation)}</details></nav>
<main id="content" tabindex="-1">
<article class="guide">
${page.html}</article>
${neighbours(page, navigation)}
</main>
${contents(page.headings)}
</div>
</body>
</html>
`;
}

function header(root: string, assets: Assets): string {
  return `<header class="bar">
<a class="brand" href="${root}../">${LOGO} recalld</a>
<form class="search" role="search" hidden data-root="${root}" data-index="${root}${assets.search}">
<label class="unseen" for="query">Search the docs</label>
<input id="query" type="search" placeholder="Search the docs" autocomplete="off" spellcheck="false">
<div class="found" hidden><p class="unseen" role="status"></p><ol class="found-list"></ol></div>
</form>
<nav class="bar-end" aria-label="Portal">
<a class="wide" href="${root || "./"}">Docs</a>
<a href="${root}../#/reference">API reference</a>
<a class="wide" href="${root}../">Portal</a>
<button type="button" class="theme button-plain" hidden>Dark</button>
</nav>
</header>`;
}

function groups(page: Page, navigation: readonly Group[]): string {
  return navigation
    .map(({ name, pages }) => {
      const links = pages.map((entry) => `<li>${link(page, entry)}</li>`).join("\n");
      return `<p class="group">${escapeHtml(name)}</p>\n<ul>\n${links}\n</ul>`;
    })
    .join("\n");
}

function link(page: Page, { title, path }: Entry): string {
  const address = addressOf(path);
  const here = address === page.address ? ' aria-current="page"' : "";
  return `<a href="${linkBetween(page.address, address)}"${here}>${escapeHtml(title)}</a>`;
}

/** Links to the pages before and after this one, in the order of the navigation. */
function neighbours(page: Page, navigation: readonly Group[]): string {
  const order = navigation.flatMap(({ pages }) => pages);
  const index = order.findIndex(({ path }) => addressOf(path) === page.address);
  if (index < 0) return "";
  const [before, after] = [order[index - 1], order[index + 1]];
  return `<nav class="neighbours" aria-label="Neighbouring pages">
${before ? `<span><span class="quiet">Before</span> ${link(page, before)}</span>` : "<span></span>"}
${after ? `<span><span class="quiet">Next</span> ${link(page, after)}</span>` : ""}
</nav>`;
}

/** Table of contents of this page. */
function contents(headings: readonly Heading[]): string {
  const listed = headings.filter(({ level }) => level === 2 || level === 3);
  if (listed.length < 2) return "";
  const links = listed.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><details open><summary>On this page</summary>
<ul>
${links.join("\n")}
</ul></details></nav>`;
}

function cut(text: string): string {
  if (text.length <= SUMMARY_CHARACTERS_MAX) return text;
  return `${text.slice(0, SUMMARY_CHARACTERS_MAX).replace(/\s+\S*$/, "")} …`;
}
