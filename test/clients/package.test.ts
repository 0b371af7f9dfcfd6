import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import vm from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocks, ROOT, read, section } from "../support/documents.js";
import { sharedServer, type TestServer } from "../support/server.js";
import { signUp } from "./sign-up.js";

const PACKAGE = join(ROOT, "clients/typescript");
/** Building, packing and checking types take seconds each on a machine that does much else. */
const TIMEOUT_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "recalld-client-"));
const installed = join(folder, "node_modules/@recalld/client");
let server: TestServer;
let env: Record<string, string>;

function run(command: string, args: readonly string[], cwd = folder): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Checks programs as strictly as a user can. */
function checkTypes(...files: string[]): void {
  const flags = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--target", "es2022"];
  const modules = ["--module", "nodenext"];
  const types = ["--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"];
  run(process.execPath, [
    join(ROOT, "node_modules/typescript/bin/tsc"),
    ...flags,
    ...modules,
    ...types,
    ...files,
  ]);
}

beforeAll(async () => {
  server = await sharedServer();
  env = { RECALLD_URL: server.url, RECALLD_API_KEY: await signUp(server.url) };
  run("npm", ["pack", "--pack-destination", folder], PACKAGE);
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${archive}`]);
}, TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the package, installed into an empty folder", () => {
  const samples = blocks(read("clients/typescript/README.md"), "ts");
  const [first = ""] = samples;

  test("comes alone, with types, and with no names of Node's", () => {
    expect(readdirSync(join(folder, "node_modules"))).toEqual([".package-lock.json", "@recalld"]);
    const files = readdirSync(installed, { recursive: true }) as string[];
    expect(files).toContain(join("dist", "esm", "index.d.ts"));
    expect(files.filter((name) => name.startsWith("src") || name.endsWith(".map"))).toEqual([]);
    for (const name of files.filter((each) => each.endsWith(".js")))
      expect(readFileSync(join(installed, name), "utf8")).not.toMatch(/["']node:|\bBuffer\b|\bprocess\b/);
    expect(JSON.parse(read("clients/typescript/package.json")).version).toBe(
      JSON.parse(read("package.json")).version,
    );
  });

  test("has a first example that stores and recalls, as an ES module", () => {
    writeFileSync(join(folder, "first.mjs"), first);
    expect(run(process.execPath, ["first.mjs"])).toMatch(/^0\.\d\d Ana is allergic to peanuts\.\n$/);
  });

  test("runs README's quick start, which TypeScript finds right, strictly", { timeout: TIMEOUT_MS }, () => {
    const [sample = ""] = blocks(section("README.md", "## Other ways in"), "ts");
    const filledIn = sample
      .replace("http://127.0.0.1:8080", env.RECALLD_URL ?? "")
      .replace("rcl_…", env.RECALLD_API_KEY ?? "");
    writeFileSync(join(folder, "quick-start.mts"), filledIn);
    writeFileSync(join(folder, "mistaken.mts"), filledIn.replace("query:", "querry:"));
    checkTypes("quick-start.mts");
    expect(() => checkTypes("mistaken.mts")).toThrow(/querry/);
    const tsx = join(ROOT, "node_modules/tsx/dist/cli.mjs");
    expect(run(process.execPath, [tsx, "quick-start.mts"])).toBe("Ana plays the cello on Sundays.\n");
  });

  test("works the same by require", () => {
    const required = first.replace(
      'import { Recalld } from "@recalld/client"',
      'const { Recalld } = require("@recalld/client")',
    );
    writeFileSync(join(folder, "first.cjs"), `(async () => {${required}})();\n`);
    expect(run(process.execPath, ["first.cjs"])).toContain("Ana is allergic to peanuts.");
  });

  test("has examples that TypeScript finds right, strictly, in both forms", { timeout: TIMEOUT_MS }, () => {
    const imports = samples.join("").match(/^import .*$/gm) ?? [];
    const code = `${samples.join("\n").replace(/^import .*$/gm, "")}\n`;
    const sample = [...new Set(imports)].join("\n");
    writeFileSync(join(folder, "sample.mts"), `${sample}\n${code}`);
    writeFileSync(join(folder, "sample.cts"), `${sample}\nexport async function main() {\n${code}}\n`);
    const wrong =
      'import { Recalld } from "@recalld/client";\n\nawait new Recalld({ apiKey: "", baseUrl: "" }).store({ texxt: "" });\n';
    writeFileSync(join(folder, "wrong.mts"), wrong);
    checkTypes("sample.mts", "sample.cts");
    expect(() => checkTypes("wrong.mts")).toThrow(/texxt/);
  });

  test("brings the memory tool's files, in both forms", () => {
    const sample = samples.find((each) => each.includes("memoryToolHandlers")) as string;
    const code = first.slice(0, first.indexOf("await")) + sample;
    writeFileSync(join(folder, "files.mjs"), code);
    expect(run(process.execPath, ["files.mjs"])).toContain("20B\t/memories/notes.md");
    const required = 'console.log(typeof require("@recalld/client/memory-tool").memoryToolHandlers)';
    expect(run(process.execPath, ["-e", required])).toBe("function\n");
  });

  // TypeScript 7 has no `moduleResolution: node10` that could be asked.
  test("has sub-paths also for tools that do not know exports", () => {
    const { exports, typesVersions } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const paths = Object.keys(exports).flatMap((path) => /^\.\/([\w-]+)$/.exec(path)?.[1] ?? []);
    expect(Object.keys(typesVersions["*"]).sort()).toEqual(paths.sort());
    for (const path of paths) {
      const { require } = exports[`./${path}`];
      const { main } = JSON.parse(readFileSync(join(installed, path, "package.json"), "utf8"));
      expect(join(installed, path, main)).toBe(join(installed, require));
      const [types] = typesVersions["*"][path];
      expect(types).toBe(require.replace(/\.js$/, ".d.ts"));
      expect(readFileSync(join(installed, types), "utf8")).toContain("export ");
    }
    const byFolder = `console.log(typeof require("${installed}/memory-tool").memoryToolHandlers)`;
    expect(run(process.execPath, ["-e", byFolder])).toBe("function\n");
  });

  test("brings adapters to those who have their libraries, in both forms", { timeout: TIMEOUT_MS }, () => {
    const adapters = {
      langgraph: "RecalldStore",
      langchain: "RecalldRetriever",
      "ai-sdk": "memoryTools",
    };
    const uses = Object.entries(adapters).map(([path, name]) => ({ path: `@recalld/client/${path}`, name }));
    const imported = uses.map(({ path, name }) => `import { ${name} } from "${path}";\n`).join("");
    const shown = `${imported}console.log(${uses.map(({ name }) => `typeof ${name}`).join(", ")});\n`;
    const required = `console.log(${uses.map(({ path, name }) => `typeof require("${path}").${name}`).join(", ")})`;
    writeFileSync(join(folder, "adapters.mjs"), shown);
    expect(() => run(process.execPath, ["adapters.mjs"])).toThrow(/Cannot find package '@langchain/);
    for (const library of ["@langchain", "ai"])
      symlinkSync(join(ROOT, "node_modules", library), join(folder, "node_modules", library));
    expect(run(process.execPath, ["adapters.mjs"])).toBe("function function function\n");
    expect(run(process.execPath, ["-e", required])).toBe("function function function\n");
    const samples = blocks(read("clients/typescript/README.md"), "js").filter((each) =>
      uses.some(({ path }) => each.includes(`"${path}"`)),
    );
    expect(samples).toHaveLength(uses.length);
    const model = 'import type { LanguageModel } from "ai";\ndeclare const model: LanguageModel;\n';
    const client =
      'import { Recalld } from "@recalld/client";\nconst recalld = new Recalld({ apiKey: "", baseUrl: "" });\n';
    const files = samples.map((sample, n) => {
      writeFileSync(
        join(folder, `adapter-${n}.mts`),
        client + (sample.includes("model") ? model : "") + sample,
      );
      return `adapter-${n}.mts`;
    });
    writeFileSync(join(folder, "adapters.cts"), imported.replaceAll("import {", "export {"));
    checkTypes("--skipLibCheck", ...files, "adapters.cts");
  });

  test("needs nothing that only Node has", async () => {
    const web = {
      URL,
      URLSearchParams,
      AbortController,
      TextDecoder,
      TextEncoder,
      Response,
      fetch,
      crypto,
      performance,
      setTimeout,
      clearTimeout,
    };
    const context = vm.createContext({ ...web });
    const load = (path: string): Record<string, unknown> => {
      const module = { exports: {} as Record<string, unknown> };
      const body = `(function (exports, require, module) {${readFileSync(path, "utf8")}\n})`;
      const require = (name: string) => load(join(dirname(path), name));
      vm.runInContext(body, context, { filename: path })(module.exports, require, module);
      return module.exports;
    };
    const { Recalld } = load(
      join(installed, "dist/cjs/index.js"),
    ) as typeof import("../../clients/typescript/src/index.js");
    const recalld = new Recalld({ apiKey: env.RECALLD_API_KEY ?? "", baseUrl: server.url });
    await recalld.store({ namespace: "web", text: "Ana plays the piano." });
    expect(await recalld.count({ namespace: "web" })).toMatchObject({ memories: 1 });
    const texts = [];
    for await (const { text } of recalld.export({ namespace: "web" })) texts.push(text);
    expect(texts).toEqual(["Ana plays the piano."]);
  });
});
