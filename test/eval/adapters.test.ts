import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recalld } from "../../clients/typescript/src/index.js";
import { RecalldProvider } from "../../eval/adapters/memorybench.js";
import { signUp } from "../clients/sign-up.js";
import { ROOT, read } from "../support/documents.js";
import { startServer, type TestServer } from "../support/server.js";

const python = process.env.PYTHON ?? "python3";
const hasPython =
  spawnSync(python, ["-c", "import sys, pip; sys.exit(sys.version_info < (3, 10))"]).status === 0;
const TIMEOUT_MS = 240_000;

const folder = mkdtempSync(join(tmpdir(), "recalld-adapters-"));
let server: TestServer;
let apiKey: string;

beforeAll(async () => {
  server = await startServer({ env: { TOP_K_MAX: "200" } });
  apiKey = await signUp(server.url);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!hasPython)("the adapters in Python", () => {
  const libraries = join(folder, "libraries");

  beforeAll(async () => {
    // What the client needs, in the versions that its own tests have.
    const versions = read("clients/python/requirements-dev.txt").match(/^[\w.-]+==[^\s;]+/gm) ?? [];
    writeFileSync(join(folder, "versions.txt"), `${versions.join("\n")}\n`);
    const packages = ["httpx", "anyio", "typing_extensions"];
    const args = ["-m", "pip", "install", "-q", "--no-compile", "--target", libraries];
    await promisify(execFile)(python, [...args, "-c", join(folder, "versions.txt"), ...packages]);
  }, TIMEOUT_MS);

  async function run(script: string, ...args: string[]): Promise<string> {
    const paths = ["clients/python/src", "test/eval/stand-ins", "eval/adapters"];
    const env = {
      ...process.env,
      RECALLD_URL: server.url,
      RECALLD_API_KEY: apiKey,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPATH: [...paths.map((path) => join(ROOT, path)), libraries].join(":"),
    };
    return (await promisify(execFile)(python, [join(ROOT, script), ...args], { env })).stdout;
  }

  test("LMEB: index a corpus, find its texts, and leave nothing behind", {
    timeout: TIMEOUT_MS,
  }, async () => {
    expect(await run("eval/adapters/lmeb.py")).toBe("LoCoMo 1.0\n");
    expect(await run("eval/adapters/lmeb.py", "LoCoMo", "LongMemEval")).toBe("LoCoMo 1.0\nLongMemEval 1.0\n");
    expect(await namespaces("lmeb-")).toEqual([]);
  });

  test("AMB: keep users apart, dates and documents' ids", { timeout: TIMEOUT_MS }, async () => {
    const [ana, ben, everyone] = JSON.parse(await run("test/eval/stand-ins/run_amb.py"));
    expect(ana[0]).toEqual(["chat-1", "(2023-05-20) user: I cannot eat peanuts.", "2023-05-20T02:21:00Z"]);
    expect(ana.length).toBe(2);
    expect(ben).toEqual([["chat-2", "user: Peanuts are my favourite.", null]]);
    expect(everyone.map(([id]: string[]) => id)).toEqual(["plain", "plain", "plain"]);
    expect(await namespaces("amb-")).toEqual([]);
  });
});

describe("the adapter of MemoryBench", () => {
  const containerTag = "q1-run1";
  const sessions = [
    {
      sessionId: "s1",
      messages: [
        { role: "user", content: "Hello!" },
        { role: "user", content: "I cannot eat peanuts.", timestamp: "2023-05-20T02:21:00Z" },
        { role: "assistant", content: "Noted." },
      ],
      metadata: { date: "2023-05-20T00:00:00.000Z", formattedDate: "20 May 2023" },
    },
    { sessionId: "s2", messages: [{ role: "user", content: "y".repeat(40_000), speaker: "Ben" }] },
  ];

  test("finds a message, with those around it in its session, as soon as it is stored", async () => {
    const provider = new RecalldProvider();
    await expect(provider.search("anything", { containerTag })).rejects.toThrow("not initialized");
    await provider.initialize({ apiKey, baseUrl: server.url });
    const stored = await provider.ingest(sessions, { containerTag });
    expect(stored.documentIds).toEqual(Array(6).fill(expect.stringMatching(/^mem_/)));
    let completed: string[] = [];
    await provider.awaitIndexing(stored, containerTag, ({ completedIds }) => (completed = completedIds));
    expect(completed).toEqual(stored.documentIds);
    const [first, ...others] = await provider.search("Which foods are bad for me?", {
      containerTag,
      limit: 30,
    });
    expect(first).toEqual({
      ...{
        text: "user: I cannot eat peanuts.",
        score: expect.any(Number),
        session: "s1",
        date: "20 May 2023",
      },
      before: ["user: Hello!"],
      after: ["assistant: Noted."],
    });
    expect(others.length).toBe(5);
    // Cut where a character is, and with nothing in the third part.
    const content = `${"x".repeat(15_993)}\u{1f95c}${"x".repeat(15_999)}${" ".repeat(16_000)}`;
    const odd = { sessionId: "s3", messages: [{ role: "user", content }] };
    expect((await provider.ingest([odd], { containerTag })).documentIds).toHaveLength(2);
    await provider.clear(containerTag);
    expect(await provider.search("peanuts", { containerTag })).toEqual([]);
    await provider.clear(containerTag);
  });
});

async function namespaces(prefix: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { namespace } of new Recalld({ apiKey, baseUrl: server.url }).namespaces({ prefix }))
    found.push(namespace);
  return found;
}
