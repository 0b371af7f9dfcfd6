import { useSyncExternalStore } from "react";
import { forgetUnsaved } from "./parts/ask-before-leaving";

/**
 * Location of the user in the portal. It follows the # of the address, so that the server has a single page,
 * under any path.
 */
export interface Route {
  /** First segment, for example `usage`; empty on the first page. */
  readonly page: string;
  /** Segments after the first, decoded. */
  readonly rest: readonly string[];
  /** Values after a ?, such as how a list is filtered. */
  readonly query: Query;
}

export type Query = Readonly<Record<string, string>>;

export function useRoute(): Route {
  const hash = useSyncExternalStore(onHashChange, () => location.hash);
  return parseRoute(hash);
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = halvesOf(hash);
  const [page = "", ...rest] = path
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decode);
  return { page, rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Shows the same page with another query, in place of the present one. */
export function setQuery(query: Query): void {
  const [path = ""] = halvesOf(location.hash);
  const search = new URLSearchParams(query).toString();
  history.replaceState(history.state, "", search === "" ? path : `${path}?${search}`);
  // Only what the user does is told by itself, and later than a field that is typed into can wait.
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** True if the page was opened for an application's request, at an address without other pages. */
export function isAuthorizing(): boolean {
  return location.pathname.endsWith("/authorize");
}

/** Makes a link to a page: `linkTo("memories", "a/b")` is `#/memories/a%2Fb`. */
export function linkTo(...segments: string[]): string {
  return `#/${segments.map(encodeURIComponent).join("/")}`;
}

export function go(...segments: string[]): void {
  forgetUnsaved();
  location.hash = linkTo(...segments);
}

/** Opens something on the page that is shown, with an address of its own: Back closes it. The query stays. */
export function openAt(...segments: string[]): void {
  location.hash = withQuery(linkTo(...segments));
  history.replaceState({ opened: true }, "");
}

let closing = false;

/** Closes what was opened, by going back if the page below was left for it, so that Back does not reopen it. */
export function closeTo(...below: string[]): void {
  if (closing) return;
  if (history.state?.opened !== true) {
    location.replace(withQuery(linkTo(...below)));
    return;
  }
  closing = true;
  const done = () => {
    closing = false;
  };
  addEventListener("popstate", done, { once: true });
  history.back();
}

/** Adds the query of the present address. */
function withQuery(link: string): string {
  const [, query] = halvesOf(location.hash);
  return query === undefined ? link : `${link}?${query}`;
}

/** Splits an address at its first ?; segments have theirs encoded. */
function halvesOf(hash: string): [path: string, query?: string] {
  const at = hash.indexOf("?");
  return at < 0 ? [hash] : [hash.slice(0, at), hash.slice(at + 1)];
}

function onHashChange(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Someone typed a stray %, which is kept as it is.
    return segment;
  }
}
