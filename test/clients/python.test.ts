import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapi } from "../../gen/openapi.js";
import { groupsOf } from "../../web/src/reference/calls.js";
import type { Document } from "../../web/src/reference/openapi.js";
import { samplesOf } from "../../web/src/reference/samples.js";
import { blocks, ROOT, read, section } from "../support/documents.js";
import { startServer, type TestServer } from "../support/server.js";
import { openScripted, type ScriptedServer } from "./scripted-server.js";
import { signUp } from "./sign-up.js";

const PACKAGE = join(ROOT, "clients/python");
/** Installing takes half a minute, and each checker some seconds, on a machine that does much else. */
const TIMEOUT_MS = 240_000;
const OUTPUT_BYTES_MAX = 16_777_216;

const python = process.env.PYTHON ?? "python3";
const needed = "import sys, venv, pip; sys.exit(sys.version_info < (3, 10))";
const isThere = spawnSync(python, ["-c", needed]).status === 0;
if (!isThere && process.env.REQUIRE_PYTHON === "1")
  throw new Error(`REQUIRE_PYTHON=1, but ${python} is not Python 3.10 or newer with venv and pip`);

const folder = mkdtempSync(join(tmpdir(), "recalld-python-"));
const tools = join(folder, "tools/bin");
const empty = join(folder, "empty/bin");
let server: TestServer;
let scripted: ScriptedServer;
let env: Record<string, string> = {};

