import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { openTarget, writeLines, writeWhole } from "../../cli/write-file.js";

/** Lines that come one after another, as those of a server do. */
async function* slowly(lines: readonly string[]) {
  for (const line of lines) {
    await sleep(1);
    yield line;
  }
}

async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "write-file-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it("a file appears whole, in the place of the one before", async () => {
  const folder = await aFolder();
  const file = join(folder, "export");
  await writeFile(file, "old");
  const target = openTarget(file);
  expect(await writeLines(slowly(["a", "ü"]), target.stream)).toBe(2);
  expect(await readFile(file, "utf8")).toBe("old");
  await target.commit();
  target.discard();
  expect(await readFile(file, "utf8")).toBe("a\nü\n");
  expect(await readdir(folder)).toEqual(["export"]);
});

it("what is discarded leaves the file before, and no other", async () => {
  const folder = await aFolder();
  const target = openTarget(join(folder, "export"));
  await writeLines(slowly(["a"]), target.stream);
  target.discard();
  expect(await readdir(folder)).toEqual([]);
});

it.runIf(existsSync("/dev/full"))(
  "a disk that is full while lines still come ends the writing with an error",
  async () => {
    const target = openTarget("/dev/full");
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`);
    await expect(writeLines(slowly(lines), target.stream)).rejects.toThrow("ENOSPC");
    target.discard();
  },
);

it("what is written whole goes where a link leads, and the link stays", async () => {
  const folder = await aFolder();
  const link = join(folder, "profile.json");
  await symlink("kept/own.json", link);
  for (const n of [1, 2]) {
    writeWhole(link, { n });
    expect(JSON.parse(await readFile(link, "utf8"))).toEqual({ n });
  }
  expect(await readlink(link)).toBe("kept/own.json");
  expect(await readdir(join(folder, "kept"))).toEqual(["own.json"]);
});
