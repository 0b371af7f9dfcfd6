import { makeSite } from "../../scripts/docs/site.js";
import { ROOT } from "./documents.js";

export const SCRIPT = "assets/docs-1a2b3c4d.js";
export const STYLE = "assets/docs-1a2b3c4d.css";

/** The docs as the build makes them, but for their script and style. */
export const site = new Map(
  makeSite(ROOT, { script: SCRIPT, style: STYLE }).map(({ path, bytes }) => [path, bytes.toString()]),
);
export const pages = [...site].filter(([path]) => path.endsWith(".html"));

/** Path of a page's file by its address, as the server finds it. */
export const fileOf = (address: string) => (site.has(address) ? address : `${address || "index"}.html`);

/** Addresses that a page's HTML leads to or loads, as they are written. */
export const linksIn = (html: string) =>
  [...html.matchAll(/ (?:href|src|data-index)="([^"]*)"/g)].map(([, link]) => unescaped(link as string));

/** Names of a page's sections. */
export const anchorsIn = (html: string) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));

function unescaped(html: string): string {
  return html
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
