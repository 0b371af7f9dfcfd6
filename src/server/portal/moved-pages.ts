/**
 * Pages of the docs that were merged into others: the former address below `/docs/`, and the page and section that
 * has what it had. Links in mails, logs and error messages lead to the former ones.
 *
 * A row without a section lets a browser keep the one of the link that it follows: `/docs/oauth#the-key` leads to
 * `mcp#the-key`. So are the rows of pages all of whose sections have kept their names.
 */
export const MOVED_PAGES: ReadonlyMap<string, string> = new Map([
  ["concepts", "agents#concepts"],
  ["moving", "recipes"],
  ["container", "deploy#container"],
  ["kubernetes", "deploy#kubernetes"],
  ["scaling", "deploy#scaling"],
  ["backup", "operations#backups"],
  ["admin", "operations#recalld-admin"],
  ["observability", "operations#metrics"],
  ["limits", "errors#limits"],
  ["oauth", "mcp"],
]);
