import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { readManifest } from "../../src/embedding/models/model-files.js";
import { pullModel } from "../../src/embedding/models/pull.js";
import { openHub } from "../support/hub.js";

vi.mock("../../src/embedding/models/model-files.js", async (original) => ({
  ...(await original<typeof import("../../src/embedding/models/model-files.js")>()),
  writeWhole: () => Promise.reject(new Error("killed")),
}));

it("a download that is killed when its first file has come goes on with the same commit", async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), "pull-"));
  const hub = await openHub({ "some/model": { "config.json": "{}" } });
  onTestFinished(async () => {
    hub.close();
    await rm(modelsDir, { recursive: true });
  });
  const progress = { report: () => {}, end: () => {} };
  const folder = join(modelsDir, "some/model");
  const source = { model: "some/model", modelsDir, hub: hub.url, progress };
  await expect(pullModel(source, folder)).rejects.toThrow("killed");
  expect((await readManifest(folder))?.commit).toBe(`${"c".repeat(39)}0`);
});
