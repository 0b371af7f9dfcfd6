import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readSync } from "node:fs";
import { mkdtemp, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { serverOf, writeLogin } from "../../cli/profile.js";
import { openTarget, withLock, writeLines, writeWhole } from "../../cli/write-file.js";
import { makeFolder } from "../../src/make-folder.js";

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

it.runIf(process.platform === "linux")(
  "a pipe without a path, such as /dev/stdout, is written to as it is",
  async () => {
    const folder = await aFolder();
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(pipe));
    await rm(path);
    const target = openTarget(`/proc/self/fd/${pipe}`);
    await writeLines(slowly(["a", "b"]), target.stream);
    await target.commit();
    const read = Buffer.alloc(8);
    expect(read.toString("utf8", 0, readSync(pipe, read))).toBe("a\nb\n");
    expect(await readdir(folder)).toEqual([]);
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

it("a login is added to the profile that another process has just written, and one that died holds nobody up", async () => {
  const folder = await aFolder();
  const path = join(folder, "profile.json");
  vi.stubEnv("RECALLD_PROFILE", path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const loginOf = (profile: string) => ({
    url: "http://127.0.0.1:8080",
    profile,
    api_key: `key of ${profile}`,
  });
  await writeFile(`${path}.lock`, "");
  const written = writeLogin(loginOf("b"));
  await sleep(30);
  writeWhole(path, loginOf("a"));
  await rm(`${path}.lock`);
  await written;
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ ...loginOf("b"), others: [loginOf("a")] });
  const inAnHour = Date.now() / 1000 + 3600;
  for (const [profile, seconds] of [
    ["c", 1],
    ["d", inAnHour],
  ] as const) {
    await writeFile(`${path}.lock`, "");
    await utimes(`${path}.lock`, seconds, seconds);
    await writeLogin(loginOf(profile));
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ profile });
  }
  expect(await readdir(folder)).toEqual(["profile.json"]);
});

it("one alone removes the lock of a process that died: another would remove that one's own lock", async () => {
  const path = join(await aFolder(), "profile.json");
  await writeFile(`${path}.lock`, "");
  await utimes(`${path}.lock`, 1, 1);
  await writeFile(`${path}.lock.stale`, "");
  const work = vi.fn();
  const worked = withLock(path, work);
  await sleep(50);
  expect(work).not.toHaveBeenCalled();
  await rm(`${path}.lock.stale`);
  await worked;
  expect(work).toHaveBeenCalledOnce();
});

// Node's own recursive mkdir would never end, and neither would this process.
it.runIf(existsSync("/proc/self"))(
  "a folder below one that can hold none is refused, and not tried for ever",
  () => {
    expect(() => makeFolder("/proc/.config/recalld")).toThrow("ENOENT");
  },
);

it("a folder is its owner's alone, those above it too, and one that is there or a file in the way is left", async () => {
  const folder = await aFolder();
  const made = join(folder, "a", "b");
  makeFolder(made);
  makeFolder(made);
  for (const path of [made, join(folder, "a")]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  await writeFile(join(made, "file"), "");
  expect(() => makeFolder(join(made, "file", "c"))).toThrow("ENOTDIR");
});

it("a profile that cannot be read is no fault where the environment names server and key", async () => {
  const profile = join(await aFolder(), "profile.json");
  await writeFile(profile, "{");
  vi.stubEnv("RECALLD_PROFILE", profile);
  vi.stubEnv("RECALLD_API_KEY", "rcl_mine");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => serverOf({})).toThrow("cannot be read as a profile");
  vi.stubEnv("RECALLD_URL", "recalld.example:8080");
  expect(serverOf({})).toEqual({ url: "http://recalld.example:8080", key: "rcl_mine" });
});

it("a profile that holds anything but logins is refused, and an empty one has none", async () => {
  const path = join(await aFolder(), "profile.json");
  vi.stubEnv("RECALLD_PROFILE", path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const wrong = ["[]", "null", "5", '"x"', '{"url":5}', '{"others":[null]}', '{"url":"x","api_key":5}'];
  for (const content of wrong) {
    await writeFile(path, content);
    expect(() => serverOf({}), content).toThrow(/profile\.json cannot be read as a profile: a login in it/);
  }
  await writeFile(path, "{}");
  expect(serverOf({})).toEqual({ url: "http://127.0.0.1:8080", key: undefined });
});
