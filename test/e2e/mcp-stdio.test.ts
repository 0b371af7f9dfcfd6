import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answering, claim } from "../../src/storage/local/owner/owner.js";
import { shareFolder } from "../faults/sessions.js";
import { SIZES } from "../faults/sizes.js";
import { signUp } from "../support/caller.js";
import { PROGRAM, type Session, startSession, VERSIONS, type Version } from "../support/mcp.js";
import { newDataDir, startServer } from "../support/server.js";

// Each session starts a process, beside all other tests.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const SESSIONS = 4;
const CALLS_EACH = 100;
/** Number of calls; the long form is `npm run test:faults -- sessions`. */
const SHORT = SIZES.sessions.short;

describe("recalld mcp", () => {
  let home: string;
  let sessions: Session[];
  beforeEach(() => {
    home = newDataDir();
    sessions = [];
  });
  afterEach(async () => {
    for (const { client } of sessions) await client.close();
  });
  const start = async (...given: Parameters<typeof startSession>) => {
    const session = await startSession(...given);
    sessions.push(session);
    return session;
  };

  describe.each(Object.keys(VERSIONS) as Version[])("with a client of %s", (version) => {
    it("speaks to a server by its address and a key", async () => {
      const server = await startServer();
      const { key } = await signUp(server.url);
      const env = { HOME: home, RECALLD_URL: server.url, RECALLD_API_KEY: key };
      const { client, call } = await start(env, { version, args: ["--namespace", "work"] });
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getInstructions()).toContain("memory");
      expect((await client.listTools()).tools).toHaveLength(7);
      const { data } = await call("memory_store", { text: "Ada prefers tea." });
      expect(data.namespace).toBe("work");
      const found = await call("memory_recall", { query: "What does Ada drink?" });
      expect(found.data.memories).toMatchObject([{ id: data.id }]);
      expect((await call("memory_update", { id: data.id, text: "Ada prefers milk." })).isError).toBe(false);
      expect((await call("memory_forget", { ids: [data.id] })).data).toEqual({ deleted: 1 });
      await expect(client.callTool({ name: "memory_burn", arguments: {} })).rejects.toThrow("no tool");
      expect(server.output()).toContain('"protocol":"mcp"');
      await server.stop();
    });
  });

  it("tells the model when the key is wrong, or the server away", async () => {
    const server = await startServer();
    const env = { HOME: home, RECALLD_URL: server.url, RECALLD_API_KEY: "rcl_nonsense" };
    const wrong = await start(env);
    const refused = await wrong.call("memory_recall", { query: "a" });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain("The user must set a valid API key");
    await server.stop();
    const away = await wrong.call("memory_recall", { query: "a" });
    expect(away.isError).toBe(true);
    expect(away.text).toContain("cannot be reached");
  });

  it("answers all that was read when the input ends, and refuses what it would alter", async () => {
    const server = await startServer();
    const { key } = await signUp(server.url);
    const store = (id: number, args: string) =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"memory_store","arguments":${args}}}\n`;
    const client =
      '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}';
    const [head = "", tail = ""] = store(4, '{"text":"caf?"}').split("?");
    const input = Buffer.concat([
      Buffer.from(`\uFEFF{"jsonrpc":"2.0","id":1,"method":"initialize","params":${client}}\r\n`),
      Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'),
      Buffer.from(store(2, '{"text":"Ada\u2028likes\u0085tea.","metadata":null}')),
      Buffer.from(store(3, '{"text":"Bob","metadata":{"message_id":1234567890123456789}}')),
      ...[Buffer.from(head), Buffer.from([0xe9]), Buffer.from(tail)],
      // A client may leave out the end of its last line.
      Buffer.from(
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"memory_list","arguments":null}}',
      ),
    ]);
    const { PATH } = process.env;
    const env = { PATH, HOME: home, RECALLD_URL: server.url, RECALLD_API_KEY: key, RECALLD_NAMESPACE: "" };
    const { stdout, status } = spawnSync(process.execPath, [PROGRAM, "mcp"], { input, env });
    expect(status).toBe(0);
    const answers = new Map(
      stdout
        .toString()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .map((answer) => [answer.id, answer]),
    );
    expect([...answers.keys()].sort()).toEqual([1, 2, 3, 4, 5]);
    expect(answers.get(2).result.structuredContent.namespace).toBe("default");
    expect(answers.get(3).result.content[0].text).toMatch(
      /^metadata.message_id has the integer 1234567890123/,
    );
    expect(answers.get(4).error.message).toContain("not UTF-8");
    const listed = (await fetch(`${server.url}/namespaces/default/memories`, {
      headers: { authorization: `Bearer ${key}` },
    }).then((answer) => answer.json())) as { memories: { text: string }[] };
    expect(listed.memories.map(({ text }) => text)).toEqual(["Ada\u2028likes\u0085tea."]);
    await server.stop();
  });

  it("keeps memories on this machine when no server is named, for the next session too", async () => {
    const first = await start({ HOME: home });
    await first.call("memory_store", { text: "The spare key hangs in the cellar." });
    await first.client.close();
    const second = await start({ HOME: home });
    const { data } = await second.call("memory_recall", { query: "Where is the spare key?" });
    expect(data.memories[0].text).toBe("The spare key hangs in the cellar.");
    const file = join(home, ".local/share/recalld/mcp-key");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, ".local/share/recalld")).mode & 0o777).toBe(0o700);
    for (const { log } of sessions) {
      expect(log()).not.toContain(readFileSync(file, "utf8").trim());
      expect(log()).not.toContain("spare key");
    }
  });

  it("says at once why the folder's database cannot be opened", async () => {
    writeFileSync(join(home, "recalld.mdb"), "damaged");
    const { call, log } = await start({ HOME: home, DATA_DIR: home });
    const { isError, text } = await call("memory_recall", { query: "a" });
    expect(isError).toBe(true);
    expect(text).toMatch(/recalld\.mdb .*failed_precondition/s);
    expect(text).not.toContain("again");
    expect(log()).not.toContain("MaxListeners");
  });

  it("writes no key down where the process that has the folder left before it made one", async () => {
    const keys = [{}, { api_key: "rcl_second" }];
    const answer: Answering = async ({ operation }) =>
      operation === "address" ? { address: "http://127.0.0.1:9" } : keys.shift();
    const release = await claim({ dataDir: home, answer });
    await start({ HOME: home, DATA_DIR: home });
    const key = () => readFileSync(join(home, "mcp-key"), "utf8");
    expect(await vi.waitFor(key, { timeout: 20_000 })).toBe("rcl_second\n");
    await release();
  });

  it("shares one folder between sessions that begin at once, and loses nothing when the first ends", async () => {
    const env = { DATA_DIR: home, HOME: home };
    await Promise.all(Array.from({ length: SESSIONS }, () => start(env)));
    const stored: string[] = [];
    const failures: string[] = [];
    const work = async ({ call }: Session, name: number, calls: number, from = 0) => {
      for (let n = from; n < from + calls; n += 2) {
        const told = await call("memory_store", { text: `Session ${name} counts to ${n}` });
        if (told.isError) failures.push(told.text);
        else stored.push(told.data.id);
        const found = await call("memory_recall", { query: `Session ${name} counts to ${n}` });
        if (found.isError) failures.push(found.text);
        else if (!found.data.memories.some(({ id }: { id: string }) => id === told.data.id))
          failures.push(`store ${n} of session ${name} is not found`);
      }
    };
    await Promise.all(sessions.map((session, name) => work(session, name, CALLS_EACH / 2)));
    // One after the other ends as an agent's program does, and each of them may have been the server.
    const [last, ...others] = sessions as [Session, ...Session[]];
    const going = work(last, 9, CALLS_EACH, CALLS_EACH);
    for (const { client } of others) await client.close();
    await going;
    expect(failures).toEqual([]);
    const all = await listed(last);
    expect(new Set(stored)).toEqual(new Set(all));
    expect(all).toHaveLength(stored.length);
  });

  it("loses nothing and fails no call when sessions are killed, the one that serves first", async () => {
    const { stored, recalled, kills, unanswered } = await shareFolder({ calls: SHORT, seed: 1 });
    expect(kills).toBe(SESSIONS);
    expect(stored + recalled + unanswered).toBeGreaterThanOrEqual(SHORT - SESSIONS);
    expect(unanswered).toBeLessThanOrEqual(SESSIONS);
  });
});

async function listed({ call }: Session): Promise<string[]> {
  const ids: string[] = [];
  for (let page_token = ""; ; ) {
    const { data } = await call("memory_list", { page_size: 100, page_token, max_tokens: 20_000 });
    ids.push(...data.memories.map(({ id }: { id: string }) => id));
    if (data.next_page_token === undefined) return ids;
    page_token = data.next_page_token;
  }
}
