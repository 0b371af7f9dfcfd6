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
