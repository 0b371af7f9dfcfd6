import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { ROOT, read } from "../support/documents.js";

// Each script is a process of its own, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const WORKFLOWS = ".github/workflows";
const names = readdirSync(join(ROOT, WORKFLOWS));
const actionlint = [process.env.ACTIONLINT ?? "", "actionlint", join(homedir(), "go/bin/actionlint")].find(
  (path) => path !== "" && spawnSync(path, ["-version"]).status === 0,
);

interface Job {
  readonly uses?: string;
  readonly if?: string;
  readonly needs?: string | string[];
  readonly permissions?: Record<string, string>;
  readonly steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}
const jobsOf = (name: string) => parse(read(`${WORKFLOWS}/${name}`)).jobs as Record<string, Job>;

function run(script: string, ...args: string[]) {
  return spawnSync(process.execPath, [`scripts/release/${script}.js`, ...args], {
    cwd: ROOT,
    encoding: "utf8",
  });
}

describe("the workflows", () => {
  test.each(names)("%s takes each action by the hash of a commit, with its version beside it", (name) => {
    const uses = [...read(`${WORKFLOWS}/${name}`).matchAll(/uses: (.*)$/gm)].map(([, used = ""]) => used);
    const foreign = uses.filter((used) => !used.startsWith("./"));
    expect(foreign.length).toBeGreaterThan(0);
    for (const used of foreign) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("take one version of each action", () => {
    const all = names.flatMap((name) => [...read(`${WORKFLOWS}/${name}`).matchAll(/uses: ([^@\s]+)@(\S+)/g)]);
    const versions = new Map<string, Set<string>>();
    for (const [, action = "", hash = ""] of all)
      versions.set(action, (versions.get(action) ?? new Set()).add(hash));
    expect([...versions].filter(([, hashes]) => hashes.size > 1)).toEqual([]);
  });

  test.each(names)("%s may by itself only read, and runs only programs that there are", (name) => {
    const { permissions } = parse(read(`${WORKFLOWS}/${name}`));
    expect(permissions).toEqual({ contents: "read" });
    const scripts = [
      ...read(`${WORKFLOWS}/${name}`).matchAll(/(?<![\w./-])(scripts\/[\w./-]+\.(?:js|sh)|\.ci\/run)/g),
    ];
    for (const [, path = ""] of scripts) expect(existsSync(join(ROOT, path)), path).toBe(true);
    const { scripts: known } = JSON.parse(read("package.json"));
    const npm = [...read(`${WORKFLOWS}/${name}`).matchAll(/npm run (?:-s )?([\w:-]+)/g)];
    for (const [, script = ""] of npm) expect(known).toHaveProperty([script]);
  });

  test.skipIf(actionlint === undefined)(
    `have no fault that actionlint finds${actionlint === undefined ? " (there is none here)" : ""}`,
    () => {
      const { status, stdout } = spawnSync(actionlint as string, [], { cwd: ROOT, encoding: "utf8" });
      expect(status, stdout).toBe(0);
    },
  );

  test("publish only for a tag, and only what was tested, built and attested", () => {
    const jobs = jobsOf("release.yml");
    const publishing = Object.entries(jobs).filter(
      ([, { permissions = {} }]) => Object.keys(permissions).length > 1 || permissions.contents === "write",
    );
    expect(publishing.map(([name]) => name)).toEqual(
      expect.arrayContaining(["npm", "pypi", "image", "chart", "mcp-registry", "github"]),
    );
    for (const [, job] of publishing) expect(job.if).toBe("github.event_name == 'push'");
    const before = (name: string): string[] => {
      const needs = [jobs[name]?.needs ?? []].flat();
      return [...needs, ...needs.flatMap(before)];
    };
    for (const name of ["npm", "pypi", "image", "chart", "mcp-registry", "github"])
      expect(before(name)).toEqual(expect.arrayContaining(["ci", "build", "attest", "image-build"]));
  });

  test("use no secret but the run's own token", () => {
    const secrets = names.flatMap((name) => [...read(`${WORKFLOWS}/${name}`).matchAll(/secrets\.(\w+)/g)]);
    expect(new Set(secrets.map(([, secret]) => secret))).toEqual(new Set(["GITHUB_TOKEN"]));
  });
});

describe("a release", () => {
  const folder = mkdtempSync(join(tmpdir(), "recalld-release-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("has one version everywhere", () => {
    const { version } = JSON.parse(read("package.json"));
    const { status, stdout, stderr } = run("versions");
    expect(stderr).toBe("");
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` });
    const other = run("versions", "9.8.7");
    expect(other.status).toBe(1);
    expect(other.stderr).toContain(`server.json has the version ${version}, not 9.8.7`);
  });

  test("has its section of the changelog as notes, with links that lead to it", () => {
    const file = join(folder, "CHANGELOG.md");
    writeFileSync(
      file,
      "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n### Added\n\n- One. [How](docs/api.md#store).\n\n" +
        "## [1.1.0] - 2026-11-01\n\n- Two. [There](https://example.org).\n\n[1.2.0]: https://example.org\n",
    );
    const link = "https://github.com/recalld/recalld/blob/v1.2.0/docs/api.md#store";
    expect(run("notes", "1.2.0", file).stdout).toBe(`### Added\n\n- One. [How](${link}).\n`);
    expect(run("notes", "1.1.0", file).stdout).toBe("- Two. [There](https://example.org).\n");
    for (const missing of ["Unreleased", "1.2", "3.0.0", ""]) {
      const { status, stderr } = run("notes", missing, file);
      expect(status).toBe(1);
      expect(stderr).toContain("has nothing under");
    }
  });

  test("would have notes now", () => {
    expect(run("notes", "Unreleased").stdout).toContain("### Added");
  });
});
