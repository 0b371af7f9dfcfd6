import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Files by path, of each repository by id. */
export type Repositories = Readonly<Record<string, Readonly<Record<string, Buffer | string>>>>;

/** Size above which files come from another address, as with the real hub. */
const LARGE_BYTES = 10_000;

export interface Asked {
  readonly path: string;
  readonly range: string | undefined;
}

/** Handles a request in place of the hub, and returns true if it did. */
export type Disturb = (asked: Asked, response: ServerResponse, content: Buffer | undefined) => boolean;

export interface FakeHub {
  readonly url: string;
  /** Requests so far; a redirected one counts once. */
  readonly asked: Asked[];
  disturb: Disturb;
  /** Changes the repositories' content from here on, under a new commit. */
  change(repositories: Repositories): void;
  close(): void;
}

/** Opens a hub that answers as Hugging Face does: commits, hashes, redirects to large files, ranges. */
export async function openHub(repositories: Repositories): Promise<FakeHub> {
  const states = [repositories];
  const server = createServer((request, response) => answer(hub, states, { request, response }));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const hub: FakeHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    disturb: () => false,
    change: (next) => void states.push(next),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return hub;
}

const commitOf = (state: number) => String(state).padStart(40, "c");

function answer(
  hub: FakeHub,
  states: readonly Repositories[],
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): void {
  const path = request.url ?? "";
  const [, isElsewhere, model = "", revision, file = ""] =
    /^(\/elsewhere)?\/([^/]+\/[^/]+|[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path) ?? [];
  const state =
    revision === "main" ? states.length - 1 : states.findIndex((_, i) => commitOf(i) === revision);
  const found = states[state]?.[model]?.[file];
  const content = found === undefined ? undefined : Buffer.from(found);
  const asked = { path: path.replace("/elsewhere", ""), range: request.headers.range };
  if (isElsewhere === undefined) hub.asked.push(asked);
  if (hub.disturb(asked, response, content)) return;
  const headers = { "x-repo-commit": commitOf(state) };
  if (content === undefined) {
    response.writeHead(404).end("Entry not found");
  } else if (isElsewhere !== undefined) {
    sendRange(response, { content, range: request.headers.range });
  } else if (content.length > LARGE_BYTES) {
    const etag = createHash("sha256").update(content).digest("hex");
    const location = `/elsewhere/${model}/resolve/${commitOf(state)}/${file}`;
    response.writeHead(302, { ...headers, "x-linked-etag": `"${etag}"`, location }).end();
  } else {
    const etag = createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
    sendRange(response, {
      content,
      range: request.headers.range,
      headers: { ...headers, etag: `"${etag}"` },
    });
  }
}

function sendRange(
  response: ServerResponse,
  {
    content,
    range,
    headers = {},
  }: { content: Buffer; range: string | undefined; headers?: Record<string, string> },
): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
  if (from > 0 && from >= content.length) {
    response.writeHead(416).end();
    return;
  }
  response.writeHead(from > 0 ? 206 : 200, {
    ...headers,
    "content-length": content.length - from,
    ...(from > 0 && { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
  });
  response.end(content.subarray(from));
}
