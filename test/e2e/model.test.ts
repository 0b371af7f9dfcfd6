import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { packageRoot } from "../../src/embedding/models/locate.js";
import { MODEL_FILES } from "../../src/embedding/models/model-files.js";
import { type FakeHub, openHub } from "../support/hub.js";
import { program } from "../support/program.js";
import { newDataDir, runUntilExit, startServer } from "../support/server.js";

// Whole programs start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PROGRAM = program("model");
const BUNDLED = join(packageRoot(), "models/bundled");
const WEIGHTS = "onnx/model_quantized.onnx";
const GOOD = "some/good";
const PROMPTS = "config_sentence_transformers.json";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  env: Record<string, string>,
  ...args: string[]
): { child: ChildProcess; ended: Promise<Ended> } {
  return watched(spawn(process.execPath, [PROGRAM, ...args], { env }));
}

function watched(child: ChildProcess) {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (data) => (stdout += data));
  child.stderr?.on("data", (data) => (stderr += data));
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code) => resolve({ code, stdout, stderr })),
  );
  return { child, ended };
}

const run = (env: Record<string, string>, ...args: string[]) => start(env, ...args).ended;

let hub: FakeHub;
let good: Record<string, Buffer>;
beforeAll(async () => {
  good = Object.fromEntries(
    await Promise.all(MODEL_FILES.map(async (file) => [file, await readFile(join(BUNDLED, file))])),
  );
  const prompts = JSON.stringify({ prompts: { query: "query: ", document: "passage: " } });
  hub = await openHub({ [GOOD]: good, "some/e5": { ...good, [PROMPTS]: Buffer.from(prompts) } });
});
afterAll(() => hub.close());

function setUp() {
  const dataDir = newDataDir();
  const env = { DATA_DIR: dataDir, MODELS_HUB: hub.url };
  hub.disturb = () => false;
  hub.asked.length = 0;
  onTestFinished(() => {
    hub.disturb = () => false;
  });
  return { env, dataDir, folder: join(dataDir, "models", GOOD) };
}

async function expectWhole(folder: string): Promise<void> {
  for (const [file, content] of Object.entries(good)) {
    // Compared byte by byte, toEqual takes half a minute.
    expect(content.equals(await readFile(join(folder, file))), file).toBe(true);
  }
  const names = await readdir(folder, { recursive: true });
  expect(names.filter((name) => name.includes(".tmp."))).toEqual([]);
}

