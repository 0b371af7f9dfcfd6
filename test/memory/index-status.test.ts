import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { openIndexes } from "../../src/index/open.js";
import { indexStatus } from "../../src/memory/log/index-status.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { cloud } from "../index/vectors/clouds.js";
import { CALLER, DIMENSIONS, type Domain, memoryOf, scopeOf, TestService, until } from "./domain.js";

const MEMORIES = 600;
const idOf = (n: number) => `mem_${String(n).padStart(26, "0")}`;
const rows = cloud(MEMORIES + 1, { dimensions: DIMENSIONS });
const stored = rows.map((row) =>
  memoryOf(row, { id: idOf(row.sequence), opId: idOf(row.sequence), text: `number${row.sequence}` }),
);
const query = rows[0]?.vector as Float32Array;
const ALL = { after: "", limit: 10 };
const NONE = { upto: 0, rows: 0, removed: 0 };

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ tailRowsMax: 500 });
});
afterEach(() => service.close());

/** Makes the domain of a process that writes a file for any segment of words. */
function openDomain(): Domain {
  const onTrouble = (error: unknown) => {
    throw error;
  };
  const folder = join(service.dataDir, "index");
  return service.domain({
    indexes: openIndexes({
      vectors: service.vectors,
      folder,
      clock: systemClock,
      fileBytesMin: 1,
      quietMs: 5,
      onTrouble,
    }),
  });
}

const remove = (domain: Domain, n: number) =>
  deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(n) });

const filesOf = (logId: string) => readdirSync(join(service.dataDir, "index", logId));

/** Writes a namespace, and lets a process seal its index. */
async function sealed(): Promise<{ domain: Domain; logId: string }> {
  const logId = await service.write("a", stored.slice(0, MEMORIES));
  const domain = openDomain();
  await domain.recall("a", query);
  await until(async () => (await domain.ports.indexes.measureFiles(logId)).parts.vectors.upto > 0);
  return { domain, logId };
}

