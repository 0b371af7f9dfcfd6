import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { listModels } from "../../src/embedding/models/locate.js";
import {
  MODEL_FILES,
  type ModelManifest,
  OPTIONAL_FILES,
  readManifest,
  verifyModel,
} from "../../src/embedding/models/model-files.js";
import { openHub, type Repositories } from "../support/hub.js";
import { openEmbedder, pullModel } from "./built.js";

// Threads load models here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const FIXTURES = join(import.meta.dirname, "../fixtures/models");
const MODEL = "some/model";
const WEIGHTS = "onnx/model_quantized.onnx";
const CONFIG = { model_type: "bert", hidden_size: 4, max_position_embeddings: 64 };
const FILES = {
  "config.json": JSON.stringify(CONFIG),
  "tokenizer.json": readFileSync(join(FIXTURES, "unigram.json")),
  "tokenizer_config.json":
    '{"tokenizer_class":"XLMRobertaTokenizer","model_max_length":64,"pad_token":"<pad>"}',
  [WEIGHTS]: readFileSync(join(FIXTURES, "states.onnx")),
};
const CONVENTION = {
  "1_Pooling/config.json": '{"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false}',
  "config_sentence_transformers.json": '{"prompts":{"query":"query: "}}',
};
const COMMIT = `${"c".repeat(39)}0`;

async function setUp(files: Repositories[string] = FILES) {
  const modelsDir = await mkdtemp(join(tmpdir(), "pull-"));
  const folder = join(modelsDir, "some", "model");
  const hub = await openHub({ [MODEL]: files });
  onTestFinished(async () => {
    hub.close();
    await rm(modelsDir, { recursive: true });
  });
  const seen: string[] = [];
  let ends = 0;
  const progress = { report: ({ file }: { file: string }) => void seen.push(file), end: () => void ends++ };
  const source = { model: MODEL, modelsDir, hub: hub.url, progress };
  const pull = () => pullModel(source, folder);
  const manifest = async () => (await readManifest(folder)) as ModelManifest;
  return { folder, modelsDir, source, hub, pull, manifest, seen, ends: () => ends };
}

