import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { damageOf, type ModelManifest, readManifest } from "../../src/embedding/download/manifest.js";
import { MODEL_FILES, OPTIONAL_FILES } from "../../src/embedding/download/model-files.js";
import { pullModel } from "../../src/embedding/download/pull.js";
import { type FakeHub, openHub, type Repositories } from "../support/hub.js";

const MODEL = "some/model";
const WEIGHTS = "onnx/model_quantized.onnx";
const FILES = {
  "config.json": '{"model_type":"bert"}',
  "tokenizer.json": randomBytes(20_000),
  "tokenizer_config.json": "{}",
  [WEIGHTS]: randomBytes(300_000),
};
const CONVENTION = {
  "1_Pooling/config.json": '{"pooling_mode_cls_token":true}',
  "config_sentence_transformers.json": '{"prompts":{"query":"query: "}}',
};

async function setUp(files: Repositories[string] = FILES) {
  const folder = join(await mkdtemp(join(tmpdir(), "pull-")), "some", "model");
  const hub = await openHub({ [MODEL]: files });
  onTestFinished(async () => {
    hub.close();
    await rm(join(folder, "../.."), { recursive: true });
  });
  const seen: string[] = [];
  let ends = 0;
  const progress = { report: ({ file }: { file: string }) => void seen.push(file), end: () => void ends++ };
  const pull = () => pullModel({ model: MODEL, folder, hub: hub.url, progress });
  const manifest = async () => (await readManifest(folder)) as ModelManifest;
  return { folder, hub, pull, manifest, seen, ends: () => ends };
}

