import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Share } from "../../concurrency/share.js";
import { sendError } from "../errors.js";
import { networkOf } from "../listen/client-address.js";
import { onTaken } from "../listen/open-requests.js";

/** Pattern of the names that the build gives to what it builds, such as `/assets/index-DiwrgTda.js`. */
const HASHED = /^\/(?:docs\/)?assets\/.+-[\w-]{8}\.\w+$/;
/** Parts of the docs that are no pages; a page's address is `api`, without the ending of its file. */
const NO_PAGE = /^(?:assets|pictures)\//;
/** Page for addresses that lead nowhere. Its links begin with the way from its own folder up to `/docs/`. */
const MISSING = "missing/page";
const UP_FROM_MISSING = /="\.\.\//g;
/** Longer addresses lead nowhere. A page for them would have the way up in each link: 32 times 48 KB for 16 KB. */
const ADDRESS_CHARS_MAX = 256;
const YEAR_SECONDS = 31_536_000;

/**
 * Policy that allows only the portal's and the docs' own files: no script or style in the page, and no frame
 * around it.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  // Text that becomes markup or script is an error: no page needs it.
  "require-trusted-types-for 'script'",
].join("; ");

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
  ["decisions/0005-a-replayed-key-of-a-deleted-memory-is-an-error", "decisions/0004-idempotency-by-claims"],
  ["decisions/0012-exact-up-to-20480-vectors", "decisions/0011-sealed-segments-and-an-exact-tail"],
  ["decisions/0015-delete-and-drop-need-no-index", "decisions/0006-dropped-logs-keep-bare-numbers"],
  ["decisions/0019-a-remote-model-shares-the-queue", "decisions/0020-accounts-take-turns-at-the-model"],
  [
    "decisions/0024-a-recall-with-a-filter-compares-what-matches",
    "decisions/0013-a-search-is-as-broad-as-measured-recall-needs",
  ],
]);

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  // Features that the portal does not use; copying a key is all it asks of the browser.
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** Path of the page on which a user lets an application in. */
const AUTHORIZE = "/authorize";

/** Maximum number of files that are sent at once: an answer that nobody reads keeps its file open. */
export const FILES_MAX = 256;
const RETRY_SECONDS = 1;

export interface PortalOptions {
  /** Files that are being sent, by network. */
  readonly files: Share;
  /** Folder of the built portal, the docs and the reference for programs. */
  readonly folder: string;
  /** Serves the portal's page at `/authorize`, too. */
  readonly authorizes: boolean;
}

/**
 * Serves the portal's files, each at its own path; the page itself also at `/`. No path answers for others: a
 * mistyped API path or an asset of an older build stays a 404 in JSON.
 */
export function addPortal(app: FastifyInstance, { folder, authorizes, files }: PortalOptions): void {
  if (!existsSync(join(folder, "index.html"))) return void app.get("/", notBuilt);
  app.register(async (portal) => {
    portal.addHook("onRequest", async ({ raw }, reply) => {
      const owner = networkOf(raw.clientAddress ?? "");
      if (files.tryTake(owner)) return onTaken(raw, () => files.give(owner));
      reply.header("retry-after", RETRY_SECONDS);
      return sendError(reply, 503, "too many files are being sent now; try again in 1 s");
    });
    portal.addHook("onSend", describeFile);
    portal.addHook("onSend", async ({ raw }, _reply, file) => {
      // Node forgets the answers that wait on an HTTP/1 connection which ends, and their files would stay open.
      if (file instanceof Readable) onTaken(raw, () => void file.destroy());
    });
    portal.register(staticFiles, {
      root: folder,
      wildcard: false,
      // One route serves all pages of the docs: a route for each of them would lengthen the start.
      globIgnore: ["docs/**", "**/*.{br,gz}"],
      preCompressed: true,
      acceptRanges: false,
      cacheControl: false,
      lastModified: false,
      allowedPath: (path) => !/\.\.|\0/.test(path),
    });
    // Relative, for whatever path stands before it.
    portal.get("/docs", (_request, reply) => reply.redirect("./docs/"));
    const docs = openDocs(join(folder, "docs"));
    portal.route<{ Params: { "*": string } }>({
      method: ["GET", "HEAD"],
      url: "/docs/*",
      handler: (request, reply) => {
        const address = request.params["*"];
        if (address.length > ADDRESS_CHARS_MAX) return reply.callNotFound();
        if (NO_PAGE.test(address)) return reply.sendFile(`docs/${address}`);
        if (docs.pages.has(address)) return reply.sendFile(`docs/${address || "index"}.html`);
        const meant = meantBy(address);
        const moved = MOVED_PAGES.get(meant);
        if (moved !== undefined || docs.pages.has(meant))
          return reply.redirect(`${upFrom(address)}${moved ?? meant}`);
        if (docs.missing === undefined || !wantsPage(request)) return reply.callNotFound();
        const page = docs.missing.replaceAll(UP_FROM_MISSING, `="${upFrom(address)}`);
        return reply.code(404).type("text/html; charset=utf-8").send(page);
      },
    });
    if (authorizes) portal.get(AUTHORIZE, (_request, reply) => reply.sendFile("index.html"));
  });
}

/** Finds the addresses of pages below `/docs/`, empty for the first, and the page for those that lead nowhere. */
function openDocs(folder: string) {
  if (!existsSync(folder)) return { pages: new Set<string>(), missing: undefined };
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = files
    .filter((file) => file.endsWith(".html"))
    .map((file) => file.replaceAll("\\", "/").replace(/(?:^index)?\.html$/, ""));
  const missing = pages.includes(MISSING) ? readFileSync(join(folder, `${MISSING}.html`), "utf8") : undefined;
  return { pages: new Set(pages), missing };
}

/** The page that somebody may mean who writes `api/`, `api.md`, `docs/api.md`, `API` or `README.md`. */
function meantBy(address: string): string {
  const bare = address.replace(/\/+$/, "").replace(/^docs\//, "");
  const name = bare.replace(/\.(?:md|html)$/, "");
  if (name.startsWith("files/")) return name;
  const meant = name.toLowerCase().replace(/\/readme$/, "");
  return meant === "readme" || meant === "index" ? "" : meant;
}

/** Way from a page up to `/docs/`, whatever path stands before it. */
function upFrom(address: string): string {
  return `./${"../".repeat(address.split("/").length - 1)}`;
}

/** True for browsers; programs get the error in JSON. */
function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes("text/html") ?? false;
}

/** Adds to a file's headers what the plugin does not know. A 304 leaves those of a page as the browser has them. */
async function describeFile({ url, routeOptions }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const isPage = String(reply.getHeader("content-type")).startsWith("text/html");
  if (reply.statusCode !== 200 && reply.statusCode !== 304 && !isPage) return;
  const [path = ""] = url.split("?");
  const vary = reply.getHeader("vary");
  reply.headers({
    vary: vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`,
    // A name with a hash changes with its content, others are asked for anew.
    "cache-control": HASHED.test(path) ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache",
    "cross-origin-resource-policy": "same-origin",
  });
  if (path.endsWith(".ts")) reply.type("text/plain; charset=utf-8");
  if (!isPage) return;
  // An application that has opened a window for its user must find that window again, and pages that forbid this
  // cut the tie for good.
  const opener = routeOptions.url === AUTHORIZE ? "unsafe-none" : "same-origin";
  reply.headers({ ...PAGE_HEADERS, "cross-origin-opener-policy": opener });
}

function notBuilt(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendError(reply, 404, "the portal is not built: run `npm run build:web` and start again");
}
