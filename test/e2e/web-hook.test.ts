import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Caller, signUp } from "../support/caller.js";
import { blocks, section } from "../support/documents.js";
import { program } from "../support/program.js";
import { sharedServer, type TestServer } from "../support/server.js";

const PROGRAM = program("recalld");
const SECRET = "0123456789abcdef0123456789abcdef";
const WAIT = { timeout: 20_000, interval: 50 };

// Each watch is a process of its own, beside all other tests.
vi.setConfig({ testTimeout: 60_000 });

describe("recalld watch --post", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-hook-"));
  let server: TestServer;
  let ana: Caller;
  let receiver: Server;
  /** Texts that were accepted, in the order in which they came. */
  let accepted: string[];
  /** Status that the receiver answers next. */
  let status: number;
  const watches = new Set<ChildProcess>();

  const hook = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

  beforeAll(async () => {
    server = await sharedServer();
    ana = await signUp(server.url);
    receiver = createServer(async (request, response) => {
      const body = JSON.parse(String(await buffer(request)));
      if (status === 200) accepted.push(body.text ?? body.event);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  });
  beforeEach(() => {
    [accepted, status] = [[], 200];
  });
  afterAll(() => {
    for (const watch of watches) watch.kill("SIGKILL");
    receiver.closeAllConnections();
    receiver.close();
    rmSync(folder, { recursive: true });
  });

  function watch(namespace: string, ...more: string[]) {
    const env = { PATH: process.env.PATH, HOME: folder, RECALLD_HOOK_SECRET: SECRET };
    const own = { RECALLD_URL: server.url, RECALLD_API_KEY: ana.key };
    const args = [PROGRAM, "watch", "-n", namespace, "--post", hook(), ...more];
    const child = spawn(process.execPath, args, { env: { ...env, ...own } });
    watches.add(child);
    const said = { out: "", err: "" };
    child.stdout.on("data", (chunk) => (said.out += chunk));
    child.stderr.on("data", (chunk) => (said.err += chunk));
    const exited = once(child, "close").then(([code]) => code as number | null);
    return { child, said, exited };
  }

  const store = (namespace: string, ...texts: string[]) =>
    texts.reduce<Promise<unknown>>(
      (before, text) => before.then(() => ana.store({ namespace, text })),
      Promise.resolve(),
    );
  const hasBegun = (file: string) =>
    vi.waitFor(() => expect(readFileSync(file, "utf8")).toContain('"position"'), WAIT);

  it("goes on where it stopped: after kill -9, and with what was stored meanwhile", async () => {
    const file = join(folder, "resumes.json");
    const first = watch("resumes", "--state", file);
    await hasBegun(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await store("resumes", "one", "two");
    await vi.waitFor(() => expect(accepted).toEqual(["one", "two"]), WAIT);
    await vi.waitFor(() => expect(first.said.out.match(/^stored /gm)).toHaveLength(2), WAIT);
    first.child.kill("SIGKILL");
    await first.exited;
    await store("resumes", "three");
    const second = watch("resumes", "--state", file);
    await store("resumes", "four");
    // Only the last one before the kill may come twice: its position may not have been written.
    const rest = () => accepted.slice(accepted[2] === "two" ? 3 : 2);
    await vi.waitFor(() => expect(rest()).toEqual(["three", "four"]), WAIT);
    second.child.kill();
  });

  it("keeps what is not accepted, in order, until it is", async () => {
    const file = join(folder, "keeps.json");
    const { said, child } = watch("keeps", "--state", file);
    await hasBegun(file);
    status = 500;
    await store("keeps", "one", "two");
    await vi.waitFor(() => expect(said.err).toContain("not accepted (HTTP 500), again in"), WAIT);
    const { position } = JSON.parse(readFileSync(file, "utf8"));
    status = 200;
    await vi.waitFor(() => expect(accepted).toEqual(["one", "two"]), WAIT);
    await vi.waitFor(() => expect(JSON.parse(readFileSync(file, "utf8")).position).not.toBe(position), WAIT);
    child.kill();
  });

  it("ends at 410 and after --give-up-after, and loses nothing by it", async () => {
    const file = join(folder, "ends.json");
    const first = watch("ends", "--state", file);
    await hasBegun(file);
    status = 410;
    await store("ends", "one");
    expect(await first.exited).toBe(1);
    expect(first.said.err).toContain("410 Gone");
    status = 503;
    const second = watch("ends", "--state", file, "--give-up-after", "1s");
    expect(await second.exited).toBe(1);
    expect(second.said.err).toContain("gave up after");
    status = 200;
    const third = watch("ends", "--state", file);
    await vi.waitFor(() => expect(accepted).toEqual(["one"]), WAIT);
    third.child.kill();
  });

  it("has a file of its own for each receiver, and takes no other's", async () => {
    const { child } = watch("own");
    const stateDir = join(folder, ".local/state/recalld");
    await vi.waitFor(() => expect(statSync(stateDir).isDirectory()).toBe(true), WAIT);
    child.kill();
    const file = join(folder, "other.json");
    writeFileSync(
      file,
      JSON.stringify({ server: server.url, namespace: "other", post: hook(), position: "x" }),
    );
    const wrong = watch("own", "--state", file);
    expect(await wrong.exited).toBe(2);
    expect(wrong.said.err).toContain("another server, namespace or receiver");
    writeFileSync(file, "{");
    expect(await watch("own", "--state", file).exited).toBe(2);
  });

  it("refuses an address that is none, and options that have no use", async () => {
    const env = { PATH: process.env.PATH, HOME: folder };
    const run = (...args: string[]) => {
      const child = spawn(process.execPath, [PROGRAM, "watch", ...args], { env });
      return once(child, "close").then(([code]) => code as number | null);
    };
    expect(await run("--post", "ftp://127.0.0.1/", "--secret", SECRET)).toBe(2);
    expect(await run("--post", "http://127.0.0.1:9/", "--secret", "short")).toBe(2);
    expect(await run("--secret", SECRET)).toBe(2);
  });

  it("posts to the receiver that the docs show, which takes nothing that is not signed", async () => {
    const [code = ""] = blocks(section("docs/command-line.md", "## Web hooks"), "js");
    const file = join(folder, "receiver.mjs");
    writeFileSync(file, code);
    const env = { PATH: process.env.PATH, RECALLD_HOOK_SECRET: SECRET, PORT: "0" };
    const shown = spawn(process.execPath, [file], { env });
    watches.add(shown);
    let out = "";
    shown.stdout.on("data", (chunk) => (out += chunk));
    await vi.waitFor(() => expect(out).toMatch(/at (http:\S+)/), WAIT);
    const [, url = ""] = /at (http:\S+)/.exec(out) ?? [];
    const headers = { "recalld-signature": "t=1,v1=00" };
    expect((await fetch(url, { method: "POST", body: "{}", headers })).status).toBe(400);
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(400);
    const position = join(folder, "docs.json");
    const { child } = watch("docs", "--state", position, "--post", url);
    await hasBegun(position);
    await store("docs", "Ana is allergic to peanuts.");
    await vi.waitFor(() => expect(out).toContain("stored Ana is allergic to peanuts."), WAIT);
    child.kill();
    shown.kill();
  });
});
