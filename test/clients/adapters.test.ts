import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { beforeAll, describe, expect, test } from "vitest";
import { memoryTools } from "../../clients/typescript/src/adapters/ai-sdk.js";
import { RecalldRetriever } from "../../clients/typescript/src/adapters/langchain.js";
import { Recalld } from "../../clients/typescript/src/index.js";
import { memoryToolHandlers } from "../../clients/typescript/src/memory-tool.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let recalld: Recalld;

beforeAll(async () => {
  server = await sharedServer();
  recalld = new Recalld({ apiKey: await signUp(server.url), baseUrl: server.url });
}, 60_000);

describe("LangChain's retriever", () => {
  test("finds documents by meaning, as a recall is set", async () => {
    const namespace = "retriever";
    await recalld.storeBatch({
      namespace,
      memories: [
        { text: "Ana is allergic to peanuts.", metadata: { source: "chat" } },
        { text: "Ben is allergic to cats.", metadata: { source: "mail" } },
        { text: "Cleo grows tomatoes." },
      ],
    });
    const all = new RecalldRetriever({ recalld, namespace });
    const [first, ...others] = await all.invoke("Which foods are bad for Ana?");
    expect(first).toEqual({
      id: expect.stringMatching(/^mem_/),
      pageContent: "Ana is allergic to peanuts.",
      metadata: {
        source: "chat",
        recalld: { score: expect.closeTo(0.5, 0), createdAt: expect.stringMatching(/^20/) },
      },
    });
    expect(others).toHaveLength(2);
    const set = new RecalldRetriever({
      recalld,
      namespace,
      topK: 1,
      filter: { source: "mail" },
      tags: ["x"],
    });
    const piped = set.pipe((documents) => documents.map(({ pageContent }) => pageContent));
    expect(await piped.invoke("Which foods are bad for Ana?")).toEqual(["Ben is allergic to cats."]);
    expect(set.tags).toEqual(["x"]);
    await expect(new RecalldRetriever({ recalld, namespace, topK: 21 }).invoke("?")).rejects.toMatchObject({
      field: "topK",
    });
  });
});

/** A model that says what the script says: it calls tools, or ends with a text. */
type Said = { readonly tool: string; readonly input: object } | { readonly text: string };

function scripted(script: readonly Said[]): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const answers = script.map((said, n) => {
    const call = (given: { tool: string; input: object }) =>
      ({
        type: "tool-call",
        toolCallId: `call ${n}`,
        toolName: given.tool,
        input: JSON.stringify(given.input),
      }) as const;
    const part = "text" in said ? ({ type: "text", text: said.text } as const) : call(said);
    const finish = "text" in said ? "stop" : "tool-calls";
    return {
      content: [part],
      finishReason: { unified: finish, raw: finish } as const,
      usage,
      warnings: [],
    };
  });
  return new MockLanguageModelV3({ doGenerate: answers });
}

describe("the AI SDK's tools", () => {
  const namespace = "ai";
  /** Lets a scripted model work with the tools. Returns what each call came to. */
  async function worked(script: readonly Said[]) {
    const model = scripted([...script, { text: "Done." }]);
    const { steps, text } = await generateText({
      model,
      tools: memoryTools(recalld, { namespace }),
      stopWhen: stepCountIs(script.length + 1),
      prompt: "Hello.",
    });
    expect(text).toBe("Done.");
    const told = steps.flatMap(({ content }) =>
      content.filter(({ type }) => /^tool-(result|error)$/.test(type)),
    );
    return told.map((part) => (part.type === "tool-result" ? part.output : (part as { error: Error }).error));
  }

  test("let a model store, recall, update and forget", async () => {
    const [stored, again] = (await worked([
      { tool: "memory_store", input: { text: "Ana lives in Rome.", metadata: { source: "chat" } } },
      { tool: "memory_store", input: { text: "Ana lives in Rome now." } },
    ])) as { id: string; similar: object[] }[];
    expect(stored).toEqual({ id: expect.stringMatching(/^mem_/), similar: [] });
    const id = stored?.id as string;
    expect(again?.similar).toEqual([{ id, text: "Ana lives in Rome." }]);
    const [updated, recalled, unknown, forgotten, empty] = await worked([
      { tool: "memory_update", input: { id, text: "Ana lives in Oslo." } },
      { tool: "memory_recall", input: { query: "Where does Ana live?", topK: 1 } },
      { tool: "memory_recall", input: { query: "How do rockets fly?" } },
      { tool: "memory_forget", input: { ids: [id, again?.id] } },
      { tool: "memory_recall", input: { query: "Where does Ana live?" } },
    ]);
    expect(updated).toEqual({ id });
    expect((recalled as { memories: object[] }).memories).toHaveLength(1);
    expect((unknown as { memories: object[] }).memories).toMatchObject([{ weak: true }, { weak: true }]);
    expect(forgotten).toEqual({ deleted: 2 });
    expect(empty).toEqual({ memories: [] });
  });

  test("tell the model what is wrong", async () => {
    const answers = await worked([
      { tool: "memory_store", input: { text: " " } },
      { tool: "memory_update", input: { id: "mem_x", text: "a" } },
    ]);
    expect(answers.map((error) => (error as Error).message)).toEqual([
      expect.stringContaining("text"),
      expect.stringContaining("id"),
    ]);
  });
});

describe("Anthropic's memory tool", () => {
  test("is run by Anthropic's own helper and its loop", async () => {
    const path = "/memories/notes.md";
    const commands = [
      { command: "create", path, file_text: "Ana lives in Rome.\n" },
      { command: "str_replace", path, old_str: "Rome", new_str: "Oslo" },
      { command: "insert", path, insert_line: 1, insert_text: "She plays the piano." },
      { command: "rename", old_path: path, new_path: "/memories/ana.md" },
      { command: "view", path: "/memories/ana.md" },
      { command: "view", path: "/memories/none" },
      { command: "delete", path: "/memories/ana.md" },
    ];
    const told: unknown[] = [];
    const answer = (body: { messages: { content: { content?: unknown }[] }[] }) => {
      const input = commands[told.length];
      told.push(body.messages.at(-1)?.content[0]?.content);
      const content =
        input === undefined
          ? [{ type: "text", text: "Done." }]
          : [{ type: "tool_use", id: `toolu_${told.length}`, name: "memory", input }];
      const rest = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "scripted",
        stop_sequence: null,
      };
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { ...rest, content, usage, stop_reason: input === undefined ? "end_turn" : "tool_use" };
    };
    const anthropic = new Anthropic({
      apiKey: "none",
      fetch: async (_url, request) => Response.json(answer(JSON.parse(String(request?.body)))),
    });
    const memory = betaMemoryTool(memoryToolHandlers(recalld, { namespace: "anthropic" }));
    const last = await anthropic.beta.messages.toolRunner({
      model: "scripted",
      max_tokens: 100,
      tools: [memory],
      messages: [{ role: "user", content: "Hello." }],
    });
    expect(last.content).toMatchObject([{ type: "text", text: "Done." }]);
    expect(told.slice(1)).toEqual([
      "File created successfully at: /memories/notes.md",
      expect.stringContaining("     1\tAna lives in Oslo."),
      "The file /memories/notes.md has been edited.",
      "Successfully renamed /memories/notes.md to /memories/ana.md",
      expect.stringContaining("     2\tShe plays the piano."),
      "Error: The path /memories/none does not exist. Please provide a valid path.",
      "Successfully deleted /memories/ana.md",
    ]);
  });
});
