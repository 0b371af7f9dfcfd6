import { posix } from "node:path";

/** Address under which the clients' readmes find the files of this repository, because they are read elsewhere, too. */
const REPOSITORY = "https://github.com/recalld/recalld/blob/main/";
const PICTURE = /\.(svg|png|webp)$/;

/**
 * Address of a file's page below `/docs/`: `docs/api.md` is `api`, `docs/decisions/README.md` is `decisions`,
 * `README.md` is empty, and what is neither a guide nor at the root is below `files/`.
 */
export function addressOf(path: string): string {
  if (path === "README.md") return "";
  if (isPicture(path)) return path.replace(/^docs\//, "");
  const guide = /^(?:docs\/(?:(?:decisions\/)?[^/]+)|[^/]+)\.md$/.test(path)
    ? path.replace(/^docs\//, "").replace(/(?:\/README)?\.md$/, "")
    : undefined;
  return guide?.toLowerCase() ?? `files/${path.replace(/\.md$/, "")}`;
}

export function isPicture(path: string): boolean {
  return PICTURE.test(path);
}

/** Path from a page up to `/docs/`, so that the pages work below any path. */
export function rootFrom(address: string): string {
  return "../".repeat(address.split("/").length - 1);
}

/** Link from one page to another. */
export function linkBetween(from: string, to: string): string {
  return rootFrom(from) + to || "./";
}

export interface Target {
  /** Path of the file in this repository; that of the page itself for a link to one of its sections. */
  readonly path: string;
  /** Name of the section with its `#`, or nothing. */
  readonly hash: string;
}

/** Finds the file that a page links to; undefined if the link leads elsewhere. */
export function targetOf(from: string, href: string): Target | undefined {
  const own = href.startsWith(REPOSITORY);
  if (!own && /^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined;
  const [link = "", section] = (own ? href.slice(REPOSITORY.length) : href).split("#");
  const hash = section === undefined ? "" : `#${section}`;
  if (link === "") return { path: from, hash };
  const path = posix.join(own ? "." : posix.dirname(from), decodeURIComponent(link)).replace(/\/$/, "");
  return { path, hash };
}
