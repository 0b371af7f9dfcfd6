import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../src/version.js";

const ROOT = join(import.meta.dirname, "..");
const BIOME = join(ROOT, "node_modules/@biomejs/biome/bin/biome");

/** Version of the linter. Its program is one package per system, so the lockfile need not have them all. */
const linterVersion = spawnSync(process.execPath, [BIOME, "--version"], { encoding: "utf8" });
const reasonToSkip =
  linterVersion.status === 0 ? "" : ` (skipped: no Biome for ${process.platform}-${process.arch})`;

/** Rules that the linter finds violated in a tree, by file. */
type Findings = ReadonlyMap<string, readonly string[]>;

interface Report {
  diagnostics: { severity: string; category: string; location: { path: string } }[];
}

/** Runs the real linter with the real configuration on a test's tree. */
function lint(tree: string): Findings {
  const args = [BIOME, "lint", "--reporter=json", "--max-diagnostics=none"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: "utf8" });
  if (!stdout.startsWith("{")) throw new Error(`biome gave no report: ${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as Report;
  const findings = new Map<string, string[]>();
  for (const { severity, category, location } of diagnostics) {
    if (severity !== "error") continue;
    const rules = findings.get(location.path) ?? [];
    findings.set(location.path, [...rules, category.split("/").at(-1) as string]);
  }
  return findings;
}

function plant(tree: string, files: Readonly<Record<string, string>>): void {
  for (const [path, code] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), code);
  }
}

/** Makes a tree with nothing but what the linter's rules depend on. */
function openTree(): string {
  const tree = mkdtempSync(join(tmpdir(), "recalld-tidy-"));
  for (const name of ["biome.json", ".gitignore", "package.json"]) {
    copyFileSync(join(ROOT, name), join(tree, name));
  }
  return tree;
}

const sources = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

describe.skipIf(reasonToSkip)(`the folder rules${reasonToSkip}`, () => {
  /** Imports that a folder may not have. */
  const forbidden: readonly (readonly [folder: string, specifier: string])[] = [
    ["src/memory", "../server/app.js"],
    ["src/memory", "../storage/storage.js"],
    ["src/memory", "../accounts/account.js"],
    ["src/memory", "./../compose.js"],
    ["src/memory", "../../gen/recalld/v1/memory_pb.js"],
    ["src/memory", "mongodb"],
    ["src/memory", "node:fs/promises"],
    ["src/accounts", "../memory/calls/store.js"],
    ["src/accounts", "fastify"],
    ["src/accounts/sessions", "../../memory/calls/store.js"],
    ["src/accounts/calls", "../../memory/calls/store.js"],
    ["src/accounts/oauth", "fastify"],
    ["src/client-metadata", "../server/app.js"],
    ["src/storage/local/oauth", "mongodb"],
    ["src/storage/mongo/oauth", "lmdb"],
    ["src/server/oauth", "../mcp/door.js"],
    ["src/server/plain", "../http/plain-paths.js"],
    ["src/storage", "../server/app.js"],
    ["src/storage", "mongodb"],
    ["src/storage/local", "../../server/app.js"],
    ["src/storage/local", "../mongo/open.js"],
    ["src/storage/local", "mongodb"],
    ["src/storage/mongo", "../../vectors/usearch.js"],
    ["src/storage/mongo", "../local/open.js"],
    ["src/storage/mongo", "lmdb"],
    ["src/vectors", "../storage/storage.js"],
    ["src/vectors", "../accounts/account.js"],
    ["src/vectors", "lmdb"],
    ["src/embedding", "../vectors/usearch.js"],
    ["src/embedding", "../config.js"],
    ["src/embedding", "usearch"],
    ["src/server", "../storage/local/open.js"],
    ["src/server", "../vectors/usearch.js"],
    ["src/server", "../compose.js"],
    ["src/server", "../compose/storage.js"],
    ["src/server", "@xenova/transformers"],
    ["src/telemetry", "../server/observe.js"],
    ["src/telemetry", "../embedding/open.js"],
    ["src/telemetry", "fastify"],
    ["src/compose", "../main.js"],
    ["src/compose", "mongodb"],
    ["src/memory/ports", "../log/replica.js"],
    ["src/memory/pacing", "../log/replica.js"],
    ["src/memory/input", "../calls/store.js"],
    ["src/memory/versions", "../log/replica.js"],
    ["src/memory/models", "../log/namespaces.js"],
    ["src/memory/log", "../calls/store.js"],
    ["src/memory/search", "../log/replica.js"],
    ["src/memory/words", "../calls/store.js"],
    ["src/memory/filter", "../log/replica.js"],
    ["src/memory/fields", "../log/replica.js"],
    ["src/memory/idempotency", "../calls/store.js"],
    ["src/memory/calls", "../reembedding/move.js"],
    ["src/memory/calls/several", "../../reembedding/move.js"],
    ["src/memory/erasure", "../calls/get.js"],
    ["src/memory/streams", "../calls/get.js"],
    ["src/memory/reembedding", "../calls/store.js"],
    ["src/memory/format", "../log/replica.js"],
    ["src/server/port", "../rpc/caller.js"],
    ["src/server/wire", "../rpc/caller.js"],
    ["src/server/rpc", "../http/cors.js"],
    ["src/server/rpc/memory", "../../http/cors.js"],
    ["src/server/http", "../app.js"],
    ["src/server/portal", "../rpc/caller.js"],
    ["src/server/mcp", "../rpc/memory/memory-service.js"],
    ["src/server/mcp/tools", "../asking.js"],
    ["src/embedding/encode", "../pool/pool.js"],
    ["src/embedding/convention", "../pool/pool.js"],
    ["src/embedding/download", "../pool/pool.js"],
    ["src/embedding/pool", "../open.js"],
    ["src/embedding/check", "../pool/pool.js"],
    ["src/storage", "../memory/calls/store.js"],
    ["src/storage/local", "../../memory/calls/store.js"],
    ["src/storage/local/check", "../file.js"],
    ["src/storage/local/owner", "../open.js"],
    ["src/storage/local/log", "../owner/owner.js"],
    ["src/storage/local/backup", "../../mongo/open.js"],
    ["src/storage/mongo/log", "lmdb"],
    ["src/vectors", "../memory/calls/store.js"],
    ["src/vectors/among", "../../memory/log/replica.js"],
    ["src/vectors/snapshot", "../usearch.js"],
    ["src/vectors", "../memory/log/replica.js"],
    ["src/vectors/projection", "../../memory/calls/map.js"],
    ["src/vectors/projection", "usearch"],
    ["src/words", "../memory/log/replica.js"],
    ["src/words", "../vectors/usearch.js"],
    ["src/words", "stemmer"],
    ["src/words/postings", "../contents.js"],
    ["src/words/text", "../postings/hash.js"],
    ["src/words/snapshot", "../contents.js"],
    ["src/operator", "../storage/storage.js"],
    ["src/cli", "../errors.js"],
    ["src/mcp", "../compose.js"],
    ["src/importing", "../operator/operations.js"],
    ["src/importing", "../memory/calls/store.js"],
    ["src/importing/readers", "../store-over-http.js"],
    ["clients/typescript/src", "../../../src/errors.js"],
    ["clients/typescript/src", "node:crypto"],
    ["clients/typescript/src", "@bufbuild/protobuf"],
    ["clients/typescript/src/adapters", "../call.js"],
    ["clients/typescript/src/adapters/langgraph", "ai"],
    ["clients/typescript/src/memory-tool", "../call.js"],
    ["clients/typescript/src/memory-tool", "@anthropic-ai/sdk"],
    ["examples", "../src/errors.js"],
    ["src", "./server/app.js"],
    ["src", "mongodb"],
  ];
  const cases = forbidden.map(([folder, specifier], n) => ({
    folder,
    specifier,
    path: `${folder}/planted-${n}.ts`,
  }));
  const others: Readonly<Record<string, string>> = {
    noImportCycles: "src/memory/planted-cycle-of-values-a.ts",
    noProcessEnv: "src/server/planted-env.ts",
    noDefaultExport: "src/memory/planted-default.ts",
    noConsole: "src/embedding/planted-console.ts",
    noUndeclaredDependencies: "src/compose.ts",
    noFocusedTests: "test/planted.test.ts",
    noRestrictedGlobals: "clients/typescript/src/planted-process.ts",
  };
  const cycleOfTypes = "src/memory/planted-cycle-of-types-a.ts";
  const folders = [...new Set(sources.map((path) => dirname(relative(ROOT, path))))];
  const ways = {
    "src/memory/planted-export.ts": 'export * from "../server/app.js";\n',
    "src/memory/planted-type.ts":
      'import type { App } from "../server/app.js";\n\nexport const a: App[] = [];\n',
    "src/memory/planted-dynamic.ts": 'export const app = await import("../server/app.js");\n',
  };

  let tree: string;
  let found: Findings;
  beforeAll(() => {
    tree = openTree();
    plant(tree, ways);
    plant(tree, {
      "src/memory/planted-cycle-of-values-a.ts": 'export { b as a } from "./planted-cycle-of-values-b.js";\n',
      "src/memory/planted-cycle-of-values-b.ts": 'export { a as b } from "./planted-cycle-of-values-a.js";\n',
      [cycleOfTypes]: 'export type { B as A } from "./planted-cycle-of-types-b.js";\n',
      "src/memory/planted-cycle-of-types-b.ts":
        'export type { A as B } from "./planted-cycle-of-types-a.js";\n',
      "src/server/planted-env.ts": "export const port = process.env.PORT;\n",
      "src/memory/planted-default.ts": "export default 1;\n",
      "src/embedding/planted-console.ts": 'console.log("a text");\n',
      // It is installed, but not where only `dependencies` are.
      "src/compose.ts": 'import "vitest";\n',
      "clients/typescript/src/planted-process.ts": "export const port = process.pid;\n",
      "test/planted.test.ts": 'import { test } from "vitest";\n\ntest.only("alone", () => {});\n',
    });
    for (const { path, specifier } of cases) plant(tree, { [path]: `import "${specifier}";\n` });
    for (const folder of folders) plant(tree, { [`${folder}/planted-any.ts`]: 'import "../../web/x.js";\n' });
    found = lint(tree);
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  test.each(cases)("$folder may not import $specifier", ({ path }) => {
    expect(found.get(path)).toContain("noRestrictedImports");
  });

  test.each(Object.keys(ways))("no kind of import gets through: %s", (path) => {
    expect(found.get(path)).toContain("noRestrictedImports");
  });

  test.each(folders)("%s has a rule, and an import is planted that it forbids", (folder) => {
    expect(found.get(`${folder}/planted-any.ts`)).toContain("noRestrictedImports");
    expect(forbidden.map(([planted]) => planted)).toContain(folder);
  });

  test.each(Object.entries(others))("%s finds what was planted in %s", (rule, path) => {
    expect(found.get(path)).toContain(rule);
  });

  test("a cycle of types is a cycle", () => {
    expect(found.get(cycleOfTypes)).toContain("noImportCycles");
  });

  test("the tree as it is keeps them", () => {
    const rules = ["noRestrictedImports", ...Object.keys(others)];
    const broken = [...lint(ROOT)].filter(([, names]) => names.some((name) => rules.includes(name)));
    expect(broken).toEqual([]);
  }, 60_000);

  test("nobody silences them", () => {
    const silenced =
      /biome-ignore\S*\s+lint(\/(style|suspicious|correctness))?(\/no(RestrictedImports|ImportCycles|ProcessEnv|UndeclaredDependencies))?:/;
    expect(sources.filter((path) => silenced.test(readFileSync(path, "utf8")))).toEqual([]);
  });
});

test("the portal's type has six sizes, and code in a sentence the sentence's", () => {
  const folder = join(ROOT, "web/src/styles");
  const styles = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const sizes = styles.flatMap((css) => css.match(/(?<=font-size: )[^;]+/g) ?? []);
  const named = new Set(sizes.filter((size) => !["inherit", "0.9em"].includes(size)));
  expect([...named].filter((size) => !/^var\(--type-\w+\)$/.test(size))).toEqual([]);
  expect(named.size).toBe(6);
});

describe("the packages", () => {
  interface Manifest {
    version: string;
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  }
  const { version, dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Manifest;

  test.each(Object.entries({ ...dependencies, ...devDependencies }))("%s is pinned: %s", (_, version) => {
    expect(version).toMatch(/^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+$/);
  });

  test.each(Object.keys(dependencies))("%s is imported", (name) => {
    const imports = new RegExp(`(from|import|import\\()\\s*"${name}["/]`);
    expect(sources.some((path) => imports.test(readFileSync(path, "utf8")))).toBe(true);
  });

  test("the program tells this one's version", () => {
    expect(VERSION).toBe(version);
  });

  test("those for every system are in the lockfile: `npm ci` refuses it otherwise", () => {
    interface Lock {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    }
    const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
    const optional = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}));
    // `node scripts/complete-lockfile.js` fixes this.
    expect(optional.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([]);
  });

  test("none runs a script when it is installed", () => {
    expect(readFileSync(join(ROOT, ".npmrc"), "utf8").split("\n")).toContain("ignore-scripts=true");
  });
});

describe("the compiler's flags", () => {
  /** Lists the flags without a comment. One comment may cover two flags that belong together. */
  function unexplained(config: string): string[] {
    const [, options = ""] = config.split('"compilerOptions": {');
    const bare: string[] = [];
    let explains = 0;
    for (const line of options.slice(0, options.indexOf("\n  }")).split("\n")) {
      if (line.trim().startsWith("//")) explains = 2;
      const flag = /^\s*"(\w+)":/.exec(line)?.[1];
      if (flag !== undefined && explains-- <= 0) bare.push(flag);
    }
    return bare;
  }

  test.each(["tsconfig.json", "tsconfig.test.json"])("each has its reason in %s", (name) => {
    const config = readFileSync(join(ROOT, name), "utf8");
    expect(config).toContain('"compilerOptions": {\n');
    expect(unexplained(config)).toEqual([]);
  });

  test("one without a reason is found", () => {
    const config = '{\n  "compilerOptions": {\n    // Why.\n    "a": 1,\n    "b": 2,\n    "c": 3\n  }\n}\n';
    expect(unexplained(config)).toEqual(["c"]);
  });
});
