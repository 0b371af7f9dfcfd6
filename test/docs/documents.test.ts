import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { renderMarkdown } from "../../scripts/docs/markdown.js";
import { signUp } from "../support/caller.js";
import { blocks, documents, ROOT, read, section } from "../support/documents.js";
import { connect } from "../support/mcp.js";
import { newDataDir, startServer } from "../support/server.js";

/** Makes a folder with nothing but the packages here, so that npx need not fetch any. */
function emptyFolder(): string {
  const folder = newDataDir();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

describe("every document", () => {
  const anchorsIn = (path: string) =>
    renderMarkdown(read(path), (href) => href).headings.map(({ anchor }) => anchor);

  test.each(documents)("%s links only to what is there", (path) => {
    const links = [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(
      ([, link = ""]) => link,
    );
    const dead = links.filter((link) => {
      const [file, anchor] = link.split("#");
      const target = file ? join(dirname(path), file) : path;
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsIn(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  test.each(documents)("%s names only scripts that there are", (path) => {
    const named = [...read(path).matchAll(/npm (?:run (?:-s )?([\w:-]+)|(start|test)\b)/g)];
    expect(
      named.map(([, run, short]) => run ?? (short as string)).filter((name) => !(name in scripts)),
    ).toEqual([]);
  });
});

describe("README.md", () => {
  const missing = ["bash", "curl"].filter((name) => spawnSync(name, ["--version"]).status !== 0).join(", ");
  const readme = read("README.md");
  const [first = ""] = blocks(section("README.md", "## First memories"), "sh");
  const [grpc = ""] = blocks(section("README.md", "## Other ways in"), "sh");
  const [shown = "{}"] = blocks(section("README.md", "## First memories"), "json");

  test.skipIf(missing !== "")(
    `has commands that do what it says (needs bash and curl; missing: ${missing || "none"})`,
    async () => {
      const server = await startServer();
      const script = `${first}\necho\n${grpc}`.replace("http://127.0.0.1:8080", server.url);
      const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: emptyFolder(), encoding: "utf8" });
      const [one, two, three, recalled = "", ...overGrpc] = stdout.trim().split("\n");
      for (const stored of [one, two, three]) expect(stored, stderr).toMatch(/^\{"id":"mem_/);
      const expected = JSON.parse(shown);
      const answer = JSON.parse(recalled);
      expect(Object.keys(answer)).toEqual(Object.keys(expected));
      expect(answer).toMatchObject({ namespace: expected.namespace, query_tokens: expected.query_tokens });
      expect(answer.results.map(({ text }: { text: string }) => text)).toEqual(
        expected.results.map(({ text }: { text: string }) => text),
      );
      for (const [i, { score }] of answer.results.entries()) {
        expect(score).toBeCloseTo(expected.results[i].score, 1);
      }
      const overGrpcAnswer = JSON.parse(overGrpc.join("\n") || `"${stderr}"`);
      expect(overGrpcAnswer.results[0].text).toBe("Her flight to Lisbon leaves on Friday evening.");
      expect(await server.stop()).toBe(0);
    },
    60_000,
  );

  test("has settings by which an agent stores and recalls", async () => {
    const server = await startServer();
    const { key } = await signUp(server.url);
    const [settings = ""] = blocks(section("README.md", "## Other ways in"), "json");
    const filledIn = settings.replace("http://127.0.0.1:8080", server.url).replace("rcl_…", key);
    const { url, headers } = JSON.parse(filledIn).mcpServers.recalld;
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const { client, call } = await connect(transport);
    expect((await call("memory_store", { text: "Ana plays the cello." })).data.namespace).toBe("ana");
    const { data } = await call("memory_recall", { query: "Which instrument does she play?" });
    expect(data.memories[0].text).toBe("Ana plays the cello.");
    await client.close();
    await server.stop();
  }, 60_000);

  test("shows what the server says when it starts", async () => {
    const server = await startServer();
    const [shown = ""] = blocks(readme, "text");
    const told = server
      .output()
      .slice(server.output().indexOf("recalld "))
      .replaceAll(server.url, "http://127.0.0.1:8080")
      .replace(server.dataDir, "/home/ana/data");
    expect(told.trim()).toBe(shown.trim());
    await server.stop();
  }, 60_000);

  test("names the versions of Node that are tested", () => {
    expect(readme).toContain("Node 20.20 or newer");
    expect(read("CONTRIBUTING.md")).toContain("Node 20.20 or newer");
  });
});
