import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateModel } from "../../src/embedding/locate.js";
import { MODEL_FILES, revisionOf } from "../../src/embedding/model-files.js";
import { packageRoot } from "../../src/embedding/package-root.js";

const BUNDLED = join(packageRoot(), "models", "bundled");
/** Nothing listens there: what an offline machine sees, without waiting for a name server. */
const OFFLINE = "http://127.0.0.1:9";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "models-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function hub(files: Readonly<Record<string, string>>) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const content = files[request.url ?? ""];
    response.writeHead(content === undefined ? 404 : 200).end(content);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { asked, hubUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it("the bundled model lies at the package's root, seen from src and from dist", async () => {
  expect(await locateModel({ model: "bundled", modelsDir: "/nowhere" })).toBe(BUNDLED);
  const fromDist = packageRoot(join(packageRoot(), "dist", "src", "embedding", "package-root.js"));
  expect(fromDist).toBe(packageRoot());
});

it("a model that is there is taken without asking the network", async () => {
  const modelsDir = await temporaryFolder();
  await cp(BUNDLED, join(modelsDir, "some", "model"), { recursive: true });
  const folder = await locateModel({ model: "some/model", modelsDir, hubUrl: OFFLINE });
  expect(folder).toBe(join(modelsDir, "some", "model"));
});

it("a model that is not there is downloaded, and only the files it lacks", async () => {
  const modelsDir = await temporaryFolder();
  const base = "/some/model/resolve/main";
  const { asked, hubUrl } = await hub(
    Object.fromEntries(MODEL_FILES.map((file) => [`${base}/${file}`, `content of ${file}`])),
  );
  await mkdir(join(modelsDir, "some", "model"), { recursive: true });
  await writeFile(join(modelsDir, "some", "model", "config.json"), "mine");
  const told = new Set<string>();
  const folder = await locateModel({
    model: "some/model",
    modelsDir,
    hubUrl,
    onProgress: ({ file }) => told.add(file),
  });
  expect(asked).toEqual(MODEL_FILES.slice(1).map((file) => `${base}/${file}`));
  expect([...told]).toEqual(MODEL_FILES.slice(1).map((file) => `some/model/${file}`));
  expect(await readFile(join(folder, "onnx/model_quantized.onnx"), "utf8")).toMatch(/^content of/);
  expect(await readFile(join(folder, "config.json"), "utf8")).toBe("mine");
});

it("offline, an unknown model is one error that names it, the folder and the ways out", async () => {
  const modelsDir = await temporaryFolder();
  const error = await locateModel({ model: "some/model", modelsDir, hubUrl: OFFLINE }).catch((e) => e);
  expect(error).toMatchObject({ name: "MemoryError", code: "unavailable" });
  for (const part of ["some/model", modelsDir, OFFLINE, "MODELS_DIR", "MODEL=bundled", "tokenizer.json"]) {
    expect(error.message).toContain(part);
  }
  expect(error.message).not.toContain("\n");
  expect(await readdir(modelsDir)).toEqual([]);
});

it("a model the hub does not have is said to be missing there", async () => {
  const { hubUrl } = await hub({});
  const place = { model: "no/model", modelsDir: await temporaryFolder(), hubUrl };
  await expect(locateModel(place)).rejects.toThrow("does not exist or is not public (HTTP 404)");
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
  await expect(locateModel({ model, modelsDir: "/nowhere", hubUrl: OFFLINE })).rejects.toMatchObject({
    code: "invalid_argument",
    field: "MODEL",
  });
});

it("the revision changes with the content and the name of any file that is read, and with no other", async () => {
  const folder = await temporaryFolder();
  for (const file of MODEL_FILES) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), file);
  }
  const revisions = new Set([await revisionOf(folder)]);
  await writeFile(join(folder, "README.md"), "any");
  revisions.add(await revisionOf(folder));
  expect(revisions.size).toBe(1);
  for (const [i, file] of MODEL_FILES.entries()) {
    await writeFile(join(folder, file), "changed");
    revisions.add(await revisionOf(folder));
    expect(revisions.size).toBe(i + 2);
  }
});
