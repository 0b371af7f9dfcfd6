import { useSyncExternalStore } from "react";

/**
 * Where the user is. It stands behind the # of the address, so that the server needs to know one page
 * only, whatever path it is served under.
 */
export interface Route {
  /** The first segment, `usage`; empty at the start. */
  readonly page: string;
  /** The segments after it, decoded. */
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

/** `linkTo("memories", "a/b")` is `#/memories/a%2Fb`. */
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
    // A stray % that someone typed: take it as it stands.
    return segment;
  }
}
