import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { eraseUnreadable, openIndexes } from "../../src/index/open.js";
import { discardOrphans, eraseExpired, wipingStoredFiles } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { recall } from "../../src/memory/operations/recall.js";
import type { Embedder } from "../../src/memory/ports/embedder.js";
import type { Indexes } from "../../src/memory/ports/index.js";
import type { Log, Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { CALLER, type Domain, scopeOf, TestService, until } from "./domain.js";
import { modelVersionsOf } from "./models.js";
import { TOY_DIMENSIONS, toyEmbedder, toyEmbedding } from "./toy-embedder.js";

const MEMORIES = 1200;
const HOUR_MS = 3_600_000;
const TEXTS = Array.from({ length: MEMORIES }, (_, i) => `memory number${i} of group${i % 7}`);
const idOf = (i: number) => `mem_${String(i).padStart(26, "0")}`;
const memoryOf = (text: string, i: number): Stored =>
  aMemory({ id: idOf(i), opId: idOf(i), text, ...toyEmbedding(text) });

let service: TestService;
const troubles: unknown[] = [];
beforeEach(async () => {
  troubles.length = 0;
  service = await TestService.open({ dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER });
});
afterEach(async () => {
  await service.close();
  expect(troubles).toEqual([]);
});

/** Makes the domain of a process that writes a file for any segment. */
function openDomain({
  log,
  quietMs = 5,
  fileBytesMin = 1,
  embedder = toyEmbedder,
}: {
  log?: Log;
  embedder?: Embedder;
  quietMs?: number;
  fileBytesMin?: number;
} = {}): {
  domain: Domain;
  indexes: Indexes;
} {
  const indexes = openIndexes({
    vectors: service.vectors,
    folder: join(service.dataDir, "index"),
    clock: systemClock,
    fileBytesMin,
    quietMs,
    onTrouble: (error) => troubles.push(error),
  });
  const modelVersions = modelVersionsOf(embedder);
  return { domain: service.domain({ modelVersions, indexes, ...(log && { log }) }), indexes };
}

async function recallBoth(domain: Domain, query: string) {
  const ports = { ...domain.ports, idempotency: undefined as never };
  const { results } = await recall(ports, { caller: CALLER, query, namespace: "a", topK: 5, mode: "hybrid" });
  return results.map(({ entry, score, words }) => ({ text: entry.text, score, words }));
}

/** Fills a namespace, and lets a process build its index and keep it in a file. */
async function indexed() {
  const logId = await service.write("a", TEXTS.map(memoryOf));
  const { domain, indexes } = openDomain();
  const answer = await recallBoth(domain, "number77");
  expect(answer[0]).toMatchObject({ text: TEXTS[77] });
  await domain.namespaces.close();
  const marks = await indexes.marksOf(logId);
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.every(({ sequence }) => sequence <= MEMORIES)).toBe(true);
  return { logId, indexes, answer };
}

/** Reads the index files of a log. */
function copiesOf(logId: string) {
  const folder = join(service.dataDir, "index", logId);
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return { path, bytes: readFileSync(path) };
  });
}

function putBack(copies: ReturnType<typeof copiesOf>): void {
  for (const { path, bytes } of copies) writeFileSync(path, bytes);
}

async function idsIn(domain: Domain): Promise<string[]> {
  const ports = { ...domain.ports, idempotency: undefined as never };
  const { results } = await recall(ports, {
    caller: CALLER,
    query: "number77 number78",
    namespace: "a",
    topK: 5,
  });
  return results.map(({ entry }) => entry.id);
}

/** Makes a log that counts the texts that are read from it. */
function countingLog() {
  const { log } = service.storage;
  const counted = { texts: 0 };
  const read: Log["read"] = async (range) => {
    const tail = await log.read(range);
    if (range.projection !== "vectors" && range.projection !== "header") counted.texts += tail.entries.length;
    return tail;
  };
  return { log: withChanges(log, { read }), counted };
}

