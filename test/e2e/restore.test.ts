import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { messageOf } from "../../src/errors.js";
import { restore } from "../../src/storage/local/backup/restore.js";
import { claim } from "../../src/storage/local/owner/owner.js";
import { admin } from "../support/admin.js";
import { filled, namesIn, newBackup } from "../support/backups.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

describe("restoring", () => {
  let backup: string;
  beforeAll(async () => {
    backup = newBackup();
    expect((await admin({ DATA_DIR: await filled() }, "backup", backup)).code).toBe(0);
  });

  const restoring = async (from: string, dataDir = newDataDir()) => {
    const { code, stdout, stderr } = await admin({ DATA_DIR: dataDir }, "restore", from);
    return {
      code,
      stdout,
      stderr: stderr.replace(/^recalld-admin: /, "").trimEnd(),
      names: namesIn(dataDir),
    };
  };

  const file = "recalld.mdb";
  const flip = (path: string) => {
    const bytes = readFileSync(path);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  };
  it.each<[string, (folder: string) => void, string | RegExp]>([
    ["a flipped bit", (at) => flip(join(at, file)), /recalld.mdb has another SHA-256 than its manifest says/],
    [
      "a file that is cut off",
      (at) => truncateSync(join(at, file), 100_000),
      /is 100000 bytes; its manifest says \d+/,
    ],
    ["a file that is longer", (at) => appendFileSync(join(at, file), "x"), /is \d+ bytes; its manifest says/],
    ["a missing file", (at) => rmSync(join(at, file)), "the backup is damaged: recalld.mdb is missing"],
    ["a missing manifest", (at) => rmSync(join(at, "manifest.json")), /holds no backup: ENOENT/],
    [
      "a manifest that is cut off",
      (at) => truncateSync(join(at, "manifest.json"), 200),
      /manifest.json is no JSON/,
    ],
    ["another manifest", (at) => writeFileSync(join(at, "manifest.json"), "{}"), /is not what backup writes/],
    [
      "a backup of another format",
      (at) => {
        const path = join(at, "manifest.json");
        writeFileSync(path, readFileSync(path, "utf8").replace(/"format": \d+/, '"format": 999'));
      },
      /the backup \S+ is of format 999, by recalld [\d.]+; .*\(recalld export\)/,
    ],
  ])("is refused for %s", async (_, damage, said) => {
    const copy = newBackup();
    cpSync(backup, copy, { recursive: true });
    damage(copy);
    const refused = await restoring(copy);
    expect(refused).toMatchObject({ code: 1, stdout: "", names: [] });
    expect(refused.stderr).toMatch(said);
  });

  it("into a folder that cannot be made says so", async () => {
    const dataDir = join(backup, "manifest.json", "data");
    const refused = await admin({ DATA_DIR: dataDir }, "restore", backup);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("could not be restored") });
  });

  it("is refused where something is", async () => {
    const dataDir = newDataDir();
    writeFileSync(join(dataDir, "notes.txt"), "mine");
    const refused = await restoring(backup, dataDir);
    expect(refused).toMatchObject({ code: 1, names: ["notes.txt"] });
    expect(refused.stderr).toContain("is not empty: it holds notes.txt");
  });

  it("is refused where another restore was quicker", async () => {
    const dataDir = newDataDir();
    const release = await claim({ dataDir });
    const late = restore({ backup, dataDir, verify: async () => [] }).catch(messageOf);
    // It waits for the owner now.
    await sleep(200);
    writeFileSync(join(dataDir, file), "");
    await release();
    expect(await late).toBe(
      `DATA_DIR ${dataDir} is not empty: it holds ${file}; a backup is restored into an empty folder only`,
    );
  });

  it("is not kept from a folder by models, and not by a restore that was killed", async () => {
    const dataDir = newDataDir();
    mkdirSync(join(dataDir, "models"));
    mkdirSync(join(dataDir, "restoring-abc"));
    expect(await restoring(backup, dataDir)).toMatchObject({ code: 0, names: ["models", file] });
  });

  it("takes the place of the database of a server that was killed", async () => {
    const killed = await startServer();
    await killed.kill();
    for (const name of [file, `${file}-lock`]) rmSync(join(killed.dataDir, name));
    mkdirSync(join(killed.dataDir, "claim-abc"));
    expect(namesIn(killed.dataDir)).toContain("owner");
    expect(await restoring(backup, killed.dataDir)).toMatchObject({ code: 0, names: [file] });
  });

  describe("beside a server", () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer();
    });
    afterAll(() => server.stop());

    it("is refused on its folder", async () => {
      const refused = await restoring(backup, server.dataDir);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("is not empty");
    });
  });
});
