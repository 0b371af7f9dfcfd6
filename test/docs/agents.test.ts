import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { Recalld } from "../../clients/typescript/src/client.js";
import { signUp } from "../support/caller.js";
import { blocks, read } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";

const GUIDE = read("docs/agents.md");
const missing = ["bash", "curl"].filter((name) => spawnSync(name, ["--version"]).status !== 0);

describe("docs/agents.md", () => {
  let server: TestServer;
  let env: { RECALLD_URL: string; RECALLD_API_KEY: string };

  beforeAll(async () => {
    server = await sharedServer();
    env = { RECALLD_URL: server.url, RECALLD_API_KEY: (await signUp(server.url)).key };
  }, 60_000);

  test("has a loop whose third turn knows what the first one said, and corrects and forgets", async () => {
    const code = blocks(GUIDE, "ts")
      .join("\n")
      .replace(/^import .*$/m, "");
    const said: unknown[] = [];
    const AsyncFunction = (async () => {}).constructor as new (
      ...names: string[]
    ) => (...values: unknown[]) => Promise<void>;
    const log = (value: unknown) => said.push(value);
    await new AsyncFunction("Recalld", "process", "console", code)(Recalld, { env }, { log });
    expect(said).toHaveLength(4);
    expect(said[2]).toMatch(/- I cannot eat peanuts\.[\s\S]*The user says: What should I cook tonight\?$/);
    expect(said[3]).toHaveProperty("memories");
  }, 60_000);

  test.skipIf(missing.length > 0)("has lines for a shell that store and recall", async () => {
    const [, , shell = ""] = blocks(GUIDE, "sh");
    const { stdout } = await promisify(execFile)("bash", ["-c", shell], { env: { ...process.env, ...env } });
    const [stored = "", recalled = ""] = stdout.trim().split("\n");
    expect(JSON.parse(stored)).toHaveProperty("id");
    expect(JSON.parse(recalled).results[0].text).toBe("I cannot eat peanuts.");
  });

  test("installs the packages that the clients are", () => {
    const [npm = "", pip = ""] = blocks(GUIDE, "sh");
    const { name } = JSON.parse(read("clients/typescript/package.json")) as { name: string };
    expect(npm.trim()).toBe(`npm install ${name}`);
    const [, project] = /^name = "(.*)"$/m.exec(read("clients/python/pyproject.toml")) ?? [];
    expect(pip.trim()).toBe(`pip install ${project}`);
  });
});
