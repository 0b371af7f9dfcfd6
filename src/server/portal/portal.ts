import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendError } from "../wire/plain-errors.js";
import type { PortalFile } from "./portal-files.js";

/** File of the portal's page. */
export const INDEX = "/index.html";
/** Pattern of the names that the build gives to what it builds, such as `/assets/index-DiwrgTda.js`. */
const HASHED = /^\/(?:docs\/)?assets\/.+-[\w-]{8}\.\w+$/;
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

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  // Features that the portal does not use; copying a key is all it asks of the browser.
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/**
 * Serves the portal's files, each at its own path; the page itself also at `/`. No path answers for others: a
 * mistyped API path or an asset of an older build stays a 404 in JSON.
 */
export function addPortal(app: FastifyInstance, files: readonly PortalFile[]): void {
  for (const file of files) if (!isOfDocs(file)) addFile(app, file);
  const index = files.find(({ path }) => path === INDEX);
  if (index === undefined) app.get("/", notBuilt);
  else addFile(app, index, "/");
  addDocs(app, files.filter(isOfDocs));
}

function isOfDocs({ path }: PortalFile): boolean {
  return path.startsWith("/docs/");
}

/** Serves all pages of the docs by one route: a route for each of them would lengthen the start. */
function addDocs(app: FastifyInstance, files: readonly PortalFile[]): void {
  const pages = new Map(files.map((file) => [addressOf(file), file]));
  // Relative, for whatever path stands before it.
  app.get("/docs", (_request, reply) => reply.redirect("./docs/"));
  app.route<{ Params: { "*": string } }>({
    method: ["GET", "HEAD"],
    url: "/docs/*",
    handler: (request, reply) => {
      const file = pages.get(request.params["*"]);
      if (file === undefined)
        return sendError(reply, 404, "the docs have no such page; they begin at /docs/");
      return sendFile(file, request, reply);
    },
  });
}

/** Returns a file's address below `/docs/`: a guide's is `api`, without the ending of its file. */
function addressOf({ path }: PortalFile): string {
  return path.slice("/docs/".length).replace(/(?:^index)?\.html$/, "");
}

/** Serves one file at its path. */
export function addFile(app: FastifyInstance, file: PortalFile, url = file.path): void {
  app.route({ method: ["GET", "HEAD"], url, handler: (request, reply) => sendFile(file, request, reply) });
}

/** Sends a file; a page with the headers of all pages, but for those that are given. */
export async function sendFile(
  file: PortalFile,
  request: FastifyRequest,
  reply: FastifyReply,
  otherHeaders: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  reply.headers({ etag: `"${file.etag}"`, "cross-origin-resource-policy": "same-origin" });
  reply.header("cache-control", lifetimeOf(file));
  if (file.type.startsWith("text/html")) reply.headers({ ...PAGE_HEADERS, ...otherHeaders });
  if (file.gzipped !== undefined) addVary(reply, "accept-encoding");
  // A proxy that compresses marks the tag as weak.
  if (request.headers["if-none-match"]?.includes(`"${file.etag}"`)) return reply.code(304).send();
  reply.type(file.type);
  if (file.gzipped === undefined || !takesGzip(request)) return reply.send(file.bytes);
  return reply.header("content-encoding", "gzip").send(await file.gzipped());
}

export function addVary(reply: FastifyReply, name: string): void {
  const before = reply.getHeader("vary");
  reply.header("vary", before === undefined ? name : `${before}, ${name}`);
}

/**
 * Returns a file's `Cache-Control`: a name with a hash changes with its content, others are asked for anew.
 */
function lifetimeOf({ path }: PortalFile): string {
  return HASHED.test(path) ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache";
}

export function takesGzip({ headers }: FastifyRequest): boolean {
  return /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers["accept-encoding"] ?? ""));
}

function notBuilt(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message =
    "the portal is not built: run `npm run build:web` and start again; the API is at /openapi.json";
  return sendError(reply, 404, message);
}
