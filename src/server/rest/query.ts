import { invalid } from "../../errors.js";

/**
 * Reads the names and values of a URL's query, in their order, each as often as it comes. `URLSearchParams`
 * is not used: it reads bytes that are not UTF-8 as U+FFFD, so that two values become one.
 *
 * @throws MemoryError `invalid_argument`.
 */
export function readQuery(url: string): [name: string, value: string][] {
  const start = url.indexOf("?");
  if (start === -1) return [];
  const pairs = url.slice(start + 1).split("&");
  return pairs
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [decode(name), decode(value.join("="))];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw invalid("query", "is not percent-encoded UTF-8");
  }
}
