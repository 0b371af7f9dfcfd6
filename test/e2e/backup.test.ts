import { execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { aMemory, memories } from "../contract/samples.js";
import { backUpUnderLoad } from "../faults/backup.js";
import { admin } from "../support/admin.js";
import { filled, MEMORIES, namesIn, newBackup } from "../support/backups.js";
import { resultsOf, signUp } from "../support/caller.js";
import { OTHER_MODEL, otherModelsDir } from "../support/other-model.js";
import { program } from "../support/program.js";
import { prose } from "../support/prose.js";
import { newDataDir, startServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const ADMIN = program("admin");
const BACK_UP = join(import.meta.dirname, "../contract/children/back-up.ts");

describe("a backup", () => {
  it("that is taken under load has all that was acknowledged before, and nothing that was forgotten", async () => {
    const { memories, forgotten, meanwhile } = await backUpUnderLoad({ memories: 300, seed: 7 });
    expect(memories).toBeGreaterThan(100);
    expect(forgotten).toBeGreaterThan(10);
    expect(meanwhile).toBeGreaterThan(0);
  });

  it("of a database that nobody uses is the same", async () => {
    const [dataDir, folder, to] = [await filled(), newBackup(), newDataDir()];
    const taken = await admin({ DATA_DIR: dataDir }, "backup", folder, "--json");
    expect(taken.code, taken.stderr).toBe(0);
    const manifest = JSON.parse(taken.stdout);
    expect(manifest).toEqual(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    expect(manifest.counts).toEqual({ accounts: 0, namespaces: 1, memories: MEMORIES, entries: MEMORIES });
    expect(namesIn(folder)).toEqual(["manifest.json", "recalld.mdb"]);
    for (const name of namesIn(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    expect((await admin({ DATA_DIR: to }, "restore", folder)).stdout).toContain(
      "all was read back, and is well",
    );
    expect(namesIn(to)).toEqual(["recalld.mdb"]);
    const verified = [await admin({ DATA_DIR: dataDir }, "verify"), await admin({ DATA_DIR: to }, "verify")];
    expect(verified[0]).toEqual(verified[1]);
  });

  it("holds nothing of what was erased before, down to the bytes", async () => {
    const { backUp = fail, close, log } = await openLocal({ dataDir: newDataDir() });
    const entries = Array.from({ length: 300 }, (_, i) => aMemory({ text: `secret ${i}.` }));
    await log.append({ logId: "i", from: 1, entries });
    const erased = entries.flatMap((_, i) => (i % 3 === 0 ? [i] : []));
    await log.erase({ logId: "i", sequences: erased.map((i) => i + 1) });
    const path = join(newDataDir(), "copy.mdb");
    await backUp(path);
    await close();
    const bytes = readFileSync(path);
    expect(entries.flatMap((_, i) => (bytes.includes(`secret ${i}.`) ? [] : [i]))).toEqual(erased);
  });

  it("that is taken while the model changes goes on with that where it is restored", async () => {
    const dataDir = newDataDir();
    const env = { MODELS_DIR: otherModelsDir() };
    const server = await startServer({ dataDir, env });
    const caller = await signUp(server.url);
    const texts = prose(600);
    for (const text of texts) await caller.store({ text, namespace: "a" });
    const reembedding = admin({ DATA_DIR: dataDir, ...env }, "reembed", OTHER_MODEL);
    let ended = false;
    void reembedding.then(() => {
      ended = true;
    });
    const to: string[] = [];
    for (let taken = 0; !ended && taken < 20; taken++) {
      const [folder, restored] = [newBackup(), newDataDir()];
      expect(await admin({ DATA_DIR: dataDir }, "backup", folder)).toMatchObject({ code: 0 });
      expect(await admin({ DATA_DIR: restored }, "restore", folder)).toMatchObject({ code: 0, stderr: "" });
      const status = (await admin({ DATA_DIR: restored }, "reembed", "--status")).stdout;
      if (status.includes("entries are made")) to.push(restored);
    }
    expect(await server.stop()).toBe(0);
    const midway = to[to.length >> 1];
    if (midway === undefined) throw new Error("no backup was taken while the model changed");
    const next = await startServer({ dataDir: midway, env });
    expect((await admin({ DATA_DIR: midway, ...env }, "reembed", OTHER_MODEL)).code).toBe(0);
    const [best] = resultsOf(await caller.at(next.url).recall(texts[7] as string, "a"));
    expect(best).toMatchObject({ text: texts[7], score: expect.closeTo(1, 3) });
    expect(await next.stop()).toBe(0);
    expect((await admin({ DATA_DIR: midway }, "verify")).stdout).toContain("all is well");
  });

  it("never overwrites", async () => {
    const dataDir = await filled();
    const folder = newDataDir();
    const refused = await admin({ DATA_DIR: dataDir }, "backup", folder);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toBe(`recalld-admin: ${folder} is there already; nothing is overwritten\n`);
  });

  it("that is killed on the way leaves nothing under its name, or all of it", async () => {
    const dataDir = await filled();
    const server = await startServer({ dataDir });
    const folder = newBackup();
    let [whole, none] = [0, 0];
    // A backup takes some 0.6 s, most of it before the copy.
    for (let killMs = 0; killMs < 900 || whole === 0; killMs += 75) {
      const child = spawn(process.execPath, [ADMIN, "backup", folder], { env: { DATA_DIR: dataDir } });
      const exited = new Promise((done) => child.once("exit", done));
      setTimeout(() => child.kill("SIGKILL"), killMs);
      await exited;
      for (const name of namesIn(join(folder, ".."))) {
        const from = join(folder, "..", name);
        const restored = await admin({ DATA_DIR: newDataDir() }, "restore", from);
        if (name !== "backup" && restored.code !== 0) continue;
        expect(restored.stdout).toContain(`${MEMORIES.toLocaleString("en-US")} memories`);
      }
      if (namesIn(join(folder, "..")).includes("backup")) whole++;
      else none++;
      for (const name of namesIn(join(folder, ".."))) rmSync(join(folder, "..", name), { recursive: true });
    }
    expect([whole, none].every((count) => count > 0)).toBe(true);
    // The server still works.
    expect((await admin({ DATA_DIR: dataDir }, "backup", folder)).code).toBe(0);
    expect(await server.stop()).toBe(0);
  });

  it("on a disk that is full says so, and leaves nothing", async () => {
    const [dataDir, folder] = [newDataDir(), newBackup()];
    const shell = `trap "" XFSZ; exec "${process.execPath}" --import tsx "${BACK_UP}" "$0" "$1"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", shell, dataDir, folder]);
    expect(JSON.parse(stdout)).toEqual({
      code: "unavailable",
      message: expect.stringMatching(/^the backup could not be written: /),
    });
    expect(readdirSync(join(folder, ".."))).toEqual([]);
  });

  it("under a folder that cannot be made says so", async () => {
    const dataDir = await filled();
    const taken = await admin({ DATA_DIR: dataDir }, "backup", join(dataDir, "recalld.mdb", "backup"));
    expect(taken).toMatchObject({ code: 3, stderr: expect.stringContaining("could not be written") });
  });

  it("is taken one at a time", async () => {
    const { backUp = fail, close, log } = await openLocal({ dataDir: newDataDir() });
    await log.append({ logId: "i", from: 1, entries: memories(100) });
    const to = newDataDir();
    const first = backUp(join(to, "a"));
    await expect(backUp(join(to, "b"))).rejects.toThrow("another backup is being taken");
    // Closing waits for the backup and lets no other one begin.
    const closing = close();
    await expect(backUp(join(to, "c"))).rejects.toThrow("the database is being closed");
    await Promise.all([closing, first]);
    expect(readdirSync(to)).toEqual(["a"]);
  });

  it("leaves a file that has its name as it is", async () => {
    const { backUp = fail, close } = await openLocal({ dataDir: newDataDir() });
    const path = join(newDataDir(), "recalld.mdb");
    writeFileSync(path, "mine");
    await expect(backUp(path)).rejects.toMatchObject({
      code: "failed_precondition",
      message: `${path} is there already; nothing is overwritten`,
    });
    expect(readFileSync(path, "utf8")).toBe("mine");
    await close();
  });

  it("goes nowhere where the server does not see the folder", async () => {
    const { backUp = fail, close } = await openLocal({ dataDir: newDataDir() });
    await expect(backUp("/nowhere/recalld.mdb")).rejects.toThrow("does not see the folder /nowhere");
    await close();
  });
});

function fail(): never {
  throw new Error("this database cannot copy itself");
}
