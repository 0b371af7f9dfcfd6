import { spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Recalld } from "../../clients/typescript/src/client.js";
import { ROOT } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

// Each run is a program that is compiled as it starts.
vi.setConfig({ testTimeout: 60_000 });

interface Asked {
  readonly model: string;
  readonly messages: readonly { role: string; content: string }[];
}

describe("examples/extract.ts, with a stand-in for the chat model", () => {
  let server: TestServer;
  let recalld: Recalld;
  let key: string;
  let model: Server;
  /** Answers with the content of the model's message. */
  let answer: (asked: Asked) => string | number;
  let asked: Asked | undefined;

  beforeAll(async () => {
    server = await sharedServer();
    key = await signUp(server.url);
    recalld = new Recalld({ apiKey: key, baseUrl: server.url });
    model = createServer(async (request, response) => {
      asked = (await json(request)) as Asked;
      const content = request.url === "/v1/chat/completions" ? answer(asked) : 404;
      if (typeof content === "number") response.writeHead(content).end("overloaded");
      else response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }));
    });
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
  }, 60_000);
  afterAll(async () => {
    model.close();
  });

  async function extract(
    namespace: string,
    content: string,
    facts: string | number | ((known: string) => object),
  ) {
    answer = (asked) =>
      typeof facts === "function" ? JSON.stringify(facts(asked.messages[1]?.content ?? "")) : facts;
    const { port } = model.address() as AddressInfo;
    const own = { RECALLD_URL: server.url, RECALLD_API_KEY: key, CHAT_USER: namespace };
    const openai = { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: "stand-in" };
    const env = { ...process.env, ...own, ...openai, TSX_TSCONFIG_PATH: `${ROOT}/tsconfig.test.json` };
    const child = spawn(process.execPath, ["--import", "tsx", `${ROOT}/examples/extract.ts`], {
      cwd: ROOT,
      env,
    });
    child.stdin.end(JSON.stringify([{ role: "user", content }]));
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { lines: out.trim() === "" ? [] : out.trim().split("\n"), err, code };
  }

  const known = async (namespace: string, includeSuperseded = false) => {
    const texts: string[] = [];
    for await (const memory of recalld.memories({ namespace, includeSuperseded })) texts.push(memory.text);
    return texts;
  };

  test("stores facts, each once, and replaces what has a slot", async () => {
    const facts = () => ({
      facts: [
        { text: "Ana lives in Porto.", slot: "home", replaces: [] },
        { text: "Ana is allergic to peanuts.", slot: null },
      ],
    });
    const said = "I live in Porto. I am allergic to peanuts.";
    const first = await extract("once", said, facts);
    expect(first.lines, first.err).toEqual([
      "CREATED Ana lives in Porto.",
      "CREATED Ana is allergic to peanuts.",
    ]);
    expect(asked).toMatchObject({ model: "stand-in", response_format: { type: "json_object" } });
    expect((await extract("once", said, facts)).lines[1]).toBe("KEPT Ana is allergic to peanuts.");
    expect(asked?.messages[1]?.content).toMatch(
      /mem_\w+ Ana is allergic to peanuts\.[\s\S]*user: I live in Porto/,
    );
    const moved = () => ({ facts: [{ text: "Ana lives in Lisbon.", slot: "home" }] });
    expect((await extract("once", "I moved to Lisbon.", moved)).lines).toEqual([
      "REPLACED Ana lives in Lisbon.",
    ]);
    expect((await known("once")).sort()).toEqual(["Ana is allergic to peanuts.", "Ana lives in Lisbon."]);
  });

  test("asks with the end of a long conversation, also where that begins within a character", async () => {
    const said = `\u{1f40c}${"x".repeat(1_999)}`;
    expect(await extract("long", said, () => ({ facts: [] }))).toEqual({ lines: [], err: "", code: 0 });
    expect(asked?.messages[1]?.content).toContain(said);
  });

  test("stores when something happened, and no day that is none", async () => {
    const facts = () => ({
      facts: [
        { text: "Ana moved to Lisbon.", happened: "2016-03-05" },
        { text: "Ana likes tea.", happened: null },
        { text: "Ana bought a boat.", happened: "2016-13-05" },
        { text: "Ana sold a boat.", happened: "in March" },
        { text: "Ana was born.", happened: "2016-02-30" },
        { text: "Rome was built.", happened: "0000-01-01" },
      ],
    });
    const { lines, err } = await extract("happened", "I moved to Lisbon on 5 March 2016.", facts);
    expect(lines, err).toHaveLength(6);
    const times: Record<string, string | undefined> = {};
    for await (const { text, eventTime } of recalld.memories({ namespace: "happened" }))
      times[text] = eventTime;
    expect(times).toEqual({
      "Ana moved to Lisbon.": "2016-03-05T00:00:00Z",
      "Ana likes tea.": undefined,
      "Ana bought a boat.": undefined,
      "Ana sold a boat.": undefined,
      "Ana was born.": undefined,
      "Rome was built.": undefined,
    });
  });

  test("supersedes what the model was shown, once, and no id that it made up", async () => {
    await recalld.store({ namespace: "super", text: "Ana works for a bank." });
    const foreign = await recalld.store({ namespace: "other", text: "Ben works for a bank." });
    const { lines, err } = await extract("super", "I quit the bank and opened a bakery.", (content) => {
      const [, id] = /(mem_\w+) Ana works for a bank/.exec(content) ?? [];
      const replaces = [id, id, foreign.id, "mem_01m7y1xb5efk1rz15y41qfyaqb", "'; DROP"];
      return {
        facts: [
          { text: "Ana owns a bakery.", replaces },
          { text: "Ana left the bank.", replaces: [id] },
        ],
      };
    });
    expect(lines, err).toEqual(["CREATED Ana owns a bakery.", "CREATED Ana left the bank."]);
    expect((await known("super")).sort()).toEqual(["Ana left the bank.", "Ana owns a bakery."]);
    expect(await known("super", true)).toContain("Ana works for a bank.");
    expect(await known("other")).toEqual(["Ben works for a bank."]);
  });

  test("fills a slot again, whatever else the model says of its former value", async () => {
    const home = { slot: "home", text: "Ana lives in Porto.", replaces: null };
    expect((await extract("slots", "I live in Porto.", () => ({ facts: [home] }))).lines).toHaveLength(1);
    const replacing = (fact: object) => (content: string) => {
      const [, id] = /(mem_\w+) Ana lives in/.exec(content) ?? [];
      return { facts: [{ ...fact, replaces: [id] }] };
    };
    const moved = replacing({ slot: "home", text: "Ana lives in Lisbon." });
    expect((await extract("slots", "I moved to Lisbon.", moved)).lines).toEqual([
      "REPLACED Ana lives in Lisbon.",
    ]);
    const left = replacing({ text: "Ana has no home." });
    expect((await extract("slots", "I have no home any more.", left)).lines).toEqual([
      "CREATED Ana has no home.",
    ]);
    expect(await known("slots")).toEqual(["Ana has no home."]);
    expect((await extract("slots", "I live in Porto.", () => ({ facts: [home] }))).lines).toHaveLength(1);
    expect(await known("slots")).toContain("Ana lives in Porto.");
  });

  test.each([
    ["is not JSON", "Sure! Here are the facts.", /JSON/],
    ["has no facts", '{"memories": []}', /no facts/],
    ["is an error", 503, /HTTP 503: overloaded/],
  ])("stores nothing when the answer %s", async (_, content, message) => {
    const { code, err, lines } = await extract("nothing", "I like tea.", content);
    expect(code).not.toBe(0);
    expect(err).toMatch(message);
    expect(lines).toEqual([]);
    expect(await known("nothing").catch(() => [])).toEqual([]);
  });

  test("leaves out what is no text, and takes no odd slot", async () => {
    const facts = () => ({
      facts: [{ text: " " }, { text: 7 }, null, { text: "Ana likes tea.", slot: "../x y" }],
    });
    expect((await extract("odd", "I like tea.", facts)).lines).toEqual(["CREATED Ana likes tea."]);
    for await (const { externalId } of recalld.memories({ namespace: "odd" })) {
      expect(externalId).toMatch(/^fact:[0-9a-f]{64}$/);
    }
  });
});
