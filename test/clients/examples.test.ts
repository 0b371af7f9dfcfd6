import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

let server: TestServer;
let key: string;

beforeAll(async () => {
  server = await sharedServer();
  key = await signUp(server.url);
}, 60_000);

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
  test("remember what they are told, and know what another one was told before", {
    timeout: 60_000,
  }, async () => {
    const rockets = "How do rockets fly?";
    const [remembers, knowsNothing] = ["I will remember that.", "I do not know that yet."];
    const [nuts, cello, lisbon] = [
      "Ana is allergic to peanuts.",
      "Ben plays the cello on Sundays.",
      "Cleo moved to Lisbon in May.",
    ];
    // One after the other: three programs that start at once are most of a small machine.
    expect(await talk("chat.ts", [nuts, rockets])).toEqual([remembers, knowsNothing]);
    expect(await talk("chat-http.ts", ["Which foods are bad for Ana?", cello, rockets])).toEqual([
      `You told me: ${nuts}`,
      remembers,
      knowsNothing,
    ]);
    expect(await talk("chat-mcp.ts", ["When does Ben play the cello?", lisbon, rockets])).toEqual([
      `You told me: ${cello}`,
      remembers,
      knowsNothing,
    ]);
    expect(await talk("chat.ts", ["Where does Cleo live now?"])).toEqual([`You told me: ${lisbon}`]);
  });
});
