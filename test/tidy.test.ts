import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../src/version.js";

const ROOT = join(import.meta.dirname, "..");

const sources = ["src", "cli"]
  .map((folder) => join(ROOT, folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

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
