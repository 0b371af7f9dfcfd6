import { useSyncExternalStore } from "react";

/**
 * Location of the user in the portal. It follows the # of the address, so that the server has a single page,
 * under any path.
 */
export interface Route {
  /** First segment, for example `usage`; empty on the first page. */
  readonly page: string;
  /** Segments after the first, decoded. */
  readonly rest: readonly string[];
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(onHashChange, () => location.hash);
  return parseRoute(hash);
}

export function parseRoute(hash: string): Route {
  const [page = "", ...rest] = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decode);
  return { page, rest };
}

/** Makes a link to a page: `linkTo("memories", "a/b")` is `#/memories/a%2Fb`. */
export function linkTo(...segments: string[]): string {
  return `#/${segments.map(encodeURIComponent).join("/")}`;
}

export function go(...segments: string[]): void {
  location.hash = linkTo(...segments);
}

/** Opens something on the page that is shown, with an address of its own: Back closes it. */
export function openAt(...segments: string[]): void {
  go(...segments);
  history.replaceState({ opened: true }, "");
}

let closing = false;

/** Closes what was opened, by going back if the page below was left for it, so that Back does not reopen it. */
export function closeTo(...below: string[]): void {
  if (closing) return;
  if (history.state?.opened !== true) {
    location.replace(linkTo(...below));
    return;
  }
  closing = true;
  const done = () => {
    closing = false;
  };
  addEventListener("popstate", done, { once: true });
  history.back();
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
