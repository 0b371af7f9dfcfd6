import { beforeAll, describe, expect, test } from "vitest";
import { Recalld } from "../../clients/typescript/src/index.js";
import {
  type MemoryToolCommand,
  MemoryToolError,
  memoryToolHandlers,
} from "../../clients/typescript/src/memory-tool.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let recalld: Recalld;

beforeAll(async () => {
  server = await sharedServer();
  recalld = new Recalld({ apiKey: await signUp(server.url), baseUrl: server.url });
}, 60_000);

/** Runs commands one after the other, as a model's program would. Returns what the model is told. */
async function told(namespace: string, commands: readonly MemoryToolCommand[]): Promise<string[]> {
  const handlers = memoryToolHandlers(recalld, { namespace });
  const answers: string[] = [];
  for (const command of commands) {
    const handler = handlers[command.command] as (given: MemoryToolCommand) => Promise<string>;
    answers.push(
      await handler(command).catch((error) => {
        if (!(error instanceof MemoryToolError)) throw error;
        return `Error: ${error.message}`;
      }),
    );
  }
  return answers;
}

const HEAD = "Here're the files and directories up to 2 levels deep in /memories";
const listing = (...lines: string[]) =>
  `${HEAD}, excluding hidden items and node_modules:\n${lines.join("\n")}`;

describe("the files of Anthropic's memory tool", () => {
  test("are made, shown, edited, moved and deleted, in the words that models know", async () => {
    const path = "/memories/notes.md";
    const answers = await told("files", [
      { command: "view", path: "/memories" },
      { command: "create", path, file_text: "Ana\nBerlin\nPiano\n" },
      { command: "create", path, file_text: "other" },
      { command: "view", path },
      { command: "view", path, view_range: [2, 3] },
      { command: "str_replace", path, old_str: "Berlin\nPiano", new_str: "Rome\nTea\nPiano" },
      { command: "insert", path, insert_line: 0, insert_text: "# Notes\n" },
      { command: "view", path },
      { command: "rename", old_path: path, new_path: "/memories/people/ana/notes.md" },
      { command: "view", path: "/memories" },
      { command: "rename", old_path: "/memories/people", new_path: "/memories/users" },
      { command: "view", path: "/memories/users/ana/notes.md", view_range: [1, 1] },
      { command: "delete", path: "/memories/users" },
      { command: "view", path: "/memories/" },
    ]);
    expect(answers).toEqual([
      listing("0B\t/memories"),
      "File created successfully at: /memories/notes.md",
      "Error: File /memories/notes.md already exists",
      "Here's the content of /memories/notes.md with line numbers:\n     1\tAna\n     2\tBerlin\n     3\tPiano\n     4\t",
      "Here's the content of /memories/notes.md with line numbers:\n     2\tBerlin\n     3\tPiano",
      "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tAna\n     2\tRome\n     3\tTea\n     4\tPiano\n     5\t",
      "The file /memories/notes.md has been edited.",
      "Here's the content of /memories/notes.md with line numbers:\n     1\t# Notes\n     2\tAna\n     3\tRome\n     4\tTea\n     5\tPiano\n     6\t",
      "Successfully renamed /memories/notes.md to /memories/people/ana/notes.md",
      listing("27B\t/memories", "27B\t/memories/people/", "27B\t/memories/people/ana/"),
      "Successfully renamed /memories/people to /memories/users",
      "Here's the content of /memories/users/ana/notes.md with line numbers:\n     1\t# Notes",
      "Successfully deleted /memories/users",
      listing("0B\t/memories"),
    ]);
  });

  test("say what is wrong, and change nothing", async () => {
    const path = "/memories/a.txt";
    const answers = await told("wrong", [
      { command: "create", path, file_text: "tea and tea\ntea" },
      { command: "str_replace", path, old_str: "tea", new_str: "x" },
      { command: "str_replace", path, old_str: "coffee", new_str: "x" },
      { command: "insert", path, insert_line: 3, insert_text: "x" },
      { command: "create", path: `${path}/b`, file_text: "x" },
      { command: "view", path: "/memories/none" },
      { command: "delete", path: "/memories" },
      { command: "delete", path: "/memories/none" },
      { command: "rename", old_path: path, new_path: path },
      { command: "rename", old_path: "/memories/none", new_path: "/memories/b" },
      { command: "create", path: "/memories/big", file_text: "x".repeat(70_000) },
      { command: "view", path },
    ]);
    expect(answers.slice(1, -2)).toEqual([
      "Error: No replacement was performed. Multiple occurrences of old_str `tea` in lines: 1, 1, 2. Please ensure it is unique",
      "Error: No replacement was performed, old_str `coffee` did not appear verbatim in /memories/a.txt.",
      "Error: Invalid `insert_line` parameter: 3. It should be within the range of lines of the file: [0, 2]",
      "Error: The path /memories/a.txt is a file, not a directory.",
      "Error: The path /memories/none does not exist. Please provide a valid path.",
      "Error: Cannot delete the /memories directory itself",
      "Error: The path /memories/none does not exist",
      "Error: The destination /memories/a.txt already exists",
      "Error: The path /memories/none does not exist",
    ]);
    expect(answers.at(-2)).toMatch(/^Error: File \/memories\/big cannot be written: .*65,536/);
    expect(answers.at(-1)).toContain("tea and tea\n     2\ttea");
  });

  test.each([
    "/etc/passwd",
    "/memories/../x",
    "/memoriesx/a",
    "memories/a",
    "/memories//a",
    "/memories/a\nb",
    "",
  ])("are in their own directory: %j is refused", async (path) => {
    const [answer] = await told("paths", [{ command: "create", path, file_text: "x" }]);
    expect(answer).toMatch(/^Error: Path/);
    expect(await recalld.count({ namespace: "paths" })).toMatchObject({ memories: 0 });
  });

  test("may be empty, and are recalled by what they say, beside other memories", async () => {
    const namespace = "recalled";
    await recalld.store({ namespace, text: "Not a file." });
    const answers = await told(namespace, [
      { command: "create", path: "/memories/empty", file_text: "" },
      { command: "create", path: "/memories/allergies.md", file_text: "Ana is allergic to peanuts." },
      { command: "view", path: "/memories/empty" },
      { command: "view", path: "/memories" },
    ]);
    expect(answers.slice(2)).toEqual([
      "Here's the content of /memories/empty with line numbers:\n     1\t",
      listing("27B\t/memories", "27B\t/memories/allergies.md", "0B\t/memories/empty"),
    ]);
    const { results } = await recalld.recall({ namespace, query: "Which foods are bad for Ana?", topK: 1 });
    expect(results[0]?.text).toBe("/memories/allergies.md\nAna is allergic to peanuts.");
  });

  test("lose no line when several agents edit one at a time that meets", async () => {
    const path = "/memories/log";
    await told("shared", [{ command: "create", path, file_text: "" }]);
    const lines = ["one", "two", "three"];
    await Promise.all(
      lines.map((line) => told("shared", [{ command: "insert", path, insert_line: 0, insert_text: line }])),
    );
    const [shown = ""] = await told("shared", [{ command: "view", path }]);
    for (const line of lines) expect(shown).toContain(`\t${line}`);
    const made = await Promise.all(
      lines.map((line) => told("shared", [{ command: "create", path: "/memories/new", file_text: line }])),
    );
    expect(made.flat().filter((answer) => answer.startsWith("File created"))).toHaveLength(1);
  });
});