describe("npm run model", () => {
  it("pulls a model, says what it got, lists it, and finds it well", async () => {
    const { env, folder } = setUp();
    const pulled = await run(env, "pull", GOOD);
    expect(pulled.stderr).toMatch(
      /some\/good\/onnx\/model_quantized\.onnx \[#{24}\] 100 % {2}9\.8 of 9\.8 MB\n$/,
    );
    expect(pulled).toMatchObject({ code: 0 });
    expect(pulled.stdout.split("\n")).toEqual([
      `some/good is in ${folder}`,
      "  10.2 MB, 384 dimensions, window 256 tokens",
      expect.stringMatching(/^ {2}revision [0-9a-f]{12}, from http:\/\/127\.0\.0\.1:\d+ at c{12}$/),
      "  pooling mean (assumed)",
      "  query prefix none",
      "  passage prefix none",
      "",
    ]);
    await expectWhole(folder);
    hub.asked.length = 0;
    expect((await run(env, "pull", GOOD)).stdout).toMatch(/^some\/good was there already, in /);
    expect(hub.asked).toEqual([]);

    const listed = await run({ ...env, MODEL: GOOD }, "list");
    expect(listed.code).toBe(0);
    expect(listed.stdout).toContain("\n* some/good\n");
    expect(listed.stdout).toMatch(/^ {2}bundled\n/);

    const checked = await run({ ...env, MODEL: GOOD }, "check");
    expect(checked.stdout).toContain("  4 files are as they were downloaded\n");
    expect(checked.stdout).toContain(
      "  vectors of 384 finite numbers\n  of length 1\n  the same text gives the same vector\n",
    );
    expect(checked.stdout).toMatch(
      / {2}[\d,]+ tokens a second in one thread, [\d.]+ ms for a short text\nall is well\n$/,
    );
    expect(checked.code).toBe(0);
  });

  it("reads the prefixes that come with a model", async () => {
    const { env } = setUp();
    expect((await run(env, "pull", "some/e5")).stdout).toContain(`  query prefix "query: "\n`);
    const checked = await run(env, "check", "some/e5");
    expect(checked.stdout).toContain("  5 files are as they were downloaded\n");
    expect(checked.code).toBe(0);
  });

  it("begins a file again that a kill -9 cut off, and keeps those that were whole", async () => {
    const { env, folder } = setUp();
    hub.disturb = ({ path }, response, content) => {
      if (!path.endsWith(WEIGHTS) || !response.req.url?.startsWith("/elsewhere")) return false;
      response.writeHead(200, { "content-length": content?.length });
      response.write(content?.subarray(0, 5_000_000));
      return true;
    };
    const { child, ended } = start(env, "pull", GOOD);
    await vi.waitFor(
      async () => {
        const [part] = await readdir(join(folder, "onnx"));
        expect((await readFile(join(folder, "onnx", part as string))).length).toBeGreaterThan(4_000_000);
      },
      { timeout: 20_000, interval: 50 },
    );
    child.kill("SIGKILL");
    await ended;
    expect(existsSync(join(folder, WEIGHTS))).toBe(false);
    hub.disturb = () => false;
    hub.asked.length = 0;
    expect(await run(env, "pull", GOOD)).toMatchObject({ code: 0 });
    expect(hub.asked.some(({ path }) => path.endsWith("tokenizer.json"))).toBe(false);
    for (const [file, content] of Object.entries(good)) {
      expect(content.equals(await readFile(join(folder, file))), file).toBe(true);
    }
  });

  it.skipIf(process.platform === "win32")("says that there is no room, and leaves no part", async () => {
    const { env, folder } = setUp();
    // A file may have 2 MB, as on a disk that gets full meanwhile.
    const line = `ulimit -f 4000; exec ${process.execPath} ${PROGRAM} pull ${GOOD}`;
    const { code, stderr } = await watched(spawn("sh", ["-c", line], { env })).ended;
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      `recalld: model ${GOOD} could not be downloaded to ${folder}: EFBIG: file too large, write. ` +
        "Make room there, or set MODELS_DIR to another disk",
    );
    expect(existsSync(join(folder, WEIGHTS))).toBe(false);
  });

  it("twice at once ends well both times", async () => {
    const { env, folder } = setUp();
    const both = await Promise.all([run(env, "pull", GOOD), run(env, "pull", GOOD)]);
    expect(both.map(({ code, stderr }) => [code, /recalld:/.test(stderr)])).toEqual([
      [0, false],
      [0, false],
    ]);
    await expectWhole(folder);
    expect(await run(env, "check", GOOD)).toMatchObject({ code: 0 });
  });

  it("finds files that were spoilt or lost, and does not load them", async () => {
    const { env, folder } = setUp();
    await run(env, "pull", GOOD);
    const weights = Buffer.from(good[WEIGHTS] as Buffer);
    weights[5_000_000] = (weights[5_000_000] as number) ^ 1;
    await writeFile(join(folder, WEIGHTS), weights);
    const spoilt = await run(env, "check", GOOD);
    expect(spoilt).toMatchObject({ code: 1, stderr: "" });
    expect(spoilt.stdout).toContain(`\nproblem: ${WEIGHTS} does not match its hash\n`);
    expect(spoilt.stdout).not.toContain("dimensions finite");
    await rm(join(folder, "tokenizer.json"));
    expect(await run(env, "check", GOOD)).toMatchObject({
      code: 1,
      stdout: `problem: ${folder} lacks tokenizer.json\nnpm run -s model -- pull ${GOOD} downloads it\n`,
    });
    expect((await run(env, "list")).stdout).toContain("  some/good\n    lacks tokenizer.json\n");
  });

  it("says of a folder that was copied by hand that nothing is known of its files", async () => {
    const { env, folder } = setUp();
    await cp(BUNDLED, folder, { recursive: true });
    const checked = await run(env, "check", GOOD);
    expect(checked.stdout).toContain("  files not verified, no manifest\n");
    expect(checked.code).toBe(0);
  });

  it("says in one line why a model does not load, or what a file of it is not", async () => {
    const { env, folder } = setUp();
    await cp(BUNDLED, folder, { recursive: true });
    await writeFile(join(folder, WEIGHTS), "no graph");
    const unloaded = await run(env, "check", GOOD);
    expect(unloaded.code).toBe(1);
    expect(unloaded.stderr).toMatch(/^recalld: model some\/good in \S+ could not be loaded: .*\n$/);
    await writeFile(join(folder, "config.json"), "{");
    const unread = await run(env, "check", GOOD);
    expect(unread).toMatchObject({ code: 1, stderr: `recalld: ${folder}/config.json is not JSON\n` });
    expect((await run(env, "list")).stdout).toContain(`  some/good\n    ${folder}/config.json is not JSON\n`);
  });

  it("says in one line why a model cannot be had, and leaves nothing that looks like it", async () => {
    const { env, dataDir, folder } = setUp();
    hub.disturb = ({ path }, response) => {
      if (!path.endsWith("tokenizer.json")) return false;
      response.writeHead(503).end();
      return true;
    };
    const refused = await run(env, "pull", GOOD);
    expect(refused.code).toBe(1);
    expect(refused.stderr.trimEnd().split("\n").at(-1)).toMatch(
      /^recalld: model some\/good is not in .*: Service unavailable .*tokenizer\.json"\. Put its files there/,
    );
    expect(existsSync(join(folder, "tokenizer.json"))).toBe(false);
    const offline = { DATA_DIR: dataDir, MODELS_HUB: "http://127.0.0.1:9" };
    expect(await run(offline, "pull", "no/such")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^recalld: model no\/such is not in [^\n]*\n$/),
    });
    expect(await run(env, "pull", "no/such")).toMatchObject({
      stderr: expect.stringContaining("does not exist or is not public (HTTP 404)"),
    });
    expect(await run(env, "pull", "../x")).toMatchObject({
      code: 1,
      stderr:
        'recalld: MODEL must be "bundled", openai:NAME or a model\'s id, such as Xenova/all-MiniLM-L6-v2\n',
    });
  });

  it.each(["", "pull", "list x", "check a b", "toString"])("refuses the line %j", async (line) => {
    const ended = await run({ DATA_DIR: "/nowhere" }, ...(line === "" ? [] : line.split(" ")));
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^usage: npm run -s model -- /m);
  });

  it("explains itself", async () => {
    const ended = await run({ DATA_DIR: "/nowhere" }, "--help");
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^usage: npm run -s model -- COMMAND/);
  });

  it("tells all that is wrong with the settings", async () => {
    const { stderr, code } = await run({ MODELS_HUB: "x", MODEL_POOLING: "y" }, "list");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^recalld: MODELS_HUB must be a URL.*\nrecalld: MODEL_POOLING is "y"; .*\n$/);
  });
});

