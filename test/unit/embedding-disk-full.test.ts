import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, it, onTestFinished, vi } from "vitest";
import { pullModel } from "../../src/embedding/download/pull.js";

// The disk becomes full after the check for room, because another program writes.
vi.mock("node:fs", async (original) => ({
  ...(await original<typeof import("node:fs")>()),
  createWriteStream: () =>
    new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })),
    }),
}));

it("a disk that gets full is said once, with the folder and what to do", async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), "full-"));
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end("{}");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.close();
    await rm(modelsDir, { recursive: true });
  });
  const hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = join(modelsDir, "some/model");
  const progress = { report: () => {}, end: () => {} };
  const error = await pullModel({ model: "some/model", folder, hub, progress }).catch((reason) => reason);
  expect(error).toMatchObject({ name: "MemoryError", code: "unavailable" });
  expect(error.message).toBe(
    `model some/model could not be downloaded to ${folder}: ENOSPC: no space left on device, write. ` +
      "Make room there, or set MODELS_DIR to another disk; what came is kept",
  );
  expect(requests).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});
