/**
 * Pages of the docs that were merged into others: the former address below `/docs/`, and the page and section that
 * has what it had. Links in mails, logs and error messages lead to the former ones.
 */
export const MOVED_PAGES: ReadonlyMap<string, string> = new Map([
  ["concepts", "agents#concepts"],
  ["moving", "recipes#move-from-another-memory"],
  ["container", "deploy#container"],
  ["kubernetes", "deploy#kubernetes"],
  ["scaling", "deploy#scaling"],
  ["backup", "operations#backups"],
  ["admin", "operations#recalld-admin"],
  ["observability", "operations#metrics"],
  ["limits", "errors#limits"],
  ["oauth", "mcp#oauth"],
]);