/** Runs a program beside the servers of this process. Returns its output. */
async function run(file: string, args: readonly string[], cwd = folder): Promise<string> {
  // Python keeps what it compiles of the packages, which are in this test's folder, and nothing in the checkout.
  const own = { ...process.env, PYTHONDONTWRITEBYTECODE: cwd === PACKAGE ? "1" : "", ...env };
  try {
    const options = { cwd, env: own, maxBuffer: OUTPUT_BYTES_MAX };
    return (await promisify(execFile)(file, args, options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${file} ${args.join(" ")}: ${stdout}${stderr}`, { cause: error });
  }
}

/** Runs the pip that is there already on an environment: one of its own takes seconds to install. */
function pip(into: string, args: readonly string[]): Promise<string> {
  return run(python, ["-m", "pip", "--python", join(into, "python"), ...args]);
}

function install(into: string, args: readonly string[]): Promise<string> {
  return pip(into, ["install", "-q", "--no-compile", ...args]);
}

async function makeEnvironments(): Promise<void> {
  for (const name of ["tools", "empty"]) await run(python, ["-m", "venv", "--without-pip", name]);
  // The list is complete: there is nothing to resolve.
  await install(tools, ["--no-deps", "--require-hashes", "-r", join(PACKAGE, "requirements-dev.txt")]);
}

async function buildWheel(): Promise<string> {
  await run(join(tools, "python"), ["-m", "hatchling", "build", "-t", "wheel", "-d", folder], PACKAGE);
  const [wheel = ""] = readdirSync(folder).filter((name) => name.endsWith(".whl"));
  return join(folder, wheel);
}

async function startServers(): Promise<void> {
  server = await startServer();
  scripted = await openScripted(server.url);
  env = {
    RECALLD_URL: server.url,
    RECALLD_API_KEY: await signUp(server.url),
    SCRIPTED_URL: scripted.url,
    CLOSED_URL: scripted.closedUrl,
  };
}

const because = isThere ? "" : ` (needs Python 3.10 or newer with venv and pip as ${python})`;

describe.skipIf(!isThere)(`the Python client${because}`, () => {
  beforeAll(async () => {
    await Promise.all([startServers(), makeEnvironments()]);
    const wheel = await buildWheel();
    // The wheel's own dependencies, in the versions that are pinned.
    const versions = read("clients/python/requirements-dev.txt").match(/^[\w.-]+==[^\s;]+/gm) ?? [];
    writeFileSync(join(folder, "versions.txt"), `${versions.join("\n")}\n`);
    await Promise.all([
      install(tools, ["--no-deps", "--no-index", wheel]),
      install(empty, ["-c", "versions.txt", wheel]),
    ]);
  }, TIMEOUT_MS);
  afterAll(async () => {
    scripted?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("passes its tests, the scenarios of all clients among them", { timeout: TIMEOUT_MS }, async () => {
    const said = await run(join(tools, "python"), ["-m", "pytest", "-q"], PACKAGE);
    expect(said).toMatch(/\d{3} passed/);
    expect(said).not.toMatch(/skipped/);
  });

  test("is found right by pyright and mypy, strictly", { timeout: TIMEOUT_MS }, async () => {
    const found = await Promise.all([
      run(join(tools, "mypy"), ["--cache-dir", join(folder, "mypy")], PACKAGE),
      run(join(tools, "pyright"), ["--pythonpath", join(tools, "python")], PACKAGE),
    ]);
    expect(found[0]).toContain("no issues found");
    expect(found[1]).toContain("0 errors, 0 warnings");
  });

  test("tells a program what is wrong in it", { timeout: TIMEOUT_MS }, async () => {
    const wrong = 'from recalld import Recalld\n\nRecalld(api_key="", base_url="").store(texxt="")\n';
    writeFileSync(join(folder, "wrong.py"), wrong);
    const check = run(join(tools, "mypy"), ["--strict", "--cache-dir", join(folder, "mypy"), "wrong.py"]);
    await expect(check).rejects.toThrow(/texxt/);
  });

  test("comes as a wheel with types, and with the examples of its page", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const listed = await pip(empty, ["list", "--format=freeze"]);
    expect(listed).toMatch(/^recalld==/m);
    expect(listed).not.toMatch(/^(pytest|hatchling)==/m);
    const [first = "", awaiting = "", watching = "", failing = "", graph = "", chain = ""] = blocks(
      read("clients/python/README.md"),
      "python",
    );
    const say = (code: string) => run(join(empty, "python"), ["-W", "error", "-c", code]);
    expect(await say(first)).toMatch(/^0\.\d\d Ana is allergic to peanuts\.\n$/);
    expect(await say(awaiting)).toMatch(/^mem_\w+ Ben plays the piano\.\n$/);
    expect(await say(watching)).toBe("new: Ana moved to Rome.\n");
    expect(await say(failing)).toMatch(/^there is one already: mem_\w+\n$/);
    await expect(say(graph)).rejects.toThrow(/No module named 'langgraph'/);
    await expect(say(chain)).rejects.toThrow(/No module named 'langchain_core'/);
    const withExtras = run(join(tools, "python"), ["-c", `${graph}\n${chain}`]);
    expect(await withExtras).toBe("food Ana is allergic to peanuts.\nBen plays the piano. chat\n");
    const [quick = ""] = blocks(section("README.md", "## Other ways in"), "python");
    const { RECALLD_URL = "", RECALLD_API_KEY = "" } = env;
    const filledIn = quick.replace("http://127.0.0.1:8080", RECALLD_URL).replace("rcl_…", RECALLD_API_KEY);
    expect(await say(filledIn)).toBe("Ana plays the cello on Sundays.\n");
    const [shown = ""] = blocks(read("docs/clients.md"), "python");
    expect(await say(shown)).toBe("Ana is allergic to peanuts.\n");
    const [loop = ""] = blocks(read("docs/agents.md"), "python");
    const [, , third] = (await say(loop)).split("What you know of the user:\n");
    expect(third).toContain("- I cannot eat peanuts.");
    const typed =
      "import recalld, pathlib; assert (pathlib.Path(recalld.__file__).parent / 'py.typed').exists()";
    expect(await say(typed)).toBe("");
  });

  test("has the methods that the portal's reference shows", { timeout: TIMEOUT_MS }, async () => {
    const { RECALLD_API_KEY: key = "" } = env;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ namespace: "pets", text: "The dog barks." });
    const samples: string[] = [];
    for (const call of groupsOf(openapi as Document).flatMap(([, calls]) => calls)) {
      const stored = await fetch(`${server.url}/store`, { method: "POST", headers, body });
      const { id } = (await stored.json()) as { id: string };
      const { code = "" } = samplesOf(call, { url: server.url, key })[2] ?? {};
      if (code.includes("from recalld")) samples.push(code.replace(/mem_01kafz\w+/g, id));
    }
    const lasting = samples.filter((code) => !code.includes("delete_namespace("));
    expect(lasting.length).toBe(16);
    const dropping = samples.filter((code) => code.includes("delete_namespace("));
    writeFileSync(join(folder, "samples.py"), `${[...lasting, ...dropping].join("\n")}\n`);
    const said = await run(join(empty, "python"), ["-W", "error", "samples.py"]);
    expect(said).toContain("RecallResponse(");
    expect(said.trim().split("\n").at(-1)).toMatch(/^DeleteNamespaceResponse\(/);
  });

  test("has an example that remembers", async () => {
    const chat = `${ROOT}/examples/chat.py`;
    const piped = 'printf "%s\\n" "$2" | "$0" -B "$1"';
    const talk = (said: string) => run("sh", ["-c", piped, join(empty, "python"), chat, said]);
    expect(await talk("Dan repairs old bicycles.")).toBe("I will remember that.\n");
    expect(await talk("Who can repair a bicycle?\nHow do rockets fly?")).toBe(
      "You told me: Dan repairs old bicycles.\nI do not know that yet.\n",
    );
  });

  test("has the version of the server", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(read("clients/python/pyproject.toml")).toContain(`version = "${version}"`);
  });
});
