import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { expect, it, onTestFinished, vi } from "vitest";
import { openCounting } from "../../src/compose/counting.js";
import { unavailable } from "../../src/errors.js";
import { addProbes, Readiness } from "../../src/server/listen/readiness.js";
import { durably, reading } from "../../src/storage/local/durably.js";
import { openFile } from "../../src/storage/local/file.js";
import { breakHeaderWrites } from "../support/break-header-writes.js";

it.skipIf(process.platform !== "linux")(
  "liveness fails once a write of the embedded database's header has failed, and not while a database is away",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "recalld-panic-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "recalld.mdb");
    const root = await openFile(path);
    await durably(root, () => root.putSync("a", 1));

    const readiness = new Readiness();
    const app = Fastify();
    addProbes(app, readiness);
    const livez = async () => (await app.inject("/livez")).statusCode;
    let check = () => {};
    const accounts = {};
    const ports = { accounts, grants: {}, grantSecrets: {}, usage: {}, calls: {}, names: {} };
    const storage = { ...ports, check: async () => check() };
    const context = {
      config: { callRecordDays: 1, callRecordsMax: 1 },
      logger: { info: () => {}, warn: () => {}, error: () => {} },
      closers: [],
      readiness,
      telemetry: { quota: (quota: unknown) => quota },
    };
    vi.useFakeTimers({ toFake: ["setInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    openCounting(context as never, storage as never);

    check = () => {
      throw unavailable("the database's file is gone", new Error("ENOENT"));
    };
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await livez()).toBe(200);
    check = () => {};
    await vi.advanceTimersByTimeAsync(2_000);

    breakHeaderWrites(path);
    await durably(root, () => root.putSync("a", 2)).catch(() => {});
    check = () => void reading(() => root.get("a"));
    expect(check).toThrow("the database could not be read");
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await livez()).toBe(503);
  },
);
