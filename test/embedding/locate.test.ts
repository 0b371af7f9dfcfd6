import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateModel, packageRoot } from "../../src/embedding/models/locate.js";
import {
  MODEL_FILES,
  missingFiles,
  OPTIONAL_FILES,
  verifyModel,
} from "../../src/embedding/models/model-files.js";

const BUNDLED = join(packageRoot(), "models", "bundled");
/** Address on which nothing listens, like that of an offline machine, without waiting for a name server. */
const OFFLINE = "http://127.0.0.1:9";

const revisionOf = async (folder: string) => (await verifyModel(folder)).revision;

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "models-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it("the bundled model lies at the package's root, seen from src and from dist", async () => {
  expect(await locateModel({ model: "bundled", modelsDir: "/nowhere" })).toBe(BUNDLED);
  const fromDist = packageRoot(join(packageRoot(), "dist", "src", "embedding", "package-root.js"));
  expect(fromDist).toBe(packageRoot());
});

it("the bundled model of an earlier release is taken for a database that has its vectors, and for no other", async () => {
  const modelsDir = await temporaryFolder();
  const earlier = join(modelsDir, "bundled");
  await cp(BUNDLED, earlier, { recursive: true });
  await writeFile(join(earlier, "tokenizer_config.json"), "{}");
  const source = { model: "bundled", modelsDir };
  expect(await locateModel({ ...source, revision: await revisionOf(earlier) })).toBe(earlier);
  for (const revision of [undefined, await revisionOf(BUNDLED), "0".repeat(64)]) {
    expect(await locateModel({ ...source, revision })).toBe(BUNDLED);
  }
});

it("a model that is there is taken without asking the network", async () => {
  const modelsDir = await temporaryFolder();
  await cp(BUNDLED, join(modelsDir, "some", "model"), { recursive: true });
  const folder = await locateModel({ model: "some/model", modelsDir, hub: OFFLINE });
  expect(folder).toBe(join(modelsDir, "some", "model"));
});

it("offline, an unknown model is one error that names it, the folder and the ways out", async () => {
  const modelsDir = await temporaryFolder();
  const error = await locateModel({ model: "some/model", modelsDir, hub: OFFLINE }).catch((e) => e);
  expect(error).toMatchObject({ name: "MemoryError", code: "unavailable" });
  for (const part of ["some/model", modelsDir, OFFLINE, "MODELS_DIR", "MODEL=bundled", "tokenizer.json"]) {
    expect(error.message).toContain(part);
  }
  expect(error.message).not.toContain("\n");
  expect(await readdir(modelsDir)).toEqual([]);
});

it.each([
  "..",
  "../x",
  "a/../b",
  "a/..",
  "/etc",
  "a/b/c",
  "a//b",
  "a/",
  "",
  "a b",
  "a\\b",
  ".hidden",
  "a/.b",
  "-x",
])("%j is not a model's id", async (model) => {
  await expect(locateModel({ model, modelsDir: "/nowhere", hub: OFFLINE })).rejects.toMatchObject({
    code: "invalid_argument",
    field: "MODEL",
  });
});

it("the revision changes with the content and the name of any file that is read, and with no other", async () => {
  const folder = await temporaryFolder();
  for (const file of MODEL_FILES) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), JSON.stringify(file));
  }
  const revisions = new Set([await revisionOf(folder)]);
  for (const file of ["README.md", ...OPTIONAL_FILES]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), "any");
    revisions.add(await revisionOf(folder));
  }
  expect(revisions.size).toBe(1);
  for (const [i, file] of MODEL_FILES.entries()) {
    await writeFile(join(folder, file), '"changed"');
    revisions.add(await revisionOf(folder));
    expect(revisions.size).toBe(i + 2);
  }
});

it("weights in files of their own, as many as config.json says, are part of the model and of its revision", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "onnx"));
  for (const file of MODEL_FILES) await writeFile(join(folder, file), "{}");
  expect(await missingFiles(folder)).toEqual([]);
  const plain = await revisionOf(folder);
  for (const [said, parts] of [
    [true, 1],
    [{ "model_quantized.onnx": 2 }, 2],
    [{ model: 1, "model_fp16.onnx": 3 }, 1],
    [{ "model_quantized.onnx": false, model: true }, 0],
    [false, 0],
  ] as const) {
    const config = { "transformers.js_config": { use_external_data_format: said } };
    await writeFile(join(folder, "config.json"), JSON.stringify(config));
    const names = ["onnx/model_quantized.onnx_data", "onnx/model_quantized.onnx_data_1"].slice(0, parts);
    expect(await missingFiles(folder)).toEqual(names);
  }
  await writeFile(join(folder, "onnx/model_quantized.onnx_data"), "weights");
  const config = { "transformers.js_config": { use_external_data_format: 1 } };
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  const revisions = new Set([plain, await revisionOf(folder)]);
  await writeFile(join(folder, "onnx/model_quantized.onnx_data"), "other weights");
  revisions.add(await revisionOf(folder));
  expect(revisions.size).toBe(3);
});
