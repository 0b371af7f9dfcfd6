import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { signUp } from "../support/caller.js";
import { newDataDir, startServer } from "../support/server.js";

// A whole tree of packages is copied, and servers start from it, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const ROOT = join(import.meta.dirname, "../..");
/** Maximum size. With the native libraries for one system and one version of Node, it is some 74 MB. */
const PACKAGES_MB_MAX = 100;

const folder = mkdtempSync(join(tmpdir(), "recalld-tree-"));
const tree = join(folder, "tree");
let said: string;

beforeAll(() => {
  const { status, stdout, stderr } = node(["scripts/production-tree.js", tree]);
  expect(status, stderr).toBe(0);
  said = stdout;
});
afterAll(() => rmSync(folder, { recursive: true }));

function node(args: string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = "" } = process.env;
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8", env: { PATH, ...env } });
}

const isThere = (path: string) => existsSync(join(tree, path));

describe("the production tree", () => {
  test("has a server that stores, recalls, shows its portal and ends when it is told to", async () => {
    const dataDir = newDataDir();
    const server = await startServer({ main: join(tree, "dist/src/main.js"), dataDir });
    const caller = await signUp(server.url);
    await caller.store({ namespace: "tree", text: "The cat sleeps on the sofa." });
    const { results } = (await caller.recall("Where does the cat sleep?", "tree")).body as {
      results: { text: string }[];
    };
    expect(results.map(({ text }) => text)).toEqual(["The cat sleeps on the sofa."]);
    const portal = await fetch(server.url);
    expect(portal.status).toBe(200);
    const [script] = /assets\/[\w-]+\.js/.exec(await portal.text()) ?? [];
    expect((await fetch(`${server.url}/${script}`)).status).toBe(200);
    for (const path of ["docs/api", "openapi.json", "recalld-client.tgz"])
      expect((await fetch(`${server.url}/${path}`)).status, path).toBe(200);
    expect(await server.stop()).toBe(0);
    const verified = node([join(tree, "dist/src/admin.js"), "verify"], { DATA_DIR: dataDir });
    expect(verified.stdout + verified.stderr).toContain("all is well");
  });

  test("does without what a server never loads, and says what that saves", () => {
    const lines = said.trim().split("\n");
    const megabytes = lines.map((line) => Number.parseFloat(line));
    const kept = megabytes.pop();
    expect(lines.at(-1)).toMatch(/of packages kept$/);
    expect(kept).toBeGreaterThan(40);
    expect(kept).toBeLessThan(PACKAGES_MB_MAX);
    expect(megabytes.reduce((a, b) => a + b)).toBeGreaterThan(300);
    expect(isThere("node_modules/onnxruntime-web")).toBe(false);
    expect(isThere("node_modules/@img")).toBe(false);
    expect(isThere("node_modules/typescript")).toBe(false);
    expect(readdirSync(join(tree, "node_modules/usearch/prebuilds"))).toHaveLength(1);
    expect(readdirSync(join(tree, "node_modules/onnxruntime-node/bin/napi-v6"))).toEqual([process.platform]);
  });

  test("keeps licences, and of the model its card and what is read", () => {
    for (const file of ["LICENSE", "models/bundled/README.md", "node_modules/fastify/LICENSE"]) {
      expect(isThere(file), file).toBe(true);
    }
    // Packages that are compiled into the pages have no folders there.
    const licenses = ["", "docs/assets/"].map((folder) =>
      readFileSync(join(tree, `dist/web/${folder}licenses.md`), "utf8"),
    );
    const rules = readFileSync(join(ROOT, "scripts/production/rules.js"), "utf8");
    const [, portal = ""] = /PORTAL = \[([^\]]*)\]/.exec(rules) ?? [];
    const compiled = [...portal.matchAll(/"(.*)"/g)].map(([, name]) => name as string);
    expect(compiled).toContain("react");
    for (const name of compiled) expect(licenses.join("\n")).toContain(`\n## ${name} - `);
    expect(readdirSync(join(tree, "models/bundled")).sort()).toEqual(
      ["README.md", "config.json", "onnx", "tokenizer.json", "tokenizer_config.json"].sort(),
    );
  });

  test("is never written over what is there", () => {
    const { status, stderr } = node(["scripts/production-tree.js", folder]);
    expect(status).toBe(1);
    expect(stderr).toContain("a folder that is not there yet");
  });
});

describe("the list of what it is made of", () => {
  interface CycloneDx {
    readonly components: readonly { "bom-ref": string; type: string; version: string }[];
    readonly dependencies: readonly { ref: string; dependsOn: string[] }[];
  }
  interface Spdx {
    readonly packages: readonly { name: string; versionInfo: string; SPDXID: string }[];
    readonly relationships: readonly { spdxElementId: string; relatedSpdxElement: string }[];
  }
  const listed = (format: string) => {
    const { stdout, stderr } = node(["scripts/sbom.js", format]);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  /** Lists `name@version` of each package in the tree, except those that replace another one. */
  const installed = () =>
    (readdirSync(join(tree, "node_modules"), { recursive: true }) as string[])
      .filter((path) => /^((.*\/)?node_modules\/)?(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
      .map((path) => JSON.parse(readFileSync(join(tree, "node_modules", path), "utf8")))
      .filter(({ version }) => version !== "0.0.0")
      .map(({ name, version }) => `${name}@${version}`);

  test("names every package of the tree, the portal's, and the model, in CycloneDX", () => {
    const { components, dependencies } = listed("cyclonedx") as CycloneDx;
    const refs = components.map((each) => each["bom-ref"]);
    expect(installed().filter((each) => !refs.includes(each))).toEqual([]);
    expect(refs.filter((ref) => /^react@/.test(ref))).toHaveLength(1);
    expect(refs.filter((ref) => /^(sharp|onnxruntime-web|vitest)@/.test(ref))).toEqual([]);
    expect(components.at(-1)?.type).toBe("machine-learning-model");
    const known = new Set(dependencies.map(({ ref }) => ref));
    expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !known.has(ref))).toEqual([
      components.at(-1)?.["bom-ref"],
    ]);
  });

  test("names every package in SPDX as well", () => {
    const { packages, relationships } = listed("spdx") as Spdx;
    const names = packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`);
    expect(installed().filter((each) => !names.includes(each))).toEqual([]);
    expect(names.filter((name) => /^(sharp|onnxruntime-web|vitest)@/.test(name))).toEqual([]);
    const ids = new Set(["SPDXRef-DOCUMENT", ...packages.map(({ SPDXID }) => SPDXID)]);
    const ends = relationships.flatMap((each) => [each.spdxElementId, each.relatedSpdxElement]);
    expect(ends.filter((id) => !ids.has(id))).toEqual([]);
  });
});
