import { once } from "node:events";
import promises, { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openLocal } from "../../src/storage/local/open.js";
import { claim, RELEASE_WAIT_MS } from "../../src/storage/local/owner/owner.js";
import { type Child, startChild } from "./children/start.js";
import { aMemory, anLogId, entriesOf } from "./samples.js";

const STARTERS = 5;
/** Folders that are claimed at the same time. */
const FOLDERS = 20;
/** Longest pause before and after each step of a slow process. */
const PAUSE_MS_MAX = 100;
const DEAD = join("owner", "000000000000.sock");
const STEPS = ["mkdir", "readdir", "rename", "rm", "rmdir"] as const;

describe("the folder of the local database", () => {
  let dataDir: string;
  let children: Child[];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "recalld-owner-"));
    children = [];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    await Promise.all(children.map((child) => child.kill()));
    await rm(dataDir, { recursive: true });
  });

  /** Starts processes that open the folder when told to, all at once, and collects what each reports. */
  const startAll = async (count: number) => {
    const started = Array.from({ length: count }, () => startChild("own", dataDir));
    children.push(...started);
    for (const child of started) expect(await child.nextLine()).toBe("ready");
    for (const child of started) child.tell("go");
    return Promise.all(started.map(async (child) => ({ child, said: await child.nextLine() })));
  };
  const inUse = (folder = dataDir) => `DATA_DIR ${folder} is in use by another recalld`;
  const files = (folder = dataDir) => readdir(folder, { recursive: true });
  const sockets = async (folder = dataDir) => (await files(folder)).filter((name) => name.endsWith(".sock"));

  /** Leaves the socket of an owner that has ended. */
  const leaveDead = async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(dataDir, "listening"), done));
    await mkdir(join(dataDir, "owner"));
    await rename(join(dataDir, "listening"), join(dataDir, DEAD));
    await new Promise((done) => server.close(done));
    expect(await sockets()).toEqual([DEAD]);
  };

  it("has one owner, and turns others away without disturbing it", async () => {
    const owner = await openLocal({ dataDir });
    const [other] = await startAll(1);
    expect(other?.said).toBe(inUse());
    await expect(openLocal({ dataDir })).rejects.toMatchObject({ code: "failed_precondition" });
    const logId = anLogId();
    expect(await owner.log.append({ logId, from: 1, entries: [aMemory()] })).toBe(1);
    expect(await entriesOf(owner.log, { logId, from: 1, limit: 2 })).toHaveLength(1);
    await owner.check();
    await owner.close();
    await (await openLocal({ dataDir })).close();
  });

  it("loses what processes left that were killed before they owned it", async () => {
    await leaveDead();
    await rename(join(dataDir, "owner"), join(dataDir, "claim-000000000000"));
    await mkdir(join(dataDir, "claim-111111111111"));
    const giveUp = await claim({ dataDir });
    expect(await files()).toEqual(["owner", ...(await sockets())]);
    await giveUp();
    expect(await files()).toEqual([]);
  });

  it("is given up at once, though a process has connected and says nothing", async () => {
    const giveUp = await claim({ dataDir });
    const [name = ""] = await sockets();
    const silent = connect(join(dataDir, name));
    await once(silent, "connect");
    // Until the owner has taken the connection.
    await sleep(100);
    const beganMs = performance.now();
    await giveUp();
    // A command that waited longer would have nothing to keep it alive, and would end as if it had done its work.
    expect(performance.now() - beganMs).toBeLessThan(1_000);
    silent.destroy();
  });

  it("goes to one of several that start at once, and after its kill -9 to one of the next", async () => {
    for (let round = 0; round < 2; round++) {
      const started = await startAll(STARTERS);
      const said = started.map((each) => each.said).sort();
      expect(said).toEqual([...Array(STARTERS - 1).fill(inUse()), "owner"]);
      expect(await sockets()).toHaveLength(1);
      await Promise.all(started.map(({ child }) => child.kill()));
      children = [];
    }
  }, 60_000);

  it("goes to one of several that find its owner dead at the same moment", async () => {
    await leaveDead();
    const claims = await Promise.allSettled(Array.from({ length: STARTERS }, () => claim({ dataDir })));
    const won = claims.filter((claim) => claim.status === "fulfilled");
    expect(won).toHaveLength(1);
    expect(await sockets()).toHaveLength(1);
    expect(await sockets()).not.toContain(DEAD);
    await won[0]?.value();
    expect(await files()).toEqual([]);
  });

  it("goes to one of several, however long each of them pauses between two steps", async () => {
    const folders = Array.from({ length: FOLDERS }, (_, i) => join(dataDir, String(i)));
    for (const folder of folders) await mkdir(folder);
    const pause = () => sleep(Math.random() * PAUSE_MS_MAX);
    for (const step of STEPS) {
      const real = promises[step] as (...given: unknown[]) => Promise<never>;
      vi.spyOn(promises, step).mockImplementation(async (...given: unknown[]) => {
        await pause();
        return real(...given).finally(pause);
      });
    }
    syncBuiltinESMExports();
    await Promise.all(
      folders.map(async (folder) => {
        const starting = Array.from({ length: STARTERS }, () => claim({ dataDir: folder }));
        const claims = await Promise.allSettled(starting);
        const reasons = claims.flatMap((each) => (each.status === "rejected" ? [each.reason.message] : []));
        expect(reasons).toEqual(Array(STARTERS - 1).fill(inUse(folder)));
        expect(await sockets(folder)).toHaveLength(1);
        for (const each of claims) if (each.status === "fulfilled") await each.value();
        expect(await files(folder)).toEqual([]);
      }),
    );
  });

  it("stays with its owner when another process removes the socket of a dead one late", async () => {
    await leaveDead();
    let removeNow = () => {};
    const late = new Promise<void>((done) => {
      removeNow = done;
    });
    const removing = vi.spyOn(promises, "rm").mockImplementationOnce(async (...given) => {
      await late;
      return rm(...given);
    });
    syncBuiltinESMExports();
    const slow = claim({ dataDir });
    await vi.waitFor(() => expect(removing).toHaveBeenCalledOnce());
    const leave = await claim({ dataDir });
    removeNow();
    await expect(slow).rejects.toThrow(inUse());
    await expect(claim({ dataDir })).rejects.toThrow(inUse());
    await leave();
    expect(await files()).toEqual([]);
  });

  // A process that opens an LMDB file sets the shared transaction number to the one that it has just read.
  // Another process's commits since then are lost, and the next pages overwrite theirs.
  it("is not opened, and no file made, by a process that does not own it", async () => {
    const leave = await claim({ dataDir });
    const [other] = await startAll(1);
    expect(other?.said).toBe(inUse());
    expect(await files()).toEqual(["owner", ...(await sockets())]);
    await leave();
  });

  it("is waited for while a command is about to leave it", async () => {
    const leave = await claim({ dataDir });
    const opening = openLocal({ dataDir });
    const waited = sleep(RELEASE_WAIT_MS / 2, "waits");
    expect(await Promise.race([opening, waited])).toBe("waits");
    await leave();
    await (await opening).close();
  });

  it("is free again once its owner closed it, and shows no trace of it", async () => {
    await (await openLocal({ dataDir })).close();
    expect(await sockets()).toEqual([]);
  });

  it("lets only its own user in", async () => {
    const inner = join(dataDir, "new", "folder");
    const storage = await openLocal({ dataDir: inner });
    expect((await stat(inner)).mode & 0o777).toBe(0o700);
    for (const name of await files(inner)) expect((await stat(join(inner, name))).mode & 0o077).toBe(0);
    await storage.close();
  });

  it("may have a path that is longer than a socket's address", async () => {
    const inner = join(dataDir, "x".repeat(100), "y".repeat(100));
    await mkdir(inner, { recursive: true });
    const owner = await openLocal({ dataDir: inner });
    await expect(openLocal({ dataDir: inner })).rejects.toMatchObject({ code: "failed_precondition" });
    await owner.close();
    await (await openLocal({ dataDir: inner })).close();
    expect(await sockets(inner)).toEqual([]);
  });

  it("is refused with the reason when it cannot be used", async () => {
    const file = join(import.meta.dirname, "owner.test.ts");
    await expect(openLocal({ dataDir: file })).rejects.toThrow(`DATA_DIR ${file} cannot be used: EEXIST`);
  });
});
