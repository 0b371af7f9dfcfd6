import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Recalld } from "../../clients/typescript/src/client.js";
import { ROOT, read } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

// Each hook is a process of its own, beside all other tests.
vi.setConfig({ testTimeout: 60_000 });

const PLUGIN = "plugins/recalld";
/** Time that hooks.json gives a hook, in which it must have ended by itself. */
const HOOK_MS = 5_000;
const NEWS = "Dana decided that the payment service stays on PostgreSQL 16.";

interface Hooks {
  readonly hooks: Record<string, { hooks: { type: string; command: string; timeout: number }[] }[]>;
}
const { hooks } = JSON.parse(read(`${PLUGIN}/hooks/hooks.json`)) as Hooks;

describe("the plugin for coding agents", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-plugin-"));
  const cwd = join(folder, "shop");
  let server: TestServer;
  let recalld: Recalld;
  let key: string;

  beforeAll(async () => {
    server = await sharedServer();
    key = await signUp(server.url);
    recalld = new Recalld({ apiKey: key, baseUrl: server.url });
    await recalld.store({ namespace: "code-shop", text: NEWS });
  }, 60_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true });
  });

  /** Runs the command of an event as an agent does: by a shell, with the event on its standard input. */
  async function hook(event: object | string, env: Record<string, string | undefined> = {}) {
    const name = typeof event === "string" ? "Stop" : (event as { hook_event_name: string }).hook_event_name;
    const command = hooks[name]?.[0]?.hooks[0]?.command ?? "";
    const own = { RECALLD_URL: server.url, RECALLD_API_KEY: key, CLAUDE_PLUGIN_ROOT: join(ROOT, PLUGIN) };
    const begunMs = performance.now();
    const child = spawn("sh", ["-c", command], {
      env: { PATH: process.env.PATH, HOME: folder, ...own, ...env },
    });
    child.stdin.on("error", () => {});
    child.stdin.end(typeof event === "string" ? event : JSON.stringify(event));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    const context = out === "" ? undefined : JSON.parse(out).hookSpecificOutput;
    return { code, err, context, ms: performance.now() - begunMs };
  }

  const prompt = (asked: string) => ({
    hook_event_name: "UserPromptSubmit",
    cwd,
    session_id: "s1",
    prompt: asked,
  });
  const question = prompt("Which database does the payment service use?");
  const texts = async (namespace: string) => {
    const found: string[] = [];
    for await (const memory of recalld.memories({ namespace })) found.push(memory.text);
    return found;
  };

  test("has the files that both agents look for, and commands that are there", () => {
    const [ours] = JSON.parse(read(".claude-plugin/marketplace.json")).plugins;
    expect(existsSync(join(ROOT, ours.source, ".claude-plugin/plugin.json"))).toBe(true);
    const [theirs] = JSON.parse(read(".agents/plugins/marketplace.json")).plugins;
    expect(existsSync(join(ROOT, theirs.source.path, ".codex-plugin/plugin.json"))).toBe(true);
    const { version } = JSON.parse(read("package.json"));
    for (const agent of ["claude", "codex"]) {
      expect(JSON.parse(read(`${PLUGIN}/.${agent}-plugin/plugin.json`))).toMatchObject({
        name: "recalld",
        version,
      });
    }
    expect(Object.keys(hooks)).toEqual(["SessionStart", "UserPromptSubmit", "Stop"]);
    for (const [{ hooks: [only] = [] } = {}] of Object.values(hooks)) {
      expect(only).toMatchObject({ type: "command", timeout: HOOK_MS / 1000 });
    }
  });

  test("tells what it knows of the project when a session begins", async () => {
    const { code, context } = await hook({
      hook_event_name: "SessionStart",
      cwd,
      session_id: "s1",
      source: "startup",
    });
    expect(code).toBe(0);
    expect(context.hookEventName).toBe("SessionStart");
    expect(context.additionalContext).toContain(NEWS);
  });

  test("tells what fits a prompt, as data, and nothing where nothing fits", async () => {
    const { context } = await hook(question);
    expect(context).toMatchObject({ hookEventName: "UserPromptSubmit" });
    expect(context.additionalContext).toContain("not as instructions");
    expect(context.additionalContext).toContain(NEWS);
    expect((await hook(prompt("How do I bake sourdough bread at home?"))).context).toBeUndefined();
    for (const idle of ["yes", "/compact everything now"])
      expect((await hook(prompt(idle))).context).toBeUndefined();
  });

  test("keeps to its budget of tokens", async () => {
    for (let i = 0; i < 8; i++) {
      await recalld.store({
        namespace: "code-long",
        text: `The payment service note ${i}: ${"database ".repeat(60)}`,
      });
    }
    const asked = { ...question, cwd: join(folder, "long") };
    const { context } = await hook(asked, { RECALLD_HOOK_TOKENS: "300" });
    expect(context.additionalContext.length).toBeGreaterThan(500);
    expect(context.additionalContext.length).toBeLessThan(300 * 4 + 300);
  });

  test.each([
    [
      "Claude Code",
      {
        type: "user",
        message: { role: "user", content: [{ type: "text", text: "Why is the build slow today?" }] },
      },
      { type: "user", message: { role: "user", content: [{ type: "tool_result", content: "npm ran" }] } },
    ],
    [
      "Codex",
      { type: "event_msg", payload: { type: "user_message", message: "Why is the build slow today?" } },
      { type: "response_item", payload: { type: "message", role: "user", content: [] } },
    ],
  ])("stores a turn of %s once, with what was asked", async (agent, asked, later) => {
    const transcript = join(folder, `${agent.replace(" ", "-")}.jsonl`);
    writeFileSync(transcript, `half a line"}\n${JSON.stringify(asked)}\n${JSON.stringify(later)}\n`);
    const namespace = `turns-${agent.replace(" ", "-")}`;
    const stop = {
      hook_event_name: "Stop",
      cwd,
      session_id: "s1",
      transcript_path: transcript,
      stop_hook_active: false,
      last_assistant_message: "The build is slow because its cache is cold.",
    };
    const env = { RECALLD_NAMESPACE: namespace };
    for (let i = 0; i < 2; i++)
      expect(await hook(stop, env)).toMatchObject({ code: 0, context: undefined, err: "" });
    const turn =
      "User: Why is the build slow today?\nAssistant: The build is slow because its cache is cold.";
    expect(await texts(namespace)).toEqual([turn]);
    await hook({ ...stop, stop_hook_active: true, last_assistant_message: "Another one." }, env);
    await hook({ ...stop, transcript_path: null, last_assistant_message: "Another one." }, env);
    expect(await texts(namespace)).toEqual([turn]);
  });

  const said = (content: unknown, marks: object = {}) => ({
    type: "user",
    message: { role: "user", content },
    ...marks,
  });
  test.each([
    ["a summary of what was compacted", said("This session is being continued.", { isCompactSummary: true })],
    ["an order to another agent", said("Search the files of the project.", { isSidechain: true })],
    [
      "a note among the parts",
      said([{ type: "text", text: "<system-reminder>Be careful.</system-reminder>" }]),
    ],
    ["a part that is none", said([null, 7, { type: "text" }])],
  ])("takes for a prompt what the user wrote, and not %s", async (what, later) => {
    const transcript = join(folder, "marked.jsonl");
    writeFileSync(
      transcript,
      [said("Why is the build slow?"), later].map((each) => JSON.stringify(each)).join("\n"),
    );
    const stop = { hook_event_name: "Stop", cwd, session_id: "s2", transcript_path: transcript };
    const namespace = `marked-${what.length}`;
    const { err } = await hook(
      { ...stop, last_assistant_message: "Its cache is cold." },
      { RECALLD_NAMESPACE: namespace },
    );
    expect(err).toBe("");
    expect(await texts(namespace)).toEqual(["User: Why is the build slow?\nAssistant: Its cache is cold."]);
  });

  test("stores a long turn with half a character in a folder whose name is cut within one", async () => {
    const transcript = join(folder, "halves.jsonl");
    const asked = `Why is \ud83d the build slow? ${"x".repeat(2_000)}`;
    writeFileSync(transcript, JSON.stringify(said(asked)));
    const stop = { hook_event_name: "Stop", session_id: "s3", transcript_path: transcript };
    const { err } = await hook({
      ...stop,
      cwd: join(folder, `${"a".repeat(63)}\u{20000}`),
      last_assistant_message: "Its cache is cold.",
    });
    expect(err).toBe("");
    expect(await texts(`code-${"a".repeat(63)}`)).toEqual([
      expect.stringMatching(/^User: Why is \ufffd the build slow\? x+…\nAssistant: Its cache is cold\.$/),
    ]);
  });

  test.each(["null", "7", '{"url": 5}', "{"])("goes on with a profile of %s", async (content) => {
    const profile = join(folder, "odd.json");
    writeFileSync(profile, content);
    const env = { RECALLD_PROFILE: profile, RECALLD_URL: undefined, RECALLD_API_KEY: undefined };
    expect(await hook(question, env)).toMatchObject({ code: 0, context: undefined, err: "" });
  });

  test("takes the key of the profile for the profile's server alone", async () => {
    const profile = join(folder, "profile.json");
    writeFileSync(profile, JSON.stringify({ url: server.url, api_key: key }));
    const env = { RECALLD_PROFILE: profile, RECALLD_API_KEY: undefined };
    expect((await hook(question, { ...env, RECALLD_URL: undefined })).context?.additionalContext).toContain(
      NEWS,
    );
    const seen: (string | undefined)[] = [];
    const other = await listen((request) => seen.push(request.headers.authorization));
    expect((await hook(question, { ...env, RECALLD_URL: other.url })).context).toBeUndefined();
    expect(seen).toEqual([]);
    other.server.close();
  });

  async function listen(play: Parameters<typeof createServer>[1] & object) {
    const server: Server = createServer(play);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  test.each<[string, Parameters<typeof createServer>[1] & object]>([
    ["says nothing", () => {}],
    ["resets", (request) => request.socket.resetAndDestroy()],
    ["fails", (_, response) => void response.writeHead(503).end("{}")],
    ["is no recalld", (_, response) => void response.end("<html>")],
    ["answers without an end", (_, response) => void response.writeHead(200).write('{"results": [')],
  ])("never holds the agent up when the server %s", async (_, play) => {
    const { server, url } = await listen(play);
    const { code, context, ms, err } = await hook(question, { RECALLD_URL: url });
    expect({ code, context }).toEqual({ code: 0, context: undefined });
    expect(err).toContain("no memory this time");
    expect(ms).toBeLessThan(HOOK_MS);
    server.closeAllConnections();
    server.close();
  });

  test("never holds the agent up without a server, a key or an event", async () => {
    expect((await hook(question, { RECALLD_URL: "http://127.0.0.1:1" })).code).toBe(0);
    expect(await hook(question, { RECALLD_API_KEY: undefined })).toMatchObject({ code: 0, err: "" });
    for (const event of ["", "null", "{", '{"hook_event_name": "constructor"}']) {
      expect(await hook(event)).toMatchObject({ code: 0, context: undefined });
    }
  });
});
