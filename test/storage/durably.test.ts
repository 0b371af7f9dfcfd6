import { copyFile, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { APPEND_TIMEOUT_MS } from "../../src/memory/log/appender.js";
import { committed, durably } from "../../src/storage/local/durably.js";
import { openFile } from "../../src/storage/local/file.js";

it("writes nothing to a file that no later start would find", async () => {
  const folder = await mkdtemp(join(tmpdir(), "recalld-durably-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, aside] = [join(folder, "recalld.mdb"), join(folder, "aside.mdb")];
  const root = await openFile(path);
  onTestFinished(() => root.close());
  await durably(root, () => root.putSync("a", 1));

  const isRefused = async () => {
    // The appender does not try again for so long.
    const refusal = { code: "unavailable", retryAfterMs: APPEND_TIMEOUT_MS };
    for (const write of [durably, committed])
      await expect(write(root, () => root.putSync("a", 2))).rejects.toMatchObject(refusal);
    expect(root.get("a")).toBe(1);
  };
  await rename(path, aside);
  await isRefused();
  // A restored backup, or the database of another process that has found the folder empty.
  await copyFile(aside, path);
  await isRefused();

  await rename(aside, path);
  await durably(root, () => root.putSync("a", 3));
  expect(root.get("a")).toBe(3);
});
