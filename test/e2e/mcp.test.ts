import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signUp } from "../support/caller.js";
import { postByHttp2 } from "../support/http2-post.js";
import { openAccount } from "../support/keys.js";
import { connect, overHttp, type Result, type Tools, VERSIONS, type Version } from "../support/mcp.js";
import { protocolsOf } from "../support/protocols.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

const NAMES = [
  ...["memory_store", "memory_recall", "memory_list", "memory_update", "memory_update_many"],
  ...["memory_forget", "memory_namespaces"],
];
const READING = ["memory_recall", "memory_list", "memory_namespaces"];

describe("the Model Context Protocol at /mcp", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  }, 60_000);
  afterAll(() => server?.stop());

  const open = async (version?: Version): Promise<Tools & { key: string }> => {
    const { key } = await signUp(server.url);
    return { ...(await connect(overHttp({ url: server.url, key }), version)), key };
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  it("answers by HTTP/2 as by HTTP/1.1", async () => {
    const { key } = await signUp(server.url);
    const authorization = `Bearer ${key}`;
    expect(await postByHttp2(`${server.url}/mcp`, LIST, { authorization })).toBe(200);
    expect(await postByHttp2(`${server.url}/mcp`, LIST)).toBe(401);
  });

  describe.each(Object.keys(VERSIONS) as Version[])("in its version %s", (version) => {
    it("lists six tools, each annotated and with a schema of its answer", async () => {
      const { client } = await open(version);
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(NAMES);
      for (const { name, annotations, outputSchema, description } of tools) {
        const readOnlyHint = READING.includes(name);
        const destroys = ["memory_update", "memory_update_many", "memory_forget"].includes(name);
        expect(annotations).toMatchObject({ readOnlyHint, openWorldHint: false });
        expect(annotations?.destructiveHint).toBe(readOnlyHint ? undefined : destroys);
        expect(annotations?.idempotentHint).toBe(name !== "memory_store");
        expect(outputSchema).toMatchObject({ type: "object" });
        expect(description?.length).toBeGreaterThan(80);
      }
    });

    it("stores, recalls, updates, lists and forgets", async () => {
      const { call } = await open(version);
      const stored = await call("memory_store", { text: "Ada prefers tea.", metadata: { from: "chat" } });
      expect(stored.data).toEqual({ id: stored.data.id, namespace: "default" });
      const found = await call("memory_recall", { query: "What does Ada drink?" });
      expect(found.data.memories).toMatchObject([
        { id: stored.data.id, text: "Ada prefers tea.", metadata: { from: "chat" } },
      ]);
      expect(JSON.parse(found.text)).toEqual(found.data);
      const updated = await call("memory_update", { id: stored.data.id, text: "Ada prefers coffee now." });
      expect(updated.data).toMatchObject({ id: stored.data.id, namespace: "default" });
      const listed = await call("memory_list");
      expect(listed.data.memories.map(({ text }: { text: string }) => text)).toEqual([
        "Ada prefers coffee now.",
      ]);
      const spaces = await call("memory_namespaces");
      expect(spaces.data).toEqual({ namespaces: [{ namespace: "default", memories: 1 }] });
      const tagged = await call("memory_update_many", { ids: [stored.data.id], metadata: { seen: true } });
      expect(tagged.data).toEqual({ updated: 1, unchanged: 0 });
      const matching = { filter: { seen: true }, remove: ["seen"] };
      const dry = await call("memory_update_many", { ...matching, dry_run: true });
      expect(dry.data).toEqual({ updated: 0, matched: 1 });
      expect((await call("memory_update_many", matching)).data).toEqual({ updated: 1, unchanged: 0 });
      const forgotten = await call("memory_forget", {
        ids: [stored.data.id, "mem_01jdh2zz00e00r0000000000v7"],
      });
      expect(forgotten.data).toEqual({ deleted: 1, note: "1 of the ids have no memory in default" });
      const after = await call("memory_recall", { query: "What does Ada drink?" });
      expect(after.data).toEqual({ memories: [], note: "no memories in default to show" });
      const mistyped = await call("memory_recall", { query: "What does Ada drink?", namespace: "defualt" });
      expect(mistyped.data).toEqual({
        memories: [],
        note: "there is no namespace defualt (considered: 0)",
      });
    });

    it("says what is wrong as a result that a model reads", async () => {
      const { call, client } = await open(version);
      const told = async (name: string, args: Record<string, unknown>) => {
        const { isError, text } = await call(name, args);
        expect(isError).toBe(true);
        return text;
      };
      expect(await told("memory_store", {})).toBe(
        "text is missing (invalid_argument). Correct that argument and call again.",
      );
      expect(await told("memory_recall", { query: "tea", top_k: 21 })).toContain("top_k is 21");
      expect(await told("memory_recall", { query: "tea", topic: "x" })).toContain("topic");
      expect(await told("memory_recall", { query: "tea", max_tokens: 5 })).toContain("from 500 to 20000");
      expect(await told("memory_update", { id: "mem_01m81g5085fqavwjwpgewms4ta", text: "x" })).toContain(
        "Find the id by memory_recall",
      );
      for (const page_size of [101, 1e12, 50.5])
        expect(await told("memory_list", { page_size })).toContain(`page_size is ${page_size}; `);
      await expect(client.callTool({ name: "memory_burn", arguments: {} })).rejects.toThrow("no tool");
      await expect(client.callTool({ name: "rcl_x", arguments: {} })).rejects.toThrow("no tool rcl_…");
    });
  });

  it("finds what the words say, not only what they mean", async () => {
    const { call } = await open();
    await call("memory_store", { text: "The spare key hangs behind the cellar door." });
    await call("memory_store", { text: "Parcel QX-9917-B arrives on Monday." });
    const { data } = await call("memory_recall", { query: "QX-9917-B", top_k: 1 });
    expect(data.memories[0].text).toContain("QX-9917-B");
  });

  it("stores when something happened, lists by it, finds it by it, and ranks what is newer higher", async () => {
    const { call } = await open();
    const times = ["2016-04-20T09:30:00Z", "2016-03-05T09:30:00Z"];
    for (const event_time of times) await call("memory_store", { text: "Ada had tea.", event_time });
    const listed = await call("memory_list", { order: "EVENT_TIME_OLDEST_FIRST" });
    const timesOf = (memories: { event_time?: string }[]) => memories.map(({ event_time }) => event_time);
    expect(timesOf(listed.data.memories)).toEqual(times.toReversed());
    const march = { query: "tea", after: "2016-03-01T00:00:00Z", before: "2016-04-01T00:00:00Z" };
    const found = await call("memory_recall", march);
    expect(timesOf(found.data.memories)).toEqual(["2016-03-05T09:30:00Z"]);
    const event_time = "2016-05-01T00:00:00Z";
    await call("memory_update", { id: found.data.memories[0].id, event_time });
    const recency = { half_life: "864000s", weight: 0.2, reference_time: event_time };
    const newer = await call("memory_recall", { query: "tea", recency });
    expect(timesOf(newer.data.memories)).toEqual([event_time, times[0]]);
  });

  it("recalls by several questions, or what is like a memory", async () => {
    const { call } = await open();
    const key = await call("memory_store", { text: "The spare key hangs behind the cellar door." });
    await call("memory_store", { text: "A second key lies under the flower pot." });
    await call("memory_store", { text: "Ada prefers tea." });
    const textsOf = ({ data }: Result) => data.memories.map(({ text }: { text: string }) => text);
    const queries = ["What does Ada drink?", "Where does the spare key hang?"];
    expect(textsOf(await call("memory_recall", { queries, top_k: 2 })).sort()).toEqual([
      "Ada prefers tea.",
      "The spare key hangs behind the cellar door.",
    ]);
    const like = await call("memory_recall", { like_id: key.data.id, top_k: 1 });
    expect(textsOf(like)).toEqual(["A second key lies under the flower pot."]);
    await call("memory_store", { text: "The cat is in the office.", namespace: "work" });
    const wide = await call("memory_recall", {
      query: "Where is the cat?",
      also_in: ["work"],
      top_k: 1,
      neighbors: { before: 1, after: 1 },
    });
    expect(wide.data.memories).toMatchObject([{ namespace: "work", before: [], after: [] }]);
    const around = await call("memory_recall", {
      query: "What does Ada drink?",
      top_k: 1,
      neighbors: { before: 1 },
    });
    expect(around.data.memories).toMatchObject([
      { text: "Ada prefers tea.", before: [{ text: "A second key lies under the flower pot." }] },
    ]);
    const both = await call("memory_recall", { query: "key", like_id: key.data.id });
    expect(both.text).toContain("like_id is given beside query");
  });

  it("names what a stored memory resembles", async () => {
    const { call } = await open();
    const first = await call("memory_store", { text: "The office is closed on Friday." });
    const second = await call("memory_store", { text: "The office is closed on Fridays." });
    expect(second.data.similar).toMatchObject([
      { id: first.data.id, text: "The office is closed on Friday." },
    ]);
    expect(second.data.note).toContain("update");
  });

  it("calls nothing alike that the model cannot read, and says so", async () => {
    const { call } = await open();
    await call("memory_store", { text: "يعمل القط في المطبخ" });
    const { data } = await call("memory_store", { text: "أسعار الفائدة ارتفعت" });
    expect(data).not.toHaveProperty("similar");
    expect(data.note).toContain("hardly reads this script");
  });

  it("keeps to the budget, says what it left out, and lets it be read", async () => {
    const { call } = await open();
    for (const drink of ["tea", "coffee", "water"]) {
      await call("memory_store", { text: `About ${drink}: ${`${drink} is fine. `.repeat(250)}` });
    }
    const { data, text } = await call("memory_recall", {
      query: "Is tea, coffee or water fine?",
      max_tokens: 1_000,
    });
    expect(text.length).toBeLessThan(3_000);
    expect(data.memories).toHaveLength(1);
    expect(data.memories[0].cut).toBe(true);
    expect(data.left_out).toHaveLength(2);
    expect(data.note).toBe(
      "a text is cut and 2 memories are left out for max_tokens: read on by memory_list with ids",
    );
    const read = await call("memory_list", { ids: [data.memories[0].id], max_tokens: 5_000 });
    expect(read.data.memories[0].text.length).toBeGreaterThan(3_000);
    expect(read.data.memories[0].cut).toBeUndefined();
  });

  it("shows what hardly fits the question, and marks it as weak", async () => {
    const { call } = await open();
    await call("memory_store", { text: "Ada prefers tea over coffee." });
    const { data, text } = await call("memory_recall", { query: "How is a volcano measured from orbit?" });
    expect(data.memories).toMatchObject([{ text: "Ada prefers tea over coffee.", weak: true }]);
    expect(data.note).toBe("all of these are weak: they may not answer, judge by their texts");
    expect(JSON.parse(text)).toEqual(data);
    const strong = (await call("memory_recall", { query: "What does Ada drink?" })).data;
    expect(strong.memories).toHaveLength(1);
    expect(strong.memories[0]).not.toHaveProperty("weak");
    expect(strong).not.toHaveProperty("note");
  });

  describe("what a recall leaves out", () => {
    let call: Tools["call"];
    beforeAll(async () => {
      ({ call } = await open());
      await call("memory_store", { text: "Ada prefers tea.", metadata: { source: "chat" } });
      await call("memory_store", { text: "The boat is blue.", metadata: { source: "mail" } });
    });
    const recall = async (args: Record<string, unknown>) =>
      call("memory_recall", { query: "What does Ada drink?", ...args });

    it.each([
      ["filter", { source: "mail" }, ["The boat is blue."]],
      ["min_fit", 0.4, ["Ada prefers tea."]],
      ["after", "2020-01-01T00:00:00Z", ["Ada prefers tea.", "The boat is blue."]],
      ["before", "2100-01-01T00:00:00Z", ["Ada prefers tea.", "The boat is blue."]],
    ])("is what %s asks for, and nothing if it is null", async (name, value, expected) => {
      const textsOf = ({ data }: Result) => data.memories.map(({ text }: { text: string }) => text);
      expect(textsOf(await recall({ [name]: value }))).toEqual(expected);
      expect(textsOf(await recall({ [name]: null }))).toEqual(["Ada prefers tea.", "The boat is blue."]);
    });

    it.each([
      ["filter", { source: "letter" }],
      ["min_fit", 1.5],
      ["after", "2100-01-01T00:00:00Z"],
      ["before", "2020-01-01T00:00:00Z"],
    ])("is named where %s leaves nothing", async (name, value) => {
      const { data } = await recall({ [name]: value });
      expect(data).toEqual({
        memories: [],
        note: expect.stringMatching(/^default holds 2 memories, but .* leave out all/),
      });
    });

    it.each([
      ["topk", 3, "topk is no argument of memory_recall; did you mean top_k?"],
      ["maxTokens", 3, "maxTokens is no argument of memory_recall; did you mean max_tokens?"],
      ["limit", 3, "limit is not a field of RecallRequest (invalid_argument)"],
      ["filter", "source = mail", "filter is a string"],
      ["filter", { source: { $like: "m" } }, "filter.source.$like is none of the operators"],
      ["min_fit", 2, "min_fit is 2"],
      ["after", "yesterday", "after is not a time"],
      ["before", "yesterday", "before is not a time"],
    ])("is refused by the name of %s: %j", async (name, value, message) => {
      const { isError, text } = await recall({ [name]: value });
      expect(isError).toBe(true);
      expect(text).toContain(message);
    });
  });

  it("lists page by page", async () => {
    const { call } = await open();
    for (let n = 1; n <= 3; n++) await call("memory_store", { text: `Note ${n}` });
    const args = { page_size: 2, order: "OLDEST_FIRST" };
    const first = await call("memory_list", args);
    const second = await call("memory_list", { ...args, page_token: first.data.next_page_token });
    const texts = [first, second].flatMap(({ data }) => data.memories.map(({ text }: Result) => text));
    expect(texts).toEqual(["Note 1", "Note 2", "Note 3"]);
    expect(second.data.next_page_token).toBeUndefined();
  });

  describe("the namespace", () => {
    it("comes from the model where neither key nor address say", async () => {
      const { call } = await open();
      expect((await call("memory_store", { text: "a", namespace: "work" })).data.namespace).toBe("work");
      expect((await call("memory_recall", { query: "a" })).data.memories).toEqual([]);
    });

    it("comes from the address before the model, which then has no say", async () => {
      const { key } = await signUp(server.url);
      const { client, call } = await connect(
        overHttp({ url: server.url, key, query: "?namespace=team%2Fa" }),
      );
      expect((await call("memory_store", { text: "a" })).data.namespace).toBe("team/a");
      const { isError, text } = await call("memory_store", { text: "a", namespace: "other" });
      expect(isError).toBe(true);
      expect(text).toContain("Leave the arguments namespace and also_in out");
      const beside = await call("memory_recall", { query: "a", also_in: ["other"] });
      expect(beside).toMatchObject({ isError: true, text: expect.stringContaining("team/a alone") });
      for (const { inputSchema } of (await client.listTools()).tools) {
        expect(Object.keys(inputSchema.properties ?? {})).not.toContain("namespace");
        expect(Object.keys(inputSchema.properties ?? {})).not.toContain("also_in");
      }
    });

    it("is the only one that is listed where the address fixes it", async () => {
      const { key } = await signUp(server.url);
      const { call: store } = await connect(overHttp({ url: server.url, key }));
      for (const namespace of ["te", "team", "team2"]) await store("memory_store", { text: "a", namespace });
      const { call } = await connect(overHttp({ url: server.url, key, query: "?namespace=team" }));
      const own = [{ namespace: "team", memories: 1 }];
      expect((await call("memory_namespaces")).data).toEqual({ namespaces: own });
      expect((await call("memory_namespaces", { prefix: "te" })).data).toEqual({ namespaces: own });
      expect((await call("memory_namespaces", { prefix: "team2" })).data).toEqual({ namespaces: [] });
      expect((await call("memory_namespaces", { prefix: 1 })).text).toContain("prefix is a number");
      const empty = await connect(overHttp({ url: server.url, key, query: "?namespace=tea" }));
      expect((await empty.call("memory_namespaces")).data).toEqual({ namespaces: [] });
    });

    it("comes from the key before all", async () => {
      const { keys } = await openAccount(protocolsOf(server.url)[0] as never);
      const mine = await connect(overHttp({ url: server.url, key: keys.mine }));
      expect((await mine.call("memory_store", { text: "a" })).data.namespace).toBe("mine");
      const answer = await post(LIST, { authorization: `Bearer ${keys.mine}` });
      expect(answer.status).toBe(200);
      const url = `${server.url}/mcp?namespace=other`;
      const other = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${keys.mine}` },
        body: JSON.stringify(LIST),
      });
      expect(other.status).toBe(403);
      expect(await other.json()).toMatchObject({ code: "permission_denied" });
    });

    it("is not lost by a mistyped name in the address", async () => {
      const { key } = await signUp(server.url);
      const transport = overHttp({ url: server.url, key, query: "?namspace=x" });
      await expect(connect(transport)).rejects.toThrow(/namspace/);
    });

    it("is refused at once where the address has one that there cannot be", async () => {
      const { key } = await signUp(server.url);
      for (const query of ["?namespace=", "?namespace=a%20", "?namespace=a%0Ab"])
        await expect(connect(overHttp({ url: server.url, key, query }))).rejects.toThrow(/namespace/);
    });

    it("is a string, as for the API", async () => {
      const { call } = await open();
      const { isError, text } = await call("memory_recall", { query: "a", namespace: 5 });
      expect([isError, text]).toEqual([
        true,
        expect.stringContaining("namespace is a number; send a string"),
      ]);
    });
  });

  it("offers search and fetch in the shapes that connectors want, if the address asks for them", async () => {
    const { key, store } = await signUp(server.url);
    const text = `Minutes of the ${"very ".repeat(20)}long meeting\nThe launch moves to May.`;
    const { id } = (await store({ text, namespace: "work", metadata: { from: "mail" } })).body;
    const query = "?namespace=work&tools=search";
    const { client, call } = await connect(overHttp({ url: server.url, key, query }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search", "fetch"]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    const found = await call("search", { query: "When is the launch?" });
    const [first] = found.data.results;
    expect(JSON.parse(found.text)).toEqual({ results: [first] });
    expect(Object.keys(first)).toEqual(["id", "title", "url"]);
    expect(first).toMatchObject({ id, url: `${server.url}/#/memories/work/${id}` });
    expect(first.title).toMatch(/^Minutes of the very .{59}…$/);
    const { data } = await call("fetch", { id });
    expect(data).toEqual({ ...first, text, metadata: { from: "mail", created_at: expect.any(String) } });
    expect((await call("fetch", { id: "mem_01m81g5085fqavwjwpgewms4ta" })).isError).toBe(true);
    const far = await call("search", { query: "How is a volcano measured from orbit?" });
    expect(far.data.results).toEqual([first]);
  });

  it("offers a read-only key what it may do", async () => {
    const { keys } = await openAccount(protocolsOf(server.url)[0] as never);
    const { client, call } = await connect(overHttp({ url: server.url, key: keys["read-only"] }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(READING);
    const { isError, text } = await call("memory_store", { text: "a" });
    expect(isError).toBe(true);
    expect(text).toContain("KEY_READ_ONLY");
    expect((await call("memory_recall", { query: "a", namespace: "mine" })).isError).toBe(false);
  });

  it("refuses a missing or wrong key before it reads, by 401", async () => {
    for (const headers of [{}, { authorization: "Bearer rcl_nonsense" }]) {
      const response = await post(LIST, headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toMatchObject({ code: "unauthenticated" });
    }
  });

  it("refuses pages of other origins, and lets those of its own call", async () => {
    const { key } = await signUp(server.url);
    const authorization = `Bearer ${key}`;
    const statusFor = async (origin: string) => (await post(LIST, { authorization, origin })).status;
    expect(await statusFor("https://evil.example")).toBe(403);
    expect(await statusFor("null")).toBe(403);
    expect(await statusFor(server.url)).toBe(200);
    // A page whose name leads to this machine by now: it is of the host that it asks.
    const rebound = { authorization, origin: "http://evil.example", host: "evil.example" };
    const status = await new Promise((resolve, reject) => {
      const headers = { ...rebound, "content-type": "application/json" };
      const sent = request(`${server.url}/mcp`, { method: "POST", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on("error", reject).end(JSON.stringify(LIST));
    });
    expect(status).toBe(403);
  });

  it("takes one message of JSON at a time, and no streams", async () => {
    const { key } = await signUp(server.url);
    const authorization = `Bearer ${key}`;
    expect((await post([LIST], { authorization })).status).toBe(400);
    expect((await post("{", { authorization })).status).toBe(400);
    expect((await post(`${"[".repeat(500_000)}`, { authorization })).status).toBe(400);
    expect((await post("x".repeat(1_100_000), { authorization })).status).toBe(413);
    expect((await post("{}", { authorization, "content-type": "text/plain" })).status).toBe(415);
    const stream = await fetch(`${server.url}/mcp`, { headers: { authorization } });
    expect([stream.status, stream.headers.get("allow")]).toEqual([405, "POST"]);
    const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
    expect((await post(notification, { authorization })).status).toBe(202);
  });

  it("refuses to be subscribed to as a method that it does not offer, because nothing ever changes", async () => {
    const { client } = await open("2026-07-28");
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    const { key } = await signUp(server.url);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const method = "subscriptions/listen";
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
    const params = { notifications: { toolsListChanged: true }, _meta };
    const answer = await post(
      { jsonrpc: "2.0", id: 7, method, params },
      { ...headers, authorization: `Bearer ${key}` },
    );
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  it("refuses arguments that would lose something on the way, or are nested too deep, as a result", async () => {
    const { key } = await signUp(server.url);
    const told = async (metadata: string) => {
      const args = `{"text":"a","metadata":${metadata}}`;
      const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":${args}}}`;
      const { result } = (await (await post(message, { authorization: `Bearer ${key}` })).json()) as {
        result: { isError: boolean; content: { text: string }[] };
      };
      expect(result.isError).toBe(true);
      return result.content[0]?.text;
    };
    expect(await told('{"n":12345678901234567890}')).toContain("(invalid_argument). Correct that argument");
    expect(await told('{"n":1,"n":2}')).toMatch(/^metadata.n is given twice \(invalid_argument\)/);
    expect(await told('{"message_id":1234567890123456789}')).toMatch(/^metadata.message_id has the integer/);
    expect(await told('{"a":{"b":[1,-0]}}')).toMatch(/^metadata.a.b\[1\] is -0/);
    expect(await told('{"n":1e999}')).toMatch(/^metadata.n is a number that is not finite/);
    expect(await told(`{"n":${"[".repeat(100)}${"]".repeat(100)}}`)).toContain("levels deep");
  });

  it("takes an RPC's other fields as the RPC does", async () => {
    const { key } = await signUp(server.url);
    const { call } = await connect(overHttp({ url: server.url, key }));
    await call("memory_store", { text: "Ana is allergic to peanuts." });
    const recall = (more: object) => call("memory_recall", { query: "peanuts", ...more });
    expect((await recall({ fields: "id" })).data.memories).toEqual([
      { id: expect.stringMatching(/^mem_/), text: "", score: 0 },
    ]);
    expect((await recall({ mode: "COSINE" })).data.memories).toHaveLength(1);
    expect((await recall({ mode: "COSINE", min_fit: 0.4 })).text).toContain("min_fit needs the mode HYBRID");
    expect((await recall({ explain: "no" })).text).toContain("explain is a string; send true or false");
    const storing = await call("memory_store", { text: "Ben, too.", similar_above: 2 });
    expect(storing.text).toContain("similar_above is 2; it must be a number from 0 to 1");
  });

  describe("an argument that is null", () => {
    it("is one that is left out, in every tool", async () => {
      const { key } = await signUp(server.url);
      const sets = ["memory", "search"].map((tools) =>
        connect(overHttp({ url: server.url, key, query: `?tools=${tools}` })),
      );
      for (const { client, call } of await Promise.all(sets)) {
        for (const { name, inputSchema } of (await client.listTools()).tools) {
          const { properties = {}, required = [] } = inputSchema;
          const nulls = Object.fromEntries(Object.keys(properties).map((each) => [each, null]));
          const [first] = required;
          const { isError, text } = await call(name, nulls);
          // One of several is needed, and the RPC knows which.
          const isQuestion = name === "memory_recall";
          const isChange = name === "memory_update_many";
          expect(isError, name).toBe(first !== undefined || isQuestion || isChange);
          if (isQuestion) expect(text).toMatch(/^query is missing; a recall has one of/);
          if (first !== undefined) expect(text).toMatch(new RegExp(`^${first} is null, and must be given`));
        }
      }
      const { call } = await open();
      const more = { metadata: null, ttl: null, namespace: null };
      const { data } = await call("memory_store", { text: "Ada has a cat.", supersedes: null, ...more });
      const changed = { id: data.id, text: "Ada has a dog.", etag: null, ...more };
      expect((await call("memory_update", changed)).isError).toBe(false);
      const none = { top_k: null, min_score: null, namespace: null, max_tokens: null };
      const found = await call("memory_recall", { query: "What has Ada?", ...none });
      expect(found.data.memories).toMatchObject([{ text: "Ada has a dog." }]);
    });

    it("stays in the metadata", async () => {
      const { call } = await open();
      const { data } = await call("memory_store", { text: "a", metadata: { source: null } });
      const { data: read } = await call("memory_list", { ids: [data.id] });
      expect(read.memories[0].metadata).toEqual({ source: null });
    });
  });

  it("lists and reads where a strict schema makes a model give every argument", async () => {
    const { call } = await open();
    const { data } = await call("memory_store", { text: "Ada has a cat.", namespace: "" });
    expect(data.namespace).toBe("default");
    const filled = { page_size: 20, page_token: "", order: "NEWEST_FIRST", namespace: "", max_tokens: 2_000 };
    for (const ids of [[], [data.id]]) {
      const listed = await call("memory_list", { ...filled, ids });
      expect(listed.text).toContain("Ada has a cat.");
    }
    expect((await call("memory_list", { ...filled, ids: data.id })).text).toContain("ids is a string");
    expect((await call("memory_forget", { ids: [data.id], namespace: "" })).data).toEqual({ deleted: 1 });
  });

  it.each(["", ',"arguments":null', ',"arguments":{}', ',"arguments":[]'])(
    "calls a tool without arguments: %s",
    async (args) => {
      const { key } = await signUp(server.url);
      const params = `{"name":"memory_list"${args}}`;
      const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
      const answer = await post(message, { authorization: `Bearer ${key}` });
      expect(await answer.json()).toMatchObject({ result: { structuredContent: { memories: [] } } });
    },
  );

  it("stores once when a call is sent again with its Idempotency-Key", async () => {
    const { key } = await signUp(server.url);
    const params = { name: "memory_store", arguments: { text: "Once." } };
    const send = async () => {
      const headers = { authorization: `Bearer ${key}`, "idempotency-key": "k1" };
      return post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
    };
    const [first, second] = [await send(), await send()];
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await second.json()).toEqual(await first.json());
  });

  it("is logged, traced and measured as a protocol of its own", async () => {
    const { call } = await open();
    await call("memory_store", { text: "a secret text" });
    expect(server.output()).toMatch(
      /"method":"recalld.v1.MemoryService\/Store","protocol":"mcp","code":"ok"/,
    );
    expect(server.output()).not.toContain("a secret text");
  });
});

describe("the limits of a plan", () => {
  it("hold over MCP, are charged by its calls, and are explained to the model", async () => {
    const server = await startServer({ env: { FREE_CALLS: "2" } });
    const account = await signUp(server.url);
    const { call } = await connect(overHttp({ url: server.url, key: account.key }));
    expect((await call("memory_store", { text: "one" })).isError).toBe(false);
    expect((await call("memory_recall", { query: "one" })).isError).toBe(false);
    expect(await account.used()).toBe(2);
    const { isError, text } = await call("memory_store", { text: "two" });
    expect(isError).toBe(true);
    expect(text).toContain("QUOTA_EXHAUSTED). Do not try again");
    expect((await call("memory_list")).data.memories).toHaveLength(1);
    await server.stop();
  });

  it("hold for what calls no tool, too", async () => {
    const PLANS_FILE = join(newDataDir(), "plans.json");
    writeFileSync(PLANS_FILE, '{"free": {"calls": 100, "calls_per_second": 0.01, "burst": 5}}');
    const server = await startServer({ env: { PLANS_FILE } });
    const { key } = await signUp(server.url);
    const ask = () =>
      fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      });
    for (let n = 0; n < 5; n++) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await server.stop();
  });
});
