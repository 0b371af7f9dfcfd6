import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openapi } from "../../gen/openapi.js";
import { Share } from "../../src/concurrency/share.js";
import { OnePortServer } from "../../src/server/listen/one-port.js";
import { shapeFastifyErrors } from "../../src/server/listen/unserved.js";
import { addPortal, FILES_MAX, MOVED_PAGES } from "../../src/server/portal/portal.js";
import { read } from "../support/documents.js";
import { ISSUER } from "../support/oauth.js";
import { exchange } from "../support/raw.js";
import { startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PAGE = `<!doctype html><title>recalld</title><p>${"a".repeat(2000)}</p>`;
const SCRIPT = `console.log(${JSON.stringify("b".repeat(2000))});`;
const ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>';

let folder: string;
let app: FastifyInstance;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "recalld-web-"));
  const files = {
    "index.html": PAGE,
    "assets/index-1a2b3c4d.js": SCRIPT,
    "favicon.svg": ICON,
    "a b.txt": "c",
    "large.bin": "e".repeat(8_000_000),
    "docs/missing/page.html": '<a href="../">Docs</a><a href="../../">Portal</a>',
    "assets/recalld.js": "d",
    "docs/index.html": PAGE,
    "docs/api.html": PAGE,
    "docs/files/compose.yaml.html": PAGE,
    "docs/assets/search-1a2b3c4d.json": "[]",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (text.length < 1024) continue;
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(text));
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text));
  }
  ({ app, url } = await serve(folder));
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

async function serve(from: string) {
  const app = Fastify({
    exposeHeadRoutes: false,
    serverFactory: (handler) => new OnePortServer(handler),
  });
  shapeFastifyErrors(app);
  addPortal(app, {
    folder: from,
    authorizes: true,
    files: new Share({ total: FILES_MAX, what: "files being sent" }),
  });
  return { app, url: await app.listen({ port: 0, host: "127.0.0.1" }) };
}

