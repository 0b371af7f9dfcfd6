import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const DEPCRUISE = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");

/** Forbidden imports, and the rule of `.dependency-cruiser.cjs` that each must break. */
const PLANTED: readonly (readonly [path: string, code: string, rule: string])[] = [
  ["src/memory/log/value.ts", 'import "../../server/app.js";', "src/memory"],
  ["src/memory/log/type.ts", 'import type { app } from "../../server/app.js";', "src/memory"],
  ["src/memory/log/dynamic.ts", 'await import("../../server/app.js");', "src/memory"],
  ["src/memory/log/again.ts", 'export * from "../../server/app.js";', "src/memory"],
  ["src/memory/ports/log.ts", 'import "../log/value.js";', "src/memory/ports"],
  ["src/memory/log/file.ts", 'import "node:fs";', "no input or output in the domain"],
  ["src/storage/local/open.ts", 'import "../mongo/open.js";', "database from its own folder"],
  ["src/storage/mongo/open.ts", 'import "lmdb";', "lmdb"],
  ["src/server/undeclared.ts", 'import "left-pad";', "package of no folder"],
  ["src/new/file.ts", 'import "node:fs";', "folder without a layer"],
  ["src/errors.ts", 'import "./server/app.js";', "commons"],
  ["cli/main.ts", 'import "../src/server/app.js";', "cli"],
  ["src/admin/show.ts", 'import "../../cli/main.js";', "command line from the service"],
  ["clients/typescript/src/client.ts", 'import "../../../src/errors.js";', "clients/typescript/src"],
  ["clients/typescript/src/call.ts", 'import "node:fs";', "client without Node and without packages"],
  ["src/index/a.ts", 'import type { b } from "./b.js"; export type a = b;', "no-cycle"],
  ["src/index/b.ts", 'import type { a } from "./a.js"; export type b = a;', ""],
  ["src/index/vectors/among/a.ts", 'import "../snapshot/b.js";', "no-cycle-of-folders"],
  ["src/index/vectors/among/c.ts", "", ""],
  ["src/index/vectors/snapshot/b.ts", "", ""],
  ["src/index/vectors/snapshot/d.ts", 'import "../among/c.js";', "no-cycle-of-folders"],
  ["src/server/app.ts", "export const app = 1;", ""],
  ["node_modules/lmdb/index.js", "", ""],
  ["node_modules/left-pad/index.js", "", ""],
];

describe("the layers", () => {
  const tree = mkdtempSync(join(tmpdir(), "recalld-layers-"));
  let report: string;

  beforeAll(() => {
    for (const [path, code] of PLANTED) {
      mkdirSync(dirname(join(tree, path)), { recursive: true });
      writeFileSync(join(tree, path), `${code}\n`);
    }
    copyFileSync(join(ROOT, ".dependency-cruiser.cjs"), join(tree, ".dependency-cruiser.cjs"));
    const args = [DEPCRUISE, "{src,cli,clients}/**/*.ts"];
    const run = spawnSync(process.execPath, args, { cwd: tree, encoding: "utf8" });
    expect(run.status, run.stderr).toBeGreaterThan(0);
    report = run.stdout;
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  test.each(PLANTED.filter(([, , rule]) => rule !== ""))("%s may not have: %s", (path, _, rule) => {
    const place = rule === "no-cycle-of-folders" ? dirname(path) : path;
    expect(report).toContain(`error ${rule}: ${place} `);
  });
});
