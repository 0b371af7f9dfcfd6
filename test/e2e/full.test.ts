import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { program } from "../support/program.js";
import { newDataDir, startServer } from "../support/server.js";

/** Size below the database's. A larger file is a full disk to the server. */
const FULL_BYTES = 20_000;
const STORES = 40;
const TIMEOUT_MS = 90_000;
/** Maximum number of lines of LMDB and the server in stderr and the log, besides one line for each call. */
const LINES_MAX = 30;

it(
  "says at once that its disk may be full, is not ready, reads on, and comes back by itself",
  async () => {
    const server = await startServer();
    const ask = async (path: string, body?: object, key?: string) => {
      const headers = {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      };
      const given = body && { method: "POST", body: JSON.stringify(body) };
      const response = await fetch(server.url + path, { headers, ...given });
      return { status: response.status, body: JSON.parse((await response.text()) || "{}") };
    };
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:unlimited`]);
    const { api_key: key } = (await ask("/signup", {})).body;
    const store = () => ask("/store", { namespace: "n", text: "a text of some words" }, key);
    const { id } = (await store()).body;
    limit(String(FULL_BYTES));
    const lines = () =>
      server
        .output()
        .split("\n")
        .filter((line) => !line.includes('"msg":"call"')).length;
    const linesBefore = lines();
    const begunMs = performance.now();
    const answers = await Promise.all(Array.from({ length: STORES }, store));
    expect(performance.now() - begunMs).toBeLessThan(5_000);
    for (const { status, body } of answers) {
      expect(status).toBe(503);
      expect(body.message).toBe("the database could not write; its disk may be full");
    }
    await vi.waitFor(async () => expect(await ready()).toBe(503), { timeout: 10_000 });
    for (let i = 0; i < STORES; i++) expect((await store()).status).toBe(503);
    expect((await ask(`/namespaces/n/memories/${id}`, undefined, key)).status).toBe(200);
    expect((await ask("/recalld.v1.MemoryService/ListMemories", { namespace: "n" }, key)).status).toBe(200);
    expect(server.output()).toContain("the database cannot write");
    expect(lines() - linesBefore).toBeLessThan(LINES_MAX);
    limit("unlimited");
    await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 40_000, interval: 200 });
    expect((await store()).status).toBe(200);
    expect(await server.stop()).toBe(0);
  },
  TIMEOUT_MS,
);

// Where LMDB finds less room than its first pages need, it ended the process by a signal, or without a word.
it("says that there is no room for a new database, and leaves nothing that the next start refuses", async () => {
  const dataDir = newDataDir();
  const started = spawnSync("prlimit", ["--fsize=16384", process.execPath, program("main")], {
    env: { ...process.env, DATA_DIR: dataDir, PORT: "0" },
    encoding: "utf8",
  });
  expect(started.status).toBe(1);
  expect(started.stderr).toBe("recalld: the database could not write; its disk may be full\n");
  expect(readdirSync(dataDir)).toEqual([]);
});