describe("the files of a log's index", () => {
  it("spare the next process reading the texts again", async () => {
    const { answer } = await indexed();
    const { log, counted } = countingLog();
    const { domain } = openDomain({ log });
    await domain.append("a", memoryOf("memory number9999 of group1", 9999));
    expect(await recallBoth(domain, "number77")).not.toEqual([]);
    expect((await recallBoth(domain, "number9999"))[0]).toMatchObject({
      text: "memory number9999 of group1",
    });
    expect(counted.texts).toBeLessThan(MEMORIES / 4);
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(9999) });
    expect(await recallBoth(domain, "number77")).toEqual(answer);
  });

  it("are not used if they are damaged, and then built from the log", async () => {
    const { logId, answer } = await indexed();
    const folder = join(service.dataDir, "index", logId);
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".segment"))) {
      const bytes = readFileSync(join(folder, name));
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] as number) ^ 1;
      writeFileSync(join(folder, name), bytes);
    }
    const { log, counted } = countingLog();
    const { domain } = openDomain({ log });
    expect(await recallBoth(domain, "number77")).toEqual(answer);
    expect(counted.texts).toBeGreaterThanOrEqual(MEMORIES);
  });

  it("are built from the log if a file stands in the place of their folder, which the next start erases", async () => {
    const { logId, answer } = await indexed();
    const folder = join(service.dataDir, "index", logId);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    const { domain } = openDomain();
    expect(await recallBoth(domain, "number77")).toEqual(answer);
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    expect(await idsIn(domain)).not.toContain(idOf(77));
    await domain.namespaces.close();
    expect(troubles.splice(0).length).toBeGreaterThan(0);
    await eraseUnreadable(join(service.dataDir, "index"));
    expect(existsSync(folder)).toBe(false);
  });

  it.each([".segment", ".json"])("that are damaged are told of by verify (%s)", async (ending) => {
    const { logId } = await indexed();
    const { indexes } = openDomain();
    const ports = { ...service.storage, indexes, dimensionsOf: () => TOY_DIMENSIONS };
    expect(await verify(ports)).toMatchObject({ unusable: 0, problems: [] });
    const folder = join(service.dataDir, "index", logId);
    const damaged = readdirSync(folder).filter((name) => name.endsWith(ending));
    for (const name of damaged) {
      const bytes = readFileSync(join(folder, name));
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
      writeFileSync(join(folder, name), bytes);
    }
    expect(damaged.length).toBeGreaterThan(0);
    expect(await verify(ports)).toMatchObject({ unusable: damaged.length, problems: [] });
  });

  it("lose a deleted memory before the delete is answered, whether the index is open or not", async () => {
    const { logId } = await indexed();
    const { domain, indexes } = openDomain();
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    expect(await indexes.holds(logId, [78])).toEqual([]);
    const texts = (await recallBoth(domain, "number77")).map(({ text }) => text);
    expect(texts).not.toContain(TEXTS[77]);
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(78) });
    await domain.namespaces.close();
    expect(await indexes.holds(logId, [78, 79, 80])).toEqual([80]);
    const ports = { ...service.storage, indexes, dimensionsOf: () => TOY_DIMENSIONS };
    expect((await verify(ports)).problems).toEqual([]);
  });

  it("are erased with its namespace", async () => {
    const { logId } = await indexed();
    const { domain, indexes } = openDomain();
    await recallBoth(domain, "number77");
    await deleteNamespace(domain.ports, { caller: CALLER, namespace: "a", force: true });
    await until(async () => !(await indexes.stored()).includes(logId));
  });

  it("are erased by the sweep if another process dropped the namespace", async () => {
    const { logId } = await indexed();
    const other = service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    await deleteNamespace(other.ports, { caller: CALLER, namespace: "a", force: true });
    const { domain, indexes } = openDomain();
    expect(await indexes.stored()).toEqual([logId]);
    await discardOrphans(domain.ports);
    expect(await indexes.stored()).toEqual([]);
  });

  it("are erased under no recall when another process moves the log", async () => {
    const { logId, answer } = await indexed();
    const { log, names } = service.storage;
    const to = "f".repeat(20);
    let meanwhile = async () => {};
    const embed: Embedder["embed"] = async ({ text }) => {
      await meanwhile();
      return toyEmbedding(text);
    };
    const { domain, indexes } = openDomain({ embedder: { ...toyEmbedder, embed } });
    await recallBoth(domain, "number77");
    meanwhile = async () => {
      meanwhile = async () => {};
      // The log is read to its end meanwhile.
      await wait(50);
      await log.append({ logId: to, from: 1, entries: TEXTS.map(memoryOf) });
      await log.append({ logId, from: MEMORIES + 1, entries: [{ op: "moved", opId: "moved", to }] });
      await names.rename(scopeOf("a"), { from: logId, to });
      await discardOrphans(domain.ports);
      expect(await indexes.stored()).not.toContain(logId);
    };
    expect(await recallBoth(domain, "number77")).toEqual(answer);
  });

  it.each(["used", "not used"])("lose what another process deletes, %s or not", async (use) => {
    const { logId } = await indexed();
    const { domain, indexes } = openDomain();
    if (use === "used") await recallBoth(domain, "number77");
    const files = wipingStoredFiles(domain.ports);
    await files();
    const other = service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    for (const i of [77, 78]) {
      await deleteMemory(other.ports, { caller: CALLER, namespace: "a", id: idOf(i) });
      await files();
    }
    await domain.namespaces.close();
    expect(await indexes.holds(logId, [78, 79])).toEqual([]);
    expect(await idsIn(openDomain().domain)).not.toContain(idOf(77));
  });

  it("lose what another process deletes as soon when they are closed as when they were open, however old they are", async () => {
    const { logId } = await indexed();
    const { log: storageLog } = service.storage;
    const begun: number[] = [];
    const read: Log["read"] = (range) => {
      if (range.projection === "header") begun.push(range.from);
      return storageLog.read(range);
    };
    const { domain, indexes } = openDomain({ log: withChanges(storageLog, { read }) });
    const other = service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    const copies = copiesOf(logId);
    // One alone is merged into no file.
    await other.append("a", memoryOf("later memory", MEMORIES));
    await recallBoth(domain, "number77");
    const files = wipingStoredFiles(domain.ports);
    await files();
    await domain.namespaces.close();
    // A busy machine makes several files, of which a later one may have been merged.
    for (const { path } of copiesOf(logId)) rmSync(path);
    putBack(copies);
    const marks = (await indexes.marksOf(logId)).map(({ sequence }) => sequence);
    // The first of several files is made before all memories were applied.
    expect(Math.min(...marks)).toBeLessThanOrEqual(MEMORIES);
    await deleteMemory(other.ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    begun.length = 0;
    await files();
    expect(begun).toEqual([MEMORIES + 2]);
    expect(await indexes.holds(logId, [78])).toEqual([]);
  });

  it("are erased if none can be read: nobody would take out of them what another process deletes", async () => {
    const { logId } = await indexed();
    const folder = join(service.dataDir, "index", logId);
    for (const name of readdirSync(folder)) if (name.endsWith(".json")) writeFileSync(join(folder, name), "");
    await wipingStoredFiles(openDomain().domain.ports)();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ["file", ".segment"],
    ["manifest", ".json"],
    ["file with its manifest", ""],
  ])(
    "lose what was deleted since if a %s is an older copy of itself beside newer ones",
    async (_, ending) => {
      const { logId, indexes } = await indexed();
      const deleteOnly = async (i: number, { domain } = openDomain()) => {
        await recallBoth(domain, "number77");
        await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(i) });
        const answer = await recallBoth(domain, "number77");
        await domain.append("a", memoryOf(`later memory ${i}`, MEMORIES + i));
        await domain.namespaces.close();
        return answer;
      };
      // The first one has segments merged.
      const before = await deleteOnly(76);
      const copies = copiesOf(logId);
      const answer = await deleteOnly(77);
      expect(answer).not.toEqual(before);
      expect(await indexes.holds(logId, [78, 79])).toEqual([79]);
      putBack(copies.filter(({ path }) => path.endsWith(ending)));
      const { domain } = openDomain();
      expect(await recallBoth(domain, "number77")).toEqual(answer);
      expect(await indexes.holds(logId, [78])).toEqual([]);
    },
  );

  it("are used after a crash amid deletes, without what was deleted", async () => {
    const { logId } = await indexed();
    const { domain, indexes } = openDomain({ quietMs: HOUR_MS });
    await recallBoth(domain, "number77");
    const ids = [78, 178, 278].map(idOf);
    for (const id of ids) await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id });
    expect(await indexes.holds(logId, [79, 179, 279, 280])).toEqual([280]);
    const answer = await recallBoth(domain, "number77");
    const crashed = `${service.dataDir}-crashed`;
    cpSync(join(service.dataDir, "index"), crashed, { recursive: true });
    await domain.namespaces.close();
    rmSync(join(service.dataDir, "index"), { recursive: true });
    cpSync(crashed, join(service.dataDir, "index"), { recursive: true });
    const { log, counted } = countingLog();
    const other = openDomain({ log }).domain;
    expect(await recallBoth(other, "number77")).toEqual(answer);
    for (const i of [78, 178, 278]) {
      const texts = (await recallBoth(other, `number${i}`)).map(({ text }) => text);
      expect(texts).not.toContain(TEXTS[i]);
    }
    expect(counted.texts).toBeLessThan(MEMORIES / 4);
  });

  it.each(["later", "while it was ahead"])(
    "are built anew if the clock was ahead, so that they lost what has not expired, closed %s",
    async (closed) => {
      const clock = new HandClock();
      const expiresAtMs = clock.wallMs() + 60_000;
      await service.close();
      service = await TestService.open({ dimensions: TOY_DIMENSIONS, tailRowsMax: 100, clock });
      const expiring = (text: string, i: number) => ({
        ...memoryOf(text, i),
        ...(i === 77 && { expiresAtMs }),
      });
      const logId = await service.write("a", TEXTS.map(expiring));
      const { domain, indexes } = openDomain();
      const answer = await recallBoth(domain, "number77");
      expect(answer[0]).toMatchObject({ text: TEXTS[77] });
      await until(async () => (await indexes.holds(logId, [78])).length > 0);
      clock.wallAheadMs += HOUR_MS;
      expect((await recallBoth(domain, "number77"))[0]).not.toMatchObject({ text: TEXTS[77] });
      // Manifests are written again, and say that nothing was removed since.
      await until(async () => (await indexes.holds(logId, [78])).length === 0);
      await wait(100);
      if (closed !== "later") await domain.namespaces.close();
      clock.wallAheadMs -= HOUR_MS;
      const later = closed === "later" ? domain : openDomain().domain;
      expect(await recallBoth(later, "number77")).toEqual(answer);
    },
  );

  it.each([
    ["and its files were closed", 5],
    ["and its files are those of a crash", HOUR_MS],
  ])("are not used if the database is an older copy of itself, %s", async (_, quietMs) => {
    const { logId, answer } = await indexed();
    await service.close();
    const older = `${service.dataDir}-older`;
    cpSync(service.dataDir, older, { recursive: true });
    const { dataDir } = service;
    service = await TestService.open({ dataDir, dimensions: TOY_DIMENSIONS });
    const { domain, indexes } = openDomain({ quietMs });
    expect(await recallBoth(domain, "number77")).toEqual(answer);
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    await until(async () => (await indexes.holds(logId, [80])).length > 0);
    rmSync(join(older, "index"), { recursive: true });
    if (quietMs === HOUR_MS) cpSync(join(dataDir, "index"), join(older, "index"), { recursive: true });
    await domain.namespaces.close();
    await service.close();
    if (quietMs !== HOUR_MS) cpSync(join(dataDir, "index"), join(older, "index"), { recursive: true });
    service = await TestService.open({ dataDir: older, dimensions: TOY_DIMENSIONS });
    expect(await recallBoth(openDomain().domain, "number77")).toEqual(answer);
  });

  it("lose what is deleted in an older copy of the database, though nobody uses the namespace", async () => {
    const options = { dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER };
    const others = () =>
      service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    await service.write("a", TEXTS.slice(0, 300).map(memoryOf));
    await service.close();
    const older = `${service.dataDir}-older`;
    cpSync(service.dataDir, older, { recursive: true });
    service = await TestService.open({ ...options, dataDir: service.dataDir });
    await others().append("a", memoryOf("later memory", MEMORIES));
    await recallBoth(openDomain().domain, "number77");
    await service.close();
    cpSync(join(service.dataDir, "index"), join(older, "index"), { recursive: true });
    service = await TestService.open({ ...options, dataDir: older });
    await deleteMemory(others().ports, { caller: CALLER, namespace: "a", id: idOf(76) });
    const { domain, indexes } = openDomain();
    const [logId] = await indexes.stored();
    expect(await indexes.holds(logId as string, [77])).toEqual([77]);
    await wipingStoredFiles(domain.ports)();
    expect(await indexes.holds(logId as string, [77, 301])).toEqual([]);
  });

  it("are not used if an older copy of the database went another way, and the same memory has expired there", async () => {
    const options = { dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER };
    const others = () =>
      service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    const goOn = async (text: string, i: number) => {
      await others().append("a", memoryOf(text, i));
      expect(await eraseExpired(others().ports)).toBe(1);
    };
    const [first = "", ...rest] = TEXTS.slice(0, 300);
    await service.write("a", [
      { ...memoryOf(first, 0), expiresAtMs: 1 },
      ...rest.map((text, i) => memoryOf(text, i + 1)),
    ]);
    await service.close();
    const older = `${service.dataDir}-older`;
    cpSync(service.dataDir, older, { recursive: true });
    service = await TestService.open({ ...options, dataDir: service.dataDir });
    await goOn("the one way", 2000);
    await recallBoth(openDomain().domain, "number77");
    await service.close();
    cpSync(join(service.dataDir, "index"), join(older, "index"), { recursive: true });
    service = await TestService.open({ ...options, dataDir: older });
    await goOn("another branch", 2001);
    const [found] = await recallBoth(openDomain().domain, "branch");
    expect(found?.text).toBe("another branch");
    expect(found?.words).toBeGreaterThan(0.5);
  });

  it("are not used if an older copy of the database has memories that were erased before they were built", async () => {
    const options = { dimensions: TOY_DIMENSIONS, tailRowsMax: Number.MAX_SAFE_INTEGER };
    const logId = await service.write("a", TEXTS.map(memoryOf));
    const unsaved = () =>
      service.domain({ modelVersions: modelVersionsOf(toyEmbedder), vectors: service.vectors });
    const answer = await recallBoth(unsaved(), "number77");
    await service.close();
    const older = `${service.dataDir}-older`;
    cpSync(service.dataDir, older, { recursive: true });
    service = await TestService.open({ ...options, dataDir: service.dataDir });
    await deleteMemory(unsaved().ports, { caller: CALLER, namespace: "a", id: idOf(77) });
    // The log is read slowly, so that files are written before the tombstone is read.
    const { log: storageLog } = service.storage;
    const read: Log["read"] = async (range) => {
      for (let waits = 0; waits < 50 && range.from > MEMORIES / 2; waits++) {
        if ((await indexes.marksOf(logId)).length > 0) break;
        await wait(2);
      }
      return storageLog.read(range);
    };
    const { domain, indexes } = openDomain({ log: withChanges(storageLog, { read }), fileBytesMin: 55_000 });
    expect((await recallBoth(domain, "number78"))[0]).toMatchObject({ text: TEXTS[78] });
    await domain.namespaces.close();
    expect(await indexes.stored()).toEqual([logId]);
    await service.close();
    rmSync(join(older, "index"), { recursive: true, force: true });
    cpSync(join(service.dataDir, "index"), join(older, "index"), { recursive: true });
    service = await TestService.open({ ...options, dataDir: older });
    expect(await recallBoth(openDomain().domain, "number77")).toEqual(answer);
  });
});
