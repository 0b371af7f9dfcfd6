import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DataFolder } from "../../eval/data-folder.js";
import { signUp } from "../support/caller.js";
import { blocks, ROOT, read, section } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";

// Each line starts a process, beside all other tests.
vi.setConfig({ testTimeout: 120_000 });

const missing = ["bash", "curl"].filter((name) => spawnSync(name, ["--version"]).status !== 0).join(", ");

describe.skipIf(missing !== "")(
  `guides of shell lines (need bash and curl; missing: ${missing || "none"})`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "recalld-guides-"));
    let server: TestServer;
    let env: NodeJS.ProcessEnv;

    beforeAll(async () => {
      server = await sharedServer();
      const { key } = await signUp(server.url);
      env = { PATH: process.env.PATH, HOME: folder, RECALLD_URL: server.url, RECALLD_API_KEY: key };
    }, 60_000);
    afterAll(async () => {
      rmSync(folder, { recursive: true });
    });

    /** Runs lines in the folder, after what `before` defines; returns what they print, line by line. */
    async function run(lines: string, before = ""): Promise<string[]> {
      const { stdout } = await promisify(execFile)("bash", ["-ec", before + lines], { cwd: folder, env });
      return stdout.trim().split("\n");
    }

    const moves = blocks(section("docs/recipes.md", "## Move from another memory"), "sh");

    describe("docs/recipes.md", () => {
      const [define = "", ...all] = blocks(read("docs/recipes.md"), "sh");
      const recipes = all.filter((code) => !moves.includes(code));
      const recipe = async (n: number, before = "") =>
        (await run(recipes[n] as string, define + before)).map((line) => JSON.parse(line));

      test("has a recipe for each block that is tested here", () => expect(recipes).toHaveLength(12));

      test("keeps users apart", async () => {
        const [, , own, foreign] = await recipe(0);
        expect(own.results.map(({ text }: { text: string }) => text)).toEqual(["Ana cannot eat peanuts."]);
        expect(foreign.code).toBe("permission_denied");
      });

      test("corrects facts in three ways", async () => {
        const [, replaced] = await recipe(1);
        expect(replaced.outcome).toBe("REPLACED");
        const [superseding, old] = await recipe(2);
        expect(old.memory).toMatchObject({ text: "Ana works for a bank.", superseded_by: superseding.id });
        expect(await recipe(3)).toMatchObject([{ memory: { text: "Ana has a cat." } }]);
      });

      test("stores nothing twice", async () => {
        const [first, same, other] = await recipe(4);
        expect(same).toMatchObject({
          id: first.id,
          outcome: "KEPT",
          similar: { memories: [{ id: first.id }] },
        });
        expect(other).toMatchObject({ outcome: "CREATED", similar: { memories: [] } });

        const recall = `call POST /recall '{"namespace": "user-cleo", "query": "Cleo is allergic to almonds."}'`;
        const [{ results }] = (await run(recall, define)).map((line) => JSON.parse(line));
        const says = /score of about (\S+); the third is another fact, about (\S+),/;
        const [, alike, another] = says.exec(section("docs/recipes.md", "## Store nothing twice")) ?? [];
        expect(same.similar.memories[0].score.toFixed(2)).toBe(alike);
        expect(results[1].score.toFixed(2)).toBe(another);
      });

      test("lets a fact expire", async () => {
        const [{ id }] = await recipe(5);
        const response = await fetch(`${server.url}/namespaces/user-ana/memories/${id}`, {
          headers: { authorization: `Bearer ${env.RECALLD_API_KEY}` },
        });
        const { memory } = (await response.json()) as { memory: { expire_time: string } };
        expect((Date.parse(memory.expire_time) - Date.now()) / 86_400_000).toBeCloseTo(14, 1);
      });

      test("prefers what is recent, and finds what happened in March", async () => {
        const painted = { text: "Ana painted the kitchen.", event_time: "2016-03-05T09:30:00Z" };
        const [, recent] = await recipe(6);
        expect(recent.results).toMatchObject([painted]);
        const [march, listed] = await recipe(7);
        expect(march.results).toMatchObject([painted]);
        expect(listed.memories).toMatchObject([painted]);
      });

      test("stores a document by its sections", async () => {
        const [, found] = await recipe(8);
        expect(found.results).toMatchObject([{ metadata: { document: "manual-7", section: 2 } }]);
        expect(await recipe(9)).toMatchObject([{ deleted: 2 }]);
      });

      test("finds a code by its words, and nothing where nothing fits", async () => {
        const [, , found, nothing] = await recipe(10);
        expect(found.results[0].text).toMatch(/^ERR-4712/);
        expect(nothing).toMatchObject({ results: [], considered: 2 });
      });

      test("writes data that the evaluation reads", async () => {
        await run(recipes[11] as string);
        const data = new DataFolder(join(folder, "data"), "dev");
        expect(data.list()).toEqual([{ kind: "retrieval", name: "mine" }]);
        const { rows, queries } = data.retrieval("mine");
        expect(queries.map(({ relevant }) => [...relevant])).toEqual(rows.map(({ id }) => [id]));
      });
    });

    describe("moving, in docs/recipes.md", () => {
      const program = `recalld() { "${process.execPath}" "${join(ROOT, "dist/src/recalld.js")}" "$@"; }\n`;

      test("moves in from files of the real programs, and out again", async () => {
        // `test/fixtures/imports/README.md` says which program made each.
        for (const name of ["chroma.json", "mem0.json", "memory.jsonl"])
          cpSync(join(ROOT, "test/fixtures/imports", name), join(folder, name));
        const [chroma, mem0, graph, out] = moves as [string, string, string, string];
        expect(moves).toHaveLength(4);
        // One entry of the collection has no text, which the exit code tells.
        const shown = await run(chroma.replace("\n", " || true\n"), program);
        expect(shown.join("\n")).toContain("Ana is allergic to peanuts.");
        expect((await run(mem0, program)).join("\n")).toContain("Sie wohnt in Köln.");
        expect((await run(graph, program)).join("\n")).toMatch(/Ana lives[ _]in Köln/);
        await run(out, program);
        const lines = readFileSync(join(folder, "user-ana.jsonl"), "utf8").trim().split("\n");
        expect(JSON.parse(lines.at(-1) as string)).toHaveProperty("sha256");
      });
    });
  },
);