const fileOf = ({ path }: { path: string }) => path.replace(/^.*\/resolve\/[^/]+\//, "");
const read = (folder: string, file: string) => readFile(join(folder, file));

describe("pulling a model", () => {
  it("brings all its files, those that not every model has before the weights", async () => {
    const { folder, hub, pull, seen, ends } = await setUp({ ...FILES, ...CONVENTION });
    await pull();
    for (const [file, content] of Object.entries({ ...FILES, ...CONVENTION })) {
      expect(Buffer.from(content).equals(await read(folder, file)), file).toBe(true);
    }
    expect(hub.asked.map(fileOf)).toEqual(["config.json", ...OPTIONAL_FILES, ...MODEL_FILES.slice(1)]);
    expect(seen.at(-1)).toBe(`${MODEL}/${WEIGHTS}`);
    expect(ends()).toBe(1);
    expect(existsSync(join(folder, "modules.json"))).toBe(false);
  });

  it("notes where each file is from and what the hub says that it hashes to", async () => {
    const { folder, hub, pull, manifest } = await setUp({ ...FILES, ...CONVENTION });
    await pull();
    const { files, ...origin } = await manifest();
    expect(origin).toEqual({ model: MODEL, hub: hub.url, commit: `${"c".repeat(39)}0` });
    expect(Object.keys(files).sort()).toEqual(Object.keys({ ...FILES, ...CONVENTION }).sort());
    expect(files[WEIGHTS]).toMatchObject({ bytes: 300_000, digest: { kind: "sha256" }, vouched: true });
    expect(files["config.json"]).toMatchObject({ digest: { kind: "git-blob" }, vouched: true });
    expect(await damageOf(folder, await manifest())).toEqual([]);
    expect((await readdir(folder)).sort()).not.toContainEqual(expect.stringContaining(".part"));
  });

  it("brings all files of one commit, also when the repository changes meanwhile and after a break", async () => {
    const { folder, hub, pull, manifest } = await setUp();
    const next = { ...FILES, [WEIGHTS]: randomBytes(300_000), "tokenizer_config.json": '{"next":true}' };
    hub.disturb = ({ path }, response) => {
      if (!path.endsWith("tokenizer.json")) return false;
      hub.change({ [MODEL]: next });
      response.writeHead(404).end();
      return true;
    };
    await expect(pull()).rejects.toThrow("does not exist");
    hub.disturb = () => false;
    await pull();
    expect(FILES[WEIGHTS].equals(await read(folder, WEIGHTS))).toBe(true);
    expect((await manifest()).commit).toBe(`${"c".repeat(39)}0`);
  });

  it("asks only for what the folder lacks", async () => {
    const { folder, hub, pull } = await setUp();
    await pull();
    await rm(join(folder, "tokenizer.json"));
    await writeFile(join(folder, "config.json"), "{}");
    hub.asked.length = 0;
    await pull();
    expect(hub.asked.map(fileOf)).toEqual([...OPTIONAL_FILES, "tokenizer.json"]);
    expect(await read(folder, "config.json")).toEqual(Buffer.from("{}"));
  });

  it("goes on where the connection was cut, again and again", async () => {
    const { folder, hub, pull } = await setUp();
    hub.disturb = ({ path, range }, response, content) => {
      const from = Number(range?.slice(6, -1) ?? 0);
      if (!path.endsWith(WEIGHTS) || hub.asked.length === 0 || content === undefined || from > 150_000)
        return false;
      const isHub = hub.asked.at(-1)?.path === path && !response.req.url?.startsWith("/elsewhere");
      if (isHub) return false;
      response.writeHead(from > 0 ? 206 : 200, {
        "content-length": content.length - from,
        ...(from > 0 && { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
      });
      response.write(content.subarray(from, from + 80_000), () => setTimeout(() => response.destroy(), 50));
      return true;
    };
    await pull();
    expect(FILES[WEIGHTS].equals(await read(folder, WEIGHTS))).toBe(true);
    const ranges = hub.asked.filter(({ path }) => path.endsWith(WEIGHTS)).map(({ range }) => range);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.length).toBeGreaterThan(2);
    for (const range of ranges.slice(1)) expect(range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it("of weights that lie in files of their own brings those too", async () => {
    const config = { "transformers.js_config": { use_external_data_format: 2 } };
    const parts = { [`${WEIGHTS}_data`]: "a", [`${WEIGHTS}_data_1`]: "b" };
    const { folder, pull } = await setUp({ ...FILES, ...parts, "config.json": JSON.stringify(config) });
    await pull();
    for (const [file, content] of Object.entries(parts)) expect(`${await read(folder, file)}`).toBe(content);
  });

  it("of a model that the hub does not have is one line that says so", async () => {
    const { folder, hub, ends } = await setUp();
    const error = await pullModel({ model: "no/model", folder, hub: hub.url }).catch((reason) => reason);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toMatch(
      /no\/model\/resolve\/main\/config\.json does not exist or is not public \(HTTP 404\)/,
    );
    expect(error.message).not.toContain("\n");
    expect(ends()).toBe(0);
  });

  it("of a model without 8-bit weights says that another conversion may have them", async () => {
    const { [WEIGHTS]: _, ...others } = FILES;
    const { pull } = await setUp(others);
    await expect(pull()).rejects.toThrow(
      "model_quantized.onnx does not exist or is not public (HTTP 404): the model has no 8-bit weights there; another conversion of it may. ",
    );
  });

  it("twice at once ends with the same whole model, on a hub that is slow as well", async () => {
    const { folder, hub, pull, manifest } = await setUp({ ...FILES, ...CONVENTION });
    let elsewhere = 0;
    hub.disturb = ({ path }, response, content) => {
      if (!path.endsWith(WEIGHTS) || !response.req.url?.startsWith("/elsewhere") || content === undefined)
        return false;
      // The first one is slower than the second, and ends while that is working.
      const pieceMs = elsewhere++ === 0 ? 12 : 7;
      response.writeHead(200, { "content-length": content.length });
      let from = 0;
      const timer = setInterval(() => {
        response.write(content.subarray(from, from + 30_000));
        from += 30_000;
        if (from >= content.length) {
          clearInterval(timer);
          response.end();
        }
      }, pieceMs);
      return true;
    };
    await Promise.all([pull(), pull(), pull()]);
    for (const [file, content] of Object.entries({ ...FILES, ...CONVENTION })) {
      expect(Buffer.from(content).equals(await read(folder, file)), file).toBe(true);
    }
    expect(await damageOf(folder, await manifest())).toEqual([]);
    const left = (await readdir(folder, { recursive: true })).filter((name) => name.includes(".part"));
    expect(left).toEqual([]);
  });
});

describe("a manifest", () => {
  it("tells of files that are missing, shorter or not what came", async () => {
    const { folder, pull, manifest } = await setUp();
    await pull();
    await rm(join(folder, "config.json"));
    await truncate(join(folder, WEIGHTS), 1000);
    const tokenizer = await read(folder, "tokenizer.json");
    tokenizer[100] = (tokenizer[100] as number) ^ 1;
    await writeFile(join(folder, "tokenizer.json"), tokenizer);
    expect((await damageOf(folder, await manifest())).sort()).toEqual([
      "config.json is missing",
      "onnx/model_quantized.onnx is 1000 bytes; 300000 were downloaded",
      "tokenizer.json does not match its hash",
    ]);
  });

  it("of a hub that names no hashes has those of what came", async () => {
    const { folder, hub, pull, manifest } = await setUp();
    hub.disturb = (_, response, content) => {
      if (content === undefined) return false;
      response.end(content);
      return true;
    };
    await pull();
    const { commit, files } = await manifest();
    expect(commit).toBeUndefined();
    expect(files[WEIGHTS]).toMatchObject({ bytes: 300_000, digest: { kind: "sha256" }, vouched: false });
    expect(await damageOf(folder, await manifest())).toEqual([]);
  });

  it("is absent where a folder was copied by hand, and refused where somebody wrote into it", async () => {
    const { folder, pull } = await setUp();
    expect(await readManifest(folder)).toBeUndefined();
    await pull();
    const file = join(folder, "recalld-manifest.json");
    for (const spoilt of ["[]", '{"files":{}}', '{"model":"a","hub":"b","files":{"x":{"bytes":1}}}']) {
      await writeFile(file, spoilt);
      await expect(readManifest(folder)).rejects.toThrow("recalld-manifest.json is not as it was written");
    }
    await writeFile(file, "{");
    await expect(readManifest(folder)).rejects.toThrow("recalld-manifest.json is not JSON");
  });
});

// The fake hub is a test's tool. That it behaves like the real one is written here, not assumed.
it("the hub of these tests names hashes as Hugging Face does", async () => {
  const { hub } = (await setUp()) as { hub: FakeHub };
  const small = await fetch(`${hub.url}/${MODEL}/resolve/main/config.json`);
  expect(small.headers.get("etag")).toMatch(/^"[0-9a-f]{40}"$/);
  const large = await fetch(`${hub.url}/${MODEL}/resolve/main/${WEIGHTS}`, { redirect: "manual" });
  expect([large.status, large.headers.get("x-linked-etag")]).toEqual([
    302,
    expect.stringMatching(/^"[0-9a-f]{64}"$/),
  ]);
});
