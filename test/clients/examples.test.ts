import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../support/documents.js";
import { startServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await startServer();
  key = await signUp(server.url);
}, 60_000);
afterAll(() => server?.stop());

/** Talks to an example, a line at a time, until its input ends. Returns what it said. */
async function talk(example: string, lines: readonly string[]): Promise<string[]> {
  const env = { ...process.env, RECALLD_URL: server.url, RECALLD_API_KEY: key, CHAT_USER: "ben" };
  const args = ["--import", "tsx", `${ROOT}/examples/${example}`];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...env, TSX_TSCONFIG_PATH: `${ROOT}/tsconfig.test.json` },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(`${lines.join("\n")}\n`);
  return (await text(child.stdout)).trimEnd().split("\n");
}

describe("the examples", () => {
  const facts = {
    "chat.ts": ["Ana is allergic to peanuts.", "Which foods are bad for Ana?"],
    "chat-http.ts": ["Ben plays the cello on Sundays.", "When does Ben play the cello?"],
    "chat-mcp.ts": ["Cleo moved to Lisbon in May.", "Where does Cleo live now?"],
  };

  test("remember what they are told, and know it in the next run, whichever it is", {
    timeout: 60_000,
  }, async () => {
    const examples = Object.entries(facts);
    // One after the other: three programs that start at once are most of a small machine.
    for (const [example, [fact = ""]] of examples) {
      const said = await talk(example, [fact, "How do rockets fly?"]);
      expect(said).toEqual(["I will remember that.", "I do not know that yet."]);
    }
    const questions = examples.map(([, [, question = ""]]) => question);
    const known = examples.map(([, [fact]]) => `You told me: ${fact}`);
    for (const [example] of examples) expect(await talk(example, questions)).toEqual(known);
  });
});