describe("the state of indexes", () => {
  it("is how much of a log its files cover, and how much of them was removed, open or not", async () => {
    const { domain, logId } = await sealed();
    await remove(domain, 1);
    await remove(domain, 2);
    const [open, ...others] = await indexStatus(domain.ports, ALL);
    expect(others).toEqual([]);
    expect(open).toMatchObject({ logId, scope: scopeOf("a"), isOpen: true });
    expect(open).toMatchObject({ memories: MEMORIES - 2, last: MEMORIES + 2 });
    expect(open?.files.parts.vectors).toMatchObject({ rows: open?.files.parts.vectors.upto, removed: 2 });
    expect(open?.files.parts.vectors.upto).toBeGreaterThan(500);
    await domain.namespaces.close();
    const [closed] = await indexStatus(openDomain().ports, ALL);
    expect(closed).toMatchObject({ logId, isOpen: false });
    const { vectors, words } = closed?.files.parts ?? { vectors: NONE, words: NONE };
    expect(vectors).toMatchObject({ upto: open?.files.parts.vectors.upto, removed: 2 });
    expect(words).toMatchObject({ upto: MEMORIES, removed: 2, rows: MEMORIES });
    expect(closed?.files.files).toBe(filesOf(logId).length);
    expect(closed?.files.bytes).toBeGreaterThan(2_000);
  });

  it("is listed by log, a page at a time", async () => {
    const { domain, logId } = await sealed();
    const other = await service.write("b", stored.slice(0, 3));
    await domain.recall("b", query);
    const logs = async (page: typeof ALL) =>
      (await indexStatus(domain.ports, page)).map((each) => each.logId);
    const [first = "", second = ""] = [logId, other].sort();
    expect(await logs(ALL)).toEqual([first, second]);
    expect(await logs({ after: "", limit: 1 })).toEqual([first]);
    expect(await logs({ after: first, limit: 1 })).toEqual([second]);
    expect(await logs({ after: second, limit: 1 })).toEqual([]);
  });

  it("counts rows in no file, and removed ones, for the metrics", async () => {
    const { domain } = await sealed();
    await remove(domain, 1);
    await remove(domain, 2);
    await domain.append("a", memoryOf(rows[MEMORIES] as (typeof rows)[number], { text: "the last one" }));
    await domain.recall("a", query);
    const counted = async () => {
      const [status] = await indexStatus(domain.ports, ALL);
      const held = domain.namespaces.open.measure().rows;
      const inFiles = (status?.files.parts.vectors.rows ?? 0) - 2;
      return { ...held.vectors, all: held.vectors.tail + inFiles, words: held.words };
    };
    await until(async () => {
      const { backlog, words } = await counted();
      return backlog === 0 && words.backlog === 0;
    });
    expect(await counted()).toMatchObject({ all: MEMORIES - 1, removed: 2, backlog: 0 });
    expect((await counted()).words).toEqual({ tail: 0, removed: 2, backlog: 0 });
  });

  it("counts rows that wait for their files", async () => {
    const { indexes } = service;
    const index = indexes.open("log");
    const added = rows.slice(0, MEMORIES).map((row, i) => ({ ...row, memory: stored[i] as Stored }));
    await index.add(added, { sequence: MEMORIES, opId: "last" });
    expect(index.rowCounts.vectors).toEqual({ tail: MEMORIES, removed: 0, backlog: 100 });
    await until(() => index.rowCounts.vectors.tail < MEMORIES);
    expect(index.rowCounts.vectors).toMatchObject({ removed: 0, backlog: 0 });
    await index.close({ retainFiles: true });
  });

  it("counts memories whose file cannot be written", async () => {
    const troubles: unknown[] = [];
    const folder = join(service.dataDir, "index");
    const onTrouble = (error: unknown) => void troubles.push(error);
    const indexes = openIndexes({
      vectors: service.vectors,
      folder,
      clock: systemClock,
      fileBytesMin: 10_000,
      onTrouble,
    });
    const domain = service.domain({ indexes });
    const [first, ...others] = stored.slice(0, MEMORIES) as [Stored, ...Stored[]];
    await domain.append("a", first);
    await domain.recall("a", query);
    // A file stands where the folder would be.
    writeFileSync(folder, "");
    await service.write("a", others);
    await domain.recall("a", query);
    await until(() => troubles.length > 0);
    const { words } = domain.namespaces.open.measure().rows;
    expect(words).toMatchObject({ tail: MEMORIES, removed: 0 });
    expect(words.backlog).toBeGreaterThan(MEMORIES / 2);
  });
});

describe("erasing the index of a namespace", () => {
  it("waits for the calls that use it, and holds new ones back until its files are gone", async () => {
    const { domain, logId } = await sealed();
    const answer = await domain.recall("a", query);
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const events: string[] = [];
    const using = domain.namespaces.using(scopeOf("a"), async ({ replica }) => {
      await held;
      await replica.current();
      events.push(`used ${replica.index.size}`);
    });
    const erasing = domain.namespaces
      .eraseIndex(scopeOf("a"))
      .then((erased) => events.push(`erased ${erased}`));
    await until(() => domain.namespaces.open.measure().namespaces === 0);
    const later = domain.recall("a", query).then((found) => {
      events.push("recalled");
      return found;
    });
    await systemClock.sleep(50);
    expect(events).toEqual([]);
    expect(filesOf(logId).length).toBeGreaterThan(2);
    finish();
    await Promise.all([using, erasing]);
    expect(await later).toEqual(answer);
    expect(events).toEqual([`used ${MEMORIES}`, `erased ${logId}`, "recalled"]);
  });

  it("leaves no file of one that is closed, and what is built from the log answers the same", async () => {
    const { domain, logId } = await sealed();
    const answer = await domain.recall("a", query);
    await domain.namespaces.close();
    const next = openDomain();
    expect(await next.namespaces.eraseIndex(scopeOf("a"))).toBe(logId);
    expect(await indexStatus(next.ports, ALL)).toEqual([]);
    expect(await next.recall("a", query)).toEqual(answer);
    expect(await next.namespaces.eraseIndex(scopeOf("nothing"))).toBeUndefined();
  });
});