describe("the server", () => {
  it("ends a download at SIGTERM, and what it had opened", async () => {
    const { env, dataDir } = setUp();
    const downloading = new Promise<void>((resolve) => {
      hub.disturb = ({ path }, response, content) => {
        if (!path.endsWith(WEIGHTS) || !response.req.url?.startsWith("/elsewhere")) return false;
        response.writeHead(200, { "content-length": content?.length }).write(content?.subarray(0, 1_000_000));
        resolve();
        return true;
      };
    });
    const settings = { ...env, MODEL: GOOD, PORT: "0" };
    const { child, ended } = watched(spawn(process.execPath, [program("main")], { env: settings }));
    onTestFinished(() => void child.kill("SIGKILL"));
    await downloading;
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, stdout: "" });
    expect(existsSync(join(dataDir, "owner"))).toBe(false);
  });

  it("downloads the model that MODEL names, says how it reads it, and keeps to that", async () => {
    const { env, dataDir } = setUp();
    const server = await startServer({ dataDir, env: { ...env, MODEL: "some/e5" } });
    await vi.waitFor(() => expect(server.output()).toContain("portal"), { timeout: 20_000 });
    expect(server.output()).toContain('  reads     query prefix "query: "\n');
    expect(server.output()).toContain('  reads     passage prefix "passage: "\n');
    expect(server.output()).toContain("  reads     pooling mean (assumed)\n");
    expect(await server.stop()).toBe(0);
    const changed = { ...env, MODEL: "some/e5", PORT: "0" };
    const refused = await runUntilExit({ ...changed, MODEL_PASSAGE_PREFIX: "none" });
    expect(refused.code).toBe(1);
    expect(refused.output).toMatch(
      /They differ in passage prefix; start with MODEL_PASSAGE_PREFIX="passage: "/,
    );
    const other = await startServer({ dataDir, env: { ...changed, MODEL_QUERY_PREFIX: "none" } });
    expect(await other.stop()).toBe(0);
  });
});