describe("the portal", () => {
  it.each(["/", "/index.html", "/?a=b", "/docs/", "/docs/api", "/docs/files/compose.yaml", "/docs/api?a=b"])(
    "is served at %s, never kept by a cache, under a strict policy",
    async (path) => {
      const answer = await fetch(url + path);
      expect(await answer.text()).toBe(PAGE);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": expect.stringContaining("camera=()"),
      });
      const policy = answer.headers.get("content-security-policy");
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
      expect(policy).not.toMatch(/unsafe|data:|http|\*/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(read("docs/operations.md")).toContain(policy);
    },
  );

  it("lets its assets be kept for ever", async () => {
    const answer = await fetch(`${url}/assets/index-1a2b3c4d.js`);
    expect(answer.headers.get("content-type")).toBe("application/javascript; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(await answer.text()).toBe(SCRIPT);
    const { headers } = await fetch(`${url}/docs/assets/search-1a2b3c4d.json`);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("has an asset whose name never changes asked for each time", async () => {
    expect((await fetch(`${url}/assets/recalld.js`)).headers.get("cache-control")).toBe("no-cache");
  });

  it("is compressed for those who can read it, and for no other", async () => {
    const encodingFor = async (path: string, accepted: string) => {
      const answer = await fetch(url + path, { headers: { "accept-encoding": accepted } });
      expect(answer.headers.get("vary")).toBe("accept-encoding");
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("content-security-policy")).not.toBe(null);
      expect(await answer.text()).toBe(PAGE);
      return answer.headers.get("content-encoding");
    };
    for (const path of ["/", "/authorize", "/docs/", "/docs/api"]) {
      expect(await encodingFor(path, "gzip, br")).toBe("br");
      expect(await encodingFor(path, "gzip")).toBe("gzip");
      expect(await encodingFor(path, "br;q=0, gzip;q=0.5")).toBe("gzip");
      expect(await encodingFor(path, "gzip;q=0")).toBe(null);
      expect(await encodingFor(path, "identity")).toBe(null);
    }
    const { headers } = await fetch(`${url}/favicon.svg`);
    expect(headers.get("content-encoding")).toBe(null);
    expect(headers.get("content-type")).toBe("image/svg+xml");
  });

  it("is not sent again to those who have it", async () => {
    const { headers } = await fetch(url, { headers: { "accept-encoding": "identity" } });
    // `fetch` would ask every cache on the way for a new copy, which this server takes for itself, too.
    const head = `GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: ${headers.get("etag")}\r\nConnection: close\r\n\r\n`;
    const again = await exchange(Number(new URL(url).port), head);
    expect(again).toMatch(/^HTTP\/1\.1 304 [\s\S]*\r\ncache-control: no-cache\r\n[\s\S]*\r\n\r\n$/);
    expect((await fetch(url, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  it("answers HEAD with the headers alone", async () => {
    const answer = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
    expect(answer.headers.get("content-length")).toBe(String(PAGE.length));
    expect(await answer.text()).toBe("");
  });

  it("serves names that must be escaped", async () => {
    expect(await (await fetch(`${url}/a%20b.txt`)).text()).toBe("c");
  });

  const openFiles = () => {
    const paths = readdirSync("/proc/self/fd").map((fd) => {
      const link = `/proc/self/fd/${fd}`;
      return existsSync(link) ? readlinkSync(link) : "";
    });
    return paths.filter((path) => path.startsWith(folder)).length;
  };
  it.skipIf(!existsSync("/proc/self/fd"))(
    "closes the files of answers that nobody waits for any longer",
    async () => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
      socket.write("GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n".repeat(4));
      await expect.poll(openFiles).toBeGreaterThan(1);
      socket.destroy();
      await expect.poll(openFiles).toBe(0);
    },
  );

  it("leads from /docs to the guides, whatever path stands before it", async () => {
    const response = await fetch(`${url}/docs`, { redirect: "manual" });
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("./docs/");
  });

  it.each([
    ["/docs/api/", "./../api"],
    ["/docs/api.md", "./api"],
    ["/docs/API.html", "./api"],
    ["/docs/docs/api.md", "./../api"],
    ["/docs/README.md", "./"],
    ["/docs/index.html", "./"],
    ["/docs/files/compose.yaml/", "./../../files/compose.yaml"],
    ...[...MOVED_PAGES].flatMap(([old, address]) => {
      const up = "../".repeat(old.split("/").length - 1);
      return ["", ".md"].map((ending) => [`/docs/${old}${ending}`, `./${up}${address}`]);
    }),
  ])("leads from %s to the page that is meant", async (path, location) => {
    const response = await fetch(url + path, { redirect: "manual" });
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe(location);
  });

  it.each([
    ["slashes before a letter", `${"/".repeat(16_000)}a`],
    ["slashes behind one", `a${"/".repeat(16_000)}`],
  ])("spends neither time nor bytes on %s", async (_, address) => {
    const beganMs = performance.now();
    for (let times = 0; times < 10; times++) {
      const response = await fetch(`${url}/docs/${address}`, { headers: { accept: "text/html" } });
      expect(response.status).toBe(404);
      expect((await response.text()).length).toBeLessThan(1_000);
    }
    // Trimming the slashes by a pattern took a third of a second each.
    expect(performance.now() - beganMs).toBeLessThan(1_500);
  });

  it.each([
    ["/docs/nothing", "./"],
    ["/docs/nothing/here", "./../"],
    ["/docs/no/thing/here?a=b", "./../../"],
  ])("says to browsers at %s that it is no page, with links that lead on", async (path, up) => {
    const answer = await fetch(url + path, { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(answer.status).toBe(404);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "x-frame-options": "DENY",
      "content-security-policy": expect.stringContaining("script-src 'self'"),
    });
    expect(await answer.text()).toBe(`<a href="${up}">Docs</a><a href="${up}../">Portal</a>`);
    const program = await fetch(url + path);
    expect(await program.json()).toMatchObject({ code: "not_found" });
  });

  it.each([
    "/assets/index-0old.js",
    "/assets/",
    "/assets",
    "/stroe",
    "/docs/nothing",
    "/docs/nothing/",
    "/docs/nothing.md",
    "/docs/api.html.br",
    "/docs/..%2findex",
    "/docs/%00",
    "/docs/assets/",
    "/docs/assets/search-0old0old.json",
    "/index.html.gz",
    "/index.htm",
    "/..%2fpackage.json",
    "/%2e%2e/package.json",
    "/assets/..%2findex.html",
    "//index.html",
  ])("is not the answer to %s", async (path) => {
    const answer = await fetch(url + path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "not_found" });
    expect(answer.headers.get("cache-control")).toBe(null);
  });

  it("says how to build it when it is not", async () => {
    const bare = await serve(join(folder, "nowhere"));
    const answer = await fetch(bare.url);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      code: "not_found",
      message: expect.stringContaining("npm run build:web"),
    });
    await bare.app.close();
  });
});

describe("the whole server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ env: { PUBLIC_URL: ISSUER } });
  });
  afterAll(() => server.stop());

  it.each([
    "/",
    "/livez",
    "/nowhere",
    "/recall",
    "/namespaces/n/memories/mem_1",
    "/recalld.v1.AccountService/GetAccount",
  ])("forbids browsers to guess at the type of %s", async (path) => {
    const { headers } = await fetch(server.url + path);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).not.toBe(null);
  });

  it("has the OpenAPI document of the contract, which a cache asks for each time", async () => {
    const answer = await fetch(`${server.url}/openapi.json`);
    expect(await answer.json()).toEqual(openapi);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
  });

  it("has an llms.txt that is short, and names only what is there", async () => {
    const answer = await fetch(`${server.url}/llms.txt`);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await answer.text();
    expect(text.length).toBeLessThan(3000);
    expect(text).toContain("The bundled model reads English.");
    const paths = [...text.matchAll(/(?:POST|GET|DELETE) (?:or DELETE )?(\/[\w/{}]+)/g)].map(
      ([, path]) => path,
    );
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(openapi.paths).toHaveProperty([String(path)]);
    for (const [, link] of text.matchAll(/\]\((.*?)\)/g)) {
      expect((await fetch(new URL(String(link), `${server.url}/llms.txt`))).status).toBe(200);
    }
  });

  it("answers at /docs/ with the guides", async () => {
    expect((await fetch(`${server.url}/docs/`)).status).toBe(200);
  });

  it("asks for consent on a page that no other page can frame, and that other pages can wait for", async () => {
    const { headers, status } = await fetch(`${server.url}/authorize?client_id=x`, { redirect: "manual" });
    expect(status).toBe(200);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("unsafe-none");
    expect((await fetch(server.url)).headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  it.each([
    ["PATCH", "/openapi.json", "GET"],
    ["POST", "/docs/", "GET"],
    ["PUT", "/docs/files/compose.yaml", "GET, HEAD"],
    ["OPTIONS", "/openapi.json", "GET"],
    ["TRACE", "/openapi.json", "GET"],
    ["QUERY", "/openapi.json", "GET"],
  ])("answers %s %s with 405 and what is allowed", async (method, path, allow) => {
    // This is written by hand, because fetch sends no TRACE.
    const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(server.port, head);
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(/^allow: (.*)\r$/im.exec(answer)?.[1]?.split(", ")).toEqual(
      expect.arrayContaining(allow.split(", ")),
    );
    expect(answer).toMatch(/"code":"unimplemented"/);
  });
});