/** Lists the files that were asked for, each once: Transformers.js asks for the size of some first. */
const filesOf = (asked: readonly { path: string }[]) => [
  ...new Set(asked.map(({ path }) => path.replace(/^.*\/resolve\/[^/]+\//, ""))),
];
const read = (folder: string, file: string) => readFile(join(folder, file));
const sha256Of = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

async function expectFiles(folder: string, files: Readonly<Record<string, string | Buffer>>) {
  for (const [file, content] of Object.entries(files)) {
    expect(Buffer.from(content).equals(await read(folder, file)), file).toBe(true);
  }
  const drafts = (await readdir(folder, { recursive: true })).filter((name) => name.includes(".tmp."));
  expect(drafts).toEqual([]);
}

describe("pulling a model", () => {
  it("brings all its files, those that describe it first, and loads it", async () => {
    const { folder, source, hub, pull, seen, ends } = await setUp({ ...FILES, ...CONVENTION });
    await pull();
    await expectFiles(folder, { ...FILES, ...CONVENTION });
    const asked = filesOf(hub.asked);
    expect(asked.slice(0, 5)).toEqual(["config.json", ...OPTIONAL_FILES]);
    expect(asked.slice(5).sort()).toEqual(MODEL_FILES.slice(1).sort());
    expect(seen.at(-1)).toBe(`${MODEL}/${WEIGHTS}`);
    expect(ends()).toBe(1);
    expect(existsSync(join(folder, "modules.json"))).toBe(false);
    // It starts without the hub from then on.
    hub.close();
    const embedder = await openEmbedder({ ...source, workers: 1 });
    await embedder.close();
  });

  it("notes the source and the hash of each file", async () => {
    const { hub, pull, manifest } = await setUp({ ...FILES, ...CONVENTION });
    await pull();
    const { files, ...origin } = await manifest();
    expect(origin).toEqual({ model: MODEL, hub: hub.url, commit: COMMIT });
    const contents = Object.entries({ ...FILES, ...CONVENTION });
    expect(files).toEqual(Object.fromEntries(contents.map(([file, each]) => [file, sha256Of(each)])));
  });

  it("brings all files of one commit, also when the repository changes meanwhile and after a break", async () => {
    const { folder, hub, pull, manifest } = await setUp();
    const next = { ...FILES, "tokenizer_config.json": '{"next":true}' };
    hub.disturb = ({ path }, response) => {
      if (!path.endsWith("tokenizer.json")) return false;
      hub.change({ [MODEL]: next });
      response.writeHead(404).end();
      return true;
    };
    await expect(pull()).rejects.toThrow("Could not locate file");
    hub.disturb = () => false;
    await pull();
    await expectFiles(folder, FILES);
    expect((await manifest()).commit).toBe(COMMIT);
  });

  it("names a file that could not be written, though the model loads from memory", async () => {
    const { folder, hub, pull } = await setUp();
    hub.disturb = ({ path }) => {
      if (path.endsWith(WEIGHTS)) rmSync(join(folder, "tokenizer.json"), { force: true });
      return false;
    };
    await expect(pull()).rejects.toThrow(
      `could not be downloaded from ${hub.url}: tokenizer.json has not come`,
    );
    hub.disturb = () => false;
    await pull();
    await expectFiles(folder, FILES);
  });

  it("asks only for what the folder lacks, and leaves the rest as it is", async () => {
    const { folder, hub, pull } = await setUp();
    await pull();
    await rm(join(folder, "tokenizer.json"));
    const changed = JSON.stringify({ ...CONFIG, mine: true });
    await writeFile(join(folder, "config.json"), changed);
    hub.asked.length = 0;
    await pull();
    const sized = "tokenizer_config.json";
    expect(filesOf(hub.asked).filter((file) => file !== sized)).toEqual([
      ...OPTIONAL_FILES,
      "tokenizer.json",
    ]);
    expect(`${await read(folder, "config.json")}`).toBe(changed);
    expect((await verifyModel(folder)).damaged).toEqual(["config.json"]);
  });

  it("keeps nothing of a transfer that was cut, and the next one brings the file", async () => {
    const { folder, hub, pull } = await setUp();
    hub.disturb = ({ path }, response, content) => {
      if (!path.endsWith(WEIGHTS) || content === undefined) return false;
      response.writeHead(200, { "content-length": content.length });
      response.write(content.subarray(0, 2000), () => setTimeout(() => response.destroy(), 50));
      return true;
    };
    const error = await pull().catch((reason) => reason);
    expect(error).toMatchObject({ name: "MemoryError", code: "unavailable" });
    expect(error.message).toContain(`model ${MODEL} is not in ${folder} and could not be downloaded from`);
    expect(await readdir(join(folder, "onnx"))).toEqual([]);
    hub.disturb = () => false;
    await pull();
    await expectFiles(folder, FILES);
  });

  it("brings weights again that were deleted because their end was missing, which no length showed", async () => {
    const { folder, hub, pull } = await setUp();
    hub.disturb = ({ path }, response, content) => {
      if (!path.endsWith(WEIGHTS) || content === undefined) return false;
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { connection: "close" });
      response.end(content.subarray(0, 2000));
      return true;
    };
    await pull();
    expect((await read(folder, WEIGHTS)).length).toBe(2000);
    hub.disturb = () => false;
    await rm(join(folder, WEIGHTS));
    await pull();
    await expectFiles(folder, FILES);
  });

  it("takes a file that comes again only if it is what came first", async () => {
    const { folder, hub, pull } = await setUp();
    await pull();
    await rm(join(folder, WEIGHTS));
    hub.disturb = ({ path }, response) => {
      if (!path.endsWith(WEIGHTS)) return false;
      response.end(readFileSync(join(FIXTURES, "both.onnx")));
      return true;
    };
    await expect(pull()).rejects.toThrow(`${WEIGHTS} does not match the hash of its first download`);
    expect(existsSync(join(folder, WEIGHTS))).toBe(false);
    hub.disturb = () => false;
    await pull();
    await expectFiles(folder, FILES);
  });

  it("keeps no page to sign in that came in place of a file, which would be in the way later", async () => {
    const { folder, hub, pull } = await setUp();
    hub.disturb = (_, response) => {
      response.end("<!doctype html><title>Sign in</title>");
      return true;
    };
    await expect(pull()).rejects.toThrow(/config\.json is not JSON; a proxy or a page to sign in/);
    hub.disturb = () => false;
    await pull();
    await expectFiles(folder, FILES);
  });

  it("removes what killed transfers have left, and not what another one is writing", async () => {
    const { folder, pull } = await setUp();
    await mkdir(join(folder, "onnx"), { recursive: true });
    const [left, live] = ["onnx/model_quantized.onnx.tmp.1.a", "onnx/model_quantized.onnx.tmp.2.b"];
    for (const file of [left, live]) await writeFile(join(folder, file), "part");
    const then = new Date(Date.now() - 700_000);
    await utimes(join(folder, left), then, then);
    await pull();
    expect(existsSync(join(folder, left))).toBe(false);
    expect(existsSync(join(folder, live))).toBe(true);
  });

  it("of weights that lie in files of their own brings those too", async () => {
    const config = { ...CONFIG, "transformers.js_config": { use_external_data_format: true } };
    const apart = {
      ...FILES,
      "config.json": JSON.stringify(config),
      [WEIGHTS]: readFileSync(join(FIXTURES, "apart.onnx")),
      [`${WEIGHTS}_data`]: readFileSync(join(FIXTURES, "model_quantized.onnx_data")),
    };
    const { folder, pull, manifest } = await setUp(apart);
    await pull();
    await expectFiles(folder, apart);
    expect(Object.keys((await manifest()).files).sort()).toEqual(Object.keys(apart).sort());
  });

  it("of a model that the hub does not have is one line that says so", async () => {
    const { folder, source, ends } = await setUp();
    const error = await pullModel({ ...source, model: "no/model" }, folder).catch((reason) => reason);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toMatch(
      /no\/model\/resolve\/main\/config\.json does not exist or is not public \(HTTP 404\)/,
    );
    expect(error.message).not.toContain("\n");
    expect(ends()).toBe(1);
  });

  it.runIf(existsSync("/proc"))("into a folder that can hold none ends at once", async () => {
    const { source } = await setUp();
    const pulled = pullModel({ ...source, modelsDir: "/proc/models" }, "/proc/models/some/model");
    await expect(pulled).rejects.toThrow("ENOENT: no such file or directory, mkdir '/proc/models'");
  });

  it("of a model without 8-bit weights says that another conversion may have them", async () => {
    const { [WEIGHTS]: _, ...others } = FILES;
    const { hub, pull } = await setUp(others);
    await expect(pull()).rejects.toThrow(
      `Could not locate file: "${hub.url}/${MODEL}/resolve/${COMMIT}/${WEIGHTS}". ` +
        "The model has no 8-bit weights there; another conversion of it may. ",
    );
  });

  it("that does not load brings it all the same, and loading says why", async () => {
    const { source, pull } = await setUp({ ...FILES, [WEIGHTS]: "no graph" });
    await pull();
    await expect(openEmbedder({ ...source, workers: 1 })).rejects.toThrow(/could not be loaded: .*protobuf/i);
  });

  it("twice at once ends with the same whole model", async () => {
    const { folder, pull } = await setUp({ ...FILES, ...CONVENTION });
    await Promise.all([pull(), pull(), pull()]);
    await expectFiles(folder, { ...FILES, ...CONVENTION });
    expect((await verifyModel(folder)).damaged).toEqual([]);
  });

  it("of a hub that names no commit takes its main branch", async () => {
    const { folder, hub, pull, manifest } = await setUp();
    hub.disturb = (_, response, content) => {
      if (content === undefined) return false;
      response.end(content);
      return true;
    };
    await pull();
    await expectFiles(folder, FILES);
    expect((await manifest()).commit).toBeUndefined();
  });
});

it("the list of models leaves out what is no folder of a model", async () => {
  const { folder, modelsDir, pull } = await setUp();
  await pull();
  await symlink(join(folder, "config.json"), join(modelsDir, "a-link"));
  await symlink("a-loop", join(modelsDir, "a-loop"));
  await symlink(folder, join(modelsDir, "linked"));
  expect(await listModels(modelsDir)).toEqual(["bundled", "linked", MODEL]);
});

describe("a manifest", () => {
  it("keeps a file that has changed since from being loaded", async () => {
    const { folder, source, pull } = await setUp();
    await pull();
    const weights = await read(folder, WEIGHTS);
    weights[weights.length - 1] = (weights.at(-1) as number) ^ 1;
    await writeFile(join(folder, WEIGHTS), weights);
    expect((await verifyModel(folder)).damaged).toEqual([WEIGHTS]);
    const error = await openEmbedder({ ...source, workers: 1 }).catch((reason) => reason);
    expect(error).toMatchObject({ name: "MemoryError", code: "failed_precondition" });
    expect(error.message).toContain(
      `${WEIGHTS} does not match the hash of its download; without it, the next start downloads it again`,
    );
    await rm(join(folder, WEIGHTS));
    const embedder = await openEmbedder({ ...source, workers: 1 });
    await embedder.close();
  });

  it("brings a file back that says how the model is read", async () => {
    const { folder, source, pull } = await setUp({ ...FILES, ...CONVENTION });
    await pull();
    await rm(join(folder, "1_Pooling"), { recursive: true });
    const embedder = await openEmbedder({ ...source, workers: 1 });
    expect(embedder.convention.convention.pooling).toBe("cls");
    await embedder.close();
  });

  it("is absent where a folder was copied by hand, and refused where somebody wrote into it", async () => {
    const { folder, pull } = await setUp();
    expect(await readManifest(folder)).toBeUndefined();
    await pull();
    const file = join(folder, "recalld-manifest.json");
    for (const spoilt of ["[]", '{"files":{}}', '{"model":"a","hub":"b","files":{"x":"1"}}']) {
      await writeFile(file, spoilt);
      await expect(readManifest(folder)).rejects.toThrow("recalld-manifest.json is not as it was written");
    }
    await writeFile(file, "{");
    await expect(readManifest(folder)).rejects.toThrow("recalld-manifest.json is not JSON");
  });
});
