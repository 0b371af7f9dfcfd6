import { createHash } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../src/concurrency/clock.js";
import { MemoryError } from "../../src/errors.js";
import { ModelVersions } from "../../src/memory/models/model-versions.js";
import { Pins } from "../../src/memory/models/pin.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { exportMemories } from "../../src/memory/operations/stream/export.js";
import { announcedLog, announcedNames, News, POLL_MS } from "../../src/memory/operations/stream/news.js";
import {
  FRESH_MS,
  HELD_BYTES_MAX,
  OpenStreams,
  STREAM_LIMITS,
  type StreamPorts,
} from "../../src/memory/operations/stream/open-streams.js";
import { BEFORE_ALL, positionToken } from "../../src/memory/operations/stream/position.js";
import { HEARTBEAT_MS, type WatchEvent, watch } from "../../src/memory/operations/stream/watch.js";
import { SLICE_BYTES_MAX } from "../../src/memory/ports/bounds.js";
import type { Appended, Log } from "../../src/memory/ports/log.js";
import { inModelVersion } from "../../src/memory/ports/model-version.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import type { Quota } from "../../src/memory/ports/quota.js";
import { newMemoryId } from "../../src/memory/requests/id.js";
import { FILE } from "../../src/storage/local/file.js";
import { aMemory } from "../contract/samples.js";
import { CALLER, DIMENSIONS, newFolder, scopeOf, TestService } from "./domain.js";
import { modelOf } from "./models.js";

// Machines that run many tests at once are slow.
vi.setConfig({ testTimeout: 60_000 });

/** Number of changes that a watcher sees. The long form sets 10,000. */
const CHANGES = Number(process.env.WATCHED_CHANGES ?? 1_000);

const services: TestService[] = [];
const watches: AbortController[] = [];
afterEach(async () => {
  for (const each of watches.splice(0)) each.abort();
  for (const service of services.splice(0)) await service.close();
});

async function open(changes: Partial<StreamPorts> = {}, dataDir = newFolder()) {
  const service = await TestService.open({ dataDir });
  services.push(service);
  const { ports } = service.domain();
  const clock = changes.clock ?? systemClock;
  const streams: StreamPorts = {
    ...ports,
    clock,
    news: new News(clock),
    streams: new OpenStreams(clock),
    ...changes,
  };
  const { log, names } = service.storage;
  return { service, log, names, ports: streams };
}

/** A watch that is taken event by event. */
function watching(ports: StreamPorts, { position = "", caller = CALLER, namespace = "n" } = {}) {
  const [client, ending] = [new AbortController(), new AbortController()];
  watches.push(client);
  const events = watch(ports, {
    caller,
    namespace,
    position,
    signal: client.signal,
    ending: ending.signal,
  });
  const next = async (): Promise<WatchEvent> => {
    const { done, value } = await events.next();
    if (done) throw new Error("the watch ended");
    return value;
  };
  /** Takes the next events as short words. */
  const words = async (count: number) => {
    const told: string[] = [];
    while (told.length < count) told.push(wordOf((await next()).event));
    return told;
  };
  return { events, next, words, client, ending };
}

function wordOf(event: WatchEvent["event"]): string {
  if (event.kind === "stored") return `${event.memory.id}: ${event.memory.text}`;
  return event.kind === "deleted" ? `deleted ${event.id}` : event.kind;
}

const memory = (id: string): Appended => aMemory({ id, opId: id, text: `text of ${id}` });
const tombstone = (target: number): Appended => ({ op: "delete", opId: `tombstone ${target}`, target });
const drop: Appended = { op: "drop", opId: "drop" };

/** A clock that a test sets forward. */
function steppedClock(): Clock & { aheadMs: number } {
  return {
    ...systemClock,
    aheadMs: 0,
    nowMs() {
      return systemClock.nowMs() + this.aheadMs;
    },
  };
}

async function linesOf(lines: AsyncIterable<string>): Promise<Record<string, unknown>[]> {
  const read: Record<string, unknown>[] = [];
  for await (const line of lines) read.push(JSON.parse(line));
  return read;
}

const exporting = (ports: StreamPorts, includeVectors = false) => {
  const [client, ending] = [new AbortController(), new AbortController()];
  const asked = { caller: CALLER, namespace: "n", includeVectors };
  return exportMemories(ports, { ...asked, signal: client.signal, ending: ending.signal });
};

it("a watch begins now, and finds what another process writes", async () => {
  const { service, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  const { next, words } = watching(ports);
  expect((await next()).event.kind).toBe("heartbeat");
  const waited = words(3);
  await service.write("n", [memory("mem_2"), tombstone(1)]);
  await service.write("n", [memory("mem_3")]);
  expect(await waited).toEqual(["mem_2: text of mem_2", "deleted mem_1", "mem_3: text of mem_3"]);
});

it("an append of this process wakes its watches at once", async () => {
  const clock = { ...systemClock, sleep: () => new Promise<void>(() => {}) };
  const { log, names, ports } = await open({ clock });
  const [announced, named] = [announcedLog(log, ports.news), announcedNames(names, ports.news)];
  const { next, words } = watching(ports);
  await next();
  const waited = words(2);
  const logId = await named.create(scopeOf("n"));
  await announced.append({ logId, from: 1, entries: [memory("mem_1")] });
  await vi.waitFor(() => expect(ports.news.size).toBe(1));
  await announced.append({ logId, from: 2, entries: [memory("mem_2")] });
  expect(await waited).toEqual(["mem_1: text of mem_1", "mem_2: text of mem_2"]);
});

it(
  "a watcher on one or the other process, and over restarts, sees each change once and in order",
  async () => {
    const { service, log } = await open();
    const domains = [service.domain(), service.domain()] as const;
    const [changes, writers] = [CHANGES, 8];
    // Both processes append at the same numbers, and one of them gets each.
    const write = async (writer: number): Promise<string[]> => {
      const done: string[] = [];
      const stored: string[] = [];
      while (done.length < changes / writers) {
        const domain = domains[(writer + done.length) % 2] as (typeof domains)[0];
        const id = done.length % 10 === 9 ? stored.shift() : undefined;
        if (id !== undefined) {
          await deleteMemory(domain.ports, { caller: CALLER, namespace: "n", id });
          done.push(`deleted ${id}`);
          continue;
        }
        const made = newMemoryId();
        await domain.append(
          "n",
          aMemory({ id: made, opId: made, text: "t", vectors: new Float32Array(DIMENSIONS) }),
        );
        stored.push(made);
        done.push(`stored ${made}`);
      }
      return done;
    };
    const told: string[] = [];
    // A memory that was deleted before the watch came to it is told as its deletion alone.
    const isUntold = (id: string) => !told.includes(`stored ${id}`);
    let untold = 0;
    const isMore = () => told.length + untold < changes;
    const watchOn = async () => {
      let position = positionToken(BEFORE_ALL);
      for (let process = 0; isMore(); process++) {
        // A process that has just started knows nothing of the one before.
        const { ports } = domains[process % 2] as (typeof domains)[0];
        const started = { ...ports, log, news: new News(systemClock), streams: new OpenStreams(systemClock) };
        const { events, client } = watching(started, { position });
        for (let taken = 0; taken < 777 && isMore(); taken++) {
          const { value } = await events.next();
          position = value.position;
          const { event } = value as WatchEvent;
          if (event.kind === "deleted" && isUntold(event.id)) untold++;
          if (event.kind === "stored") told.push(`stored ${event.memory.id}`);
          else if (event.kind === "deleted") told.push(`deleted ${event.id}`);
        }
        client.abort();
        await events.return(undefined);
      }
    };
    const [written] = await Promise.all([
      Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))),
      watchOn(),
    ]);
    const both = new Set(told);
    expect(both.size).toBe(told.length);
    const deleted = new Set(written.flat().flatMap((word) => /^deleted (.*)/.exec(word)?.[1] ?? []));
    const missing = written.flat().filter((word) => !both.has(word));
    expect(missing.filter((word) => !deleted.has(word.replace(/^stored /, "")))).toEqual([]);
    for (const own of written) {
      const mine = new Set(own);
      expect(told.filter((word) => mine.has(word))).toEqual(own.filter((word) => both.has(word)));
    }
  },
  60_000 + CHANGES * 30,
);

it("many watches of one namespace share each look at its log", async () => {
  const { service, log, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  let looks = 0;
  const counted = withChanges(log, {
    last: (logId) => {
      looks++;
      return log.last(logId);
    },
  });
  const all = Array.from({ length: 10 }, () => watching({ ...ports, log: counted }));
  for (const { next } of all) await next();
  const waiting = all.map(({ words }) => words(1));
  // Each reads once by itself, and then they wait together.
  let before = -1;
  await vi.waitFor(
    async () => {
      before = looks;
      await systemClock.sleep(POLL_MS * 4);
      expect(looks - before).toBeLessThan(8);
    },
    { timeout: 15_000 },
  );
  await service.write("n", [memory("mem_2")]);
  for (const told of await Promise.all(waiting)) expect(told).toEqual(["mem_2: text of mem_2"]);
});

it("a move to another model is seen by nobody, and loses nothing that the original forgets", async () => {
  const { service, log, names, ports } = await open();
  const from = await service.write("n", [memory("mem_1"), memory("mem_2")]);
  const scope = scopeOf("n");
  const { next, words } = watching(ports, { position: await positionBefore(ports) });
  await next();
  expect(await words(1)).toEqual(["mem_1: text of mem_1"]);
  // The watch is slow: the namespace moves, and its original is erased, before it reads on.
  const to = inModelVersion(from, "2");
  await log.append({ logId: to, from: 1, entries: [memory("mem_1"), memory("mem_2")] });
  await log.append({ logId: from, from: 3, entries: [{ op: "moved", opId: "move", to }] });
  await names.rename(scope, { from, to });
  await log.erase({ logId: from, sequences: [1, 2, 3] });
  await log.append({ logId: to, from: 3, entries: [memory("mem_3"), tombstone(2)] });
  expect(await words(3)).toEqual(["mem_2: text of mem_2", "mem_3: text of mem_3", "deleted mem_2"]);

  async function positionBefore(ports: StreamPorts): Promise<string> {
    const { position } = await watching(ports).next();
    const [base] = JSON.parse(Buffer.from(position, "base64url").toString());
    return Buffer.from(JSON.stringify([base, 0])).toString("base64url");
  }
});

it("an export names the model of its vectors, has those of no other one, and goes on without vectors", async () => {
  const identities = ["first", "second"].map((id) => ({ ...modelOf([1]).model, id }));
  const pins = identities.map((model, i) => ({ modelVersion: i === 0 ? "" : "2", model }));
  const clock = steppedClock();
  const { service, log, names, ports } = await open({ clock });
  // This process has not heard of the second model yet.
  const options = { clock, openModel: () => Promise.reject(new Error("none")), onTrouble: () => {} };
  const modelVersions = new ModelVersions(new Pins(pins.slice(0, 1)), undefined, {
    systemRecords: { models: async () => pins },
    ...options,
  });
  const from = await service.write("n", [memory("mem_1"), memory("mem_2")]);
  const exports = [true, false].map((vectors) => exporting({ ...ports, modelVersions }, vectors));
  for (const lines of exports) {
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ model: "first" });
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: "mem_1" });
  }
  const to = inModelVersion(from, "2");
  await log.append({ logId: to, from: 1, entries: [memory("mem_1"), memory("mem_2")] });
  await log.append({ logId: from, from: 3, entries: [{ op: "moved", opId: "move", to }] });
  await names.rename(scopeOf("n"), { from, to });
  clock.aheadMs += FRESH_MS + 1;
  const [withVectors, without] = exports;
  await expect(withVectors?.next()).rejects.toThrow(/another model/);
  expect(JSON.parse((await without?.next())?.value)).toMatchObject({ id: "mem_2" });
  const [header, ...lines] = await linesOf(exporting({ ...ports, modelVersions }, true));
  expect(header).toMatchObject({ model: "second" });
  expect(lines).toHaveLength(3);
});

it("a memory that was deleted is told without its text, as its deletion", async () => {
  const { service, log, ports } = await open();
  const logId = await service.write("n", [memory("mem_0")]);
  const { position } = await watching(ports).next();
  await service.write("n", [memory("mem_1"), memory("mem_2"), tombstone(2)]);
  await log.erase({ logId, sequences: [2] });
  const { next, words } = watching(ports, { position });
  await next();
  expect(await words(2)).toEqual(["mem_2: text of mem_2", "deleted mem_1"]);
});

it("a version that is deleted after another one took its place is no deletion of the memory", async () => {
  const { service, ports } = await open();
  await service.write("n", [memory("mem_0")]);
  const { next, words } = watching(ports);
  await next();
  const newer = { ...memory("mem_0"), opId: "newer", text: "newer text", replaces: 1 };
  await service.write("n", [newer, tombstone(1), memory("mem_1")]);
  expect(await words(2)).toEqual(["mem_0: newer text", "mem_1: text of mem_1"]);
});

it("a slow reader gets no text that was deleted more than a second before", async () => {
  const clock = steppedClock();
  const { service, log, ports } = await open({ clock });
  const logId = await service.write("n", [memory("mem_0")]);
  const { next, words } = watching(ports);
  await next();
  await service.write("n", [memory("mem_1"), memory("mem_2"), memory("mem_3")]);
  expect(await words(1)).toEqual(["mem_1: text of mem_1"]);
  await log.erase({ logId, sequences: [3] });
  clock.aheadMs += FRESH_MS + 1;
  expect(await words(1)).toEqual(["mem_3: text of mem_3"]);
});

it("nothing more is told of a namespace that was dropped, and its position finds the next one", async () => {
  const { service, names, ports } = await open();
  const scope = scopeOf("n");
  const logId = await service.write("n", [memory("mem_0")]);
  const { next, words } = watching(ports);
  const { position } = await next();
  await service.write("n", [memory("mem_1"), drop]);
  const dropped = await next();
  expect(dropped.event.kind).toBe("dropped");
  // The name is not free yet: the dropped log is not read again.
  const early = watching(ports, { position: dropped.position });
  await early.next();
  await names.retire(scope, logId);
  await service.write("n", [memory("mem_2")]);
  expect(await words(1)).toEqual(["mem_2: text of mem_2"]);
  expect(await early.words(1)).toEqual(["mem_2: text of mem_2"]);
  const late = watching(ports, { position: dropped.position });
  await late.next();
  expect(await late.words(1)).toEqual(["mem_2: text of mem_2"]);
  await expect(watching(ports, { position }).next()).rejects.toMatchObject({ reason: "POSITION_GONE" });
});

it("a position that the log has not, as after a restored backup, is refused", async () => {
  const { service, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  const { position } = await watching(ports).next();
  const [base] = JSON.parse(Buffer.from(position, "base64url").toString());
  for (const gone of [
    [base, 2],
    [base, 1, "another way on"],
    [base, "end"],
  ]) {
    const ahead = Buffer.from(JSON.stringify(gone)).toString("base64url");
    await expect(watching(ports, { position: ahead }).next()).rejects.toMatchObject({
      reason: "POSITION_GONE",
    });
  }
});

it("a position of what a restored backup does not have is refused, though others have stored since", async () => {
  const { service, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  const shared = await watching(ports).next();
  const dataDir = newFolder();
  copyFileSync(join(service.dataDir, FILE), join(dataDir, FILE));
  const watch = watching(ports);
  await watch.next();
  await service.write("n", [memory("mem_2")]);
  const lost = await watch.next();
  await service.write("n", [drop]);
  const dropped = await watch.next();

  const restored = await open({}, dataDir);
  await restored.service.write("n", [memory("mem_3"), memory("mem_4")]);
  for (const { position } of [lost, dropped]) {
    await expect(watching(restored.ports, { position }).next()).rejects.toMatchObject({
      reason: "POSITION_GONE",
    });
  }
  const { words } = watching(restored.ports, shared);
  expect(await words(3)).toEqual(["heartbeat", "mem_3: text of mem_3", "mem_4: text of mem_4"]);
});

it("a watch shows life, and says where it is", async () => {
  const clock = steppedClock();
  const { service, ports } = await open({ clock });
  await service.write("n", [memory("mem_1")]);
  const { next } = watching(ports);
  const first = await next();
  clock.aheadMs += HEARTBEAT_MS;
  expect(await next()).toEqual(first);
});

it("a watch ends with its key, before it tells anything more", async () => {
  const clock = steppedClock();
  const { service, ports } = await open({ clock });
  let alive = true;
  const verify = async () => {
    if (!alive) throw new MemoryError("unauthenticated", "revoked");
  };
  const quota: Quota = { ...ports.quota, verify };
  await service.write("n", [memory("mem_1")]);
  const [told, idle] = [watching({ ...ports, quota }), watching({ ...ports, quota }, { namespace: "m" })];
  await told.next();
  await idle.next();
  alive = false;
  clock.aheadMs += 1_000;
  await service.write("n", [memory("mem_2")]);
  await expect(told.next()).rejects.toMatchObject({ code: "unauthenticated" });
  clock.aheadMs += HEARTBEAT_MS;
  await expect(idle.next()).rejects.toMatchObject({ code: "unauthenticated" });
  expect(ports.streams.shares.watch.used).toBe(0);
});

it("a watch ends with its position when the process stops, and at once when its client goes", async () => {
  const { service, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  const [stopped, left] = [watching(ports), watching(ports)];
  const first = await stopped.next();
  await left.next();
  const [last, gone] = [stopped.next(), left.events.next()];
  await vi.waitFor(() => expect(ports.news.size).toBe(1));
  stopped.ending.abort();
  left.client.abort();
  expect(await last).toEqual(first);
  expect(await stopped.events.next()).toMatchObject({ done: true });
  expect(await gone).toMatchObject({ done: true });
  expect(ports.streams.shares.watch.used).toBe(0);
  expect(ports.news.size).toBe(0);
});

it("the database's failure ends a watch, which can be resumed", async () => {
  const { service, log, ports } = await open();
  await service.write("n", [memory("mem_1")]);
  let isAway = false;
  const last: Log["last"] = async (logId) => {
    if (isAway) throw new MemoryError("unavailable", "away");
    return log.last(logId);
  };
  const { next } = watching({ ...ports, log: withChanges(log, { last }) });
  const { position } = await next();
  const waiting = next();
  isAway = true;
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  await service.write("n", [memory("mem_2")]);
  const resumed = watching(ports, { position });
  await resumed.next();
  expect(await resumed.words(1)).toEqual(["mem_2: text of mem_2"]);
});

it("an account has so many streams, leaves some to others, and one more is refused", async () => {
  const streams = new OpenStreams(systemClock);
  const callerOf = (account: number) => ({ ...CALLER, accountId: `acc_${account}` });
  const fill = (account: number) => {
    const opened = [];
    try {
      for (;;) opened.push(streams.open("watch", callerOf(account)));
    } catch (error) {
      return { opened, error };
    }
  };
  const limited = { code: "resource_exhausted", reason: "STREAMS_LIMITED" };
  const first = fill(1);
  expect(first.opened).toHaveLength(STREAM_LIMITS.watch.perAccount);
  expect(first.error).toMatchObject(limited);
  // Exports are counted by themselves.
  streams.open("export", callerOf(1)).close();
  // Four accounts do not take all.
  for (const account of [2, 3, 4]) expect(fill(account).error).toMatchObject(limited);
  const fifth = streams.open("watch", callerOf(5));
  for (let account = 6; fill(account).opened.length > 0; account++);
  expect(() => streams.open("watch", callerOf(99))).toThrow(
    expect.objectContaining({ code: "unavailable", reason: "STREAMS_LIMITED" }),
  );
  fifth.close();
  const { used } = streams.shares.watch;
  first.opened[0]?.close();
  first.opened[0]?.close();
  expect(streams.shares.watch.used).toBe(used - 1);
});

it("streams hold so many bytes, and read on when others have passed theirs on", async () => {
  const streams = new OpenStreams(systemClock);
  // A little over 4 MiB, as the heaviest slices are.
  const entry = aMemory({ vectors: new Float32Array(1_048_576) });
  const slice = { entries: [{ sequence: 1, entry }], complete: false, dropped: false };
  const readOf = (accountId: string) => {
    const stream = streams.open("watch", { ...CALLER, accountId, keyHash: `${Math.random()}` });
    let isDone = false;
    const read = stream
      .read<"all">(async () => slice)
      .then(() => {
        isDone = true;
      });
    return { stream, read, isDone: () => isDone };
  };
  const all = Array.from({ length: 12 }, () => readOf("acc_1"));
  await systemClock.sleep(200);
  const [done, waiting] = [all.filter(({ isDone }) => isDone()), all.filter(({ isDone }) => !isDone())];
  // One account gets a third.
  expect(done).toHaveLength(Math.floor(HELD_BYTES_MAX / 3 / SLICE_BYTES_MAX));
  expect(streams.shares.bytes.used).toBe(done.length * SLICE_BYTES_MAX);
  // Another account has its own part.
  const other = readOf("acc_2");
  await other.read;
  // One after the other gets what those before have passed on.
  for (const { stream } of done) stream.close();
  for (const { stream, read } of waiting) void read.then(() => stream.close());
  await Promise.all(waiting.map(({ read }) => read));
  other.stream.close();
  expect(streams.shares.bytes.used).toBe(0);
  expect(streams.shares.watch.used).toBe(0);
});

it("an export lets other work run after each slice, however quickly that is written", async () => {
  let yielded = 0;
  const clock: Clock = { ...systemClock, nowMs: () => 0, yield: async () => void yielded++ };
  const { service, ports } = await open({ clock });
  await service.write(
    "n",
    Array.from({ length: 640 }, () => aMemory()),
  );
  await linesOf(exporting(ports));
  expect(yielded).toBeGreaterThanOrEqual(5);
});

it("an export leaves out what a tombstone ended before its position, erased or not", async () => {
  const { service, log, ports } = await open();
  const logId = await service.write("n", [memory("mem_1"), memory("mem_2"), memory("mem_3")]);
  await service.write("n", [tombstone(1), tombstone(2)]);
  await log.erase({ logId, sequences: [2] });
  const lines = await linesOf(exporting(ports));
  expect(lines.map(({ id }) => id)).toEqual([undefined, "mem_3", undefined]);
  expect(lines.at(-1)).toMatchObject({ count: 1 });
});

it("an export has nothing that was stored since, and no text that was deleted a second before", async () => {
  const clock = steppedClock();
  const { service, log, ports } = await open({ clock });
  const logId = await service.write("n", [memory("mem_1"), memory("mem_2"), memory("mem_3")]);
  const lines = exporting(ports);
  await lines.next();
  await lines.next();
  await service.write("n", [memory("mem_4"), tombstone(2)]);
  await log.erase({ logId, sequences: [2] });
  clock.aheadMs += FRESH_MS + 1;
  const rest = await linesOf(lines);
  expect(rest.map(({ id }) => id)).toEqual(["mem_3", undefined]);
  expect(rest.at(-1)).toMatchObject({ count: 2 });
});

it("an export goes on in the copy when the namespace moves", async () => {
  const clock = steppedClock();
  const { service, log, names, ports } = await open({ clock });
  const from = await service.write("n", [memory("mem_1"), memory("mem_2")]);
  const lines = exporting(ports);
  await lines.next();
  await lines.next();
  const to = inModelVersion(from, "2");
  await log.append({ logId: to, from: 1, entries: [memory("mem_1"), memory("mem_2")] });
  await log.append({ logId: from, from: 3, entries: [{ op: "moved", opId: "move", to }] });
  await names.rename(scopeOf("n"), { from, to });
  await log.erase({ logId: from, sequences: [1, 2] });
  clock.aheadMs += FRESH_MS + 1;
  expect((await linesOf(lines)).map(({ id }) => id)).toEqual(["mem_2", undefined]);
});

it("an export of a namespace that is dropped meanwhile fails, and passes nothing more on", async () => {
  const clock = steppedClock();
  const { service, ports } = await open({ clock });
  await service.write("n", [memory("mem_1"), memory("mem_2")]);
  const lines = exporting(ports);
  await lines.next();
  await lines.next();
  await service.write("n", [drop]);
  clock.aheadMs += FRESH_MS + 1;
  await expect(lines.next()).rejects.toMatchObject({ code: "failed_precondition" });
  expect(ports.streams.shares.export.used).toBe(0);
});

it("an export of many memories is complete, in order, and pauses for other work", async () => {
  const { service, ports } = await open();
  const many = Array.from({ length: 5_000 }, (_, i) => memory(`mem_${i}`));
  await service.write("n", many);
  let shortestMs = Number.POSITIVE_INFINITY;
  // A hundred times less than the export takes; machines that are busy with others pause longer, now and then.
  for (let round = 0; round < 3 && shortestMs >= 200; round++) {
    let longestMs = 0;
    let lastMs = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 1);
    const hash = createHash("sha256");
    const ids: string[] = [];
    let last: { count: number; sha256: string } | undefined;
    for await (const line of exporting(ports, true)) {
      const read = JSON.parse(line);
      if ("sha256" in read) last = read;
      else hash.update(`${line}\n`);
      if ("id" in read) ids.push(read.id);
    }
    clearInterval(timer);
    expect(ids).toEqual(many.map((each) => (each as { id: string }).id));
    expect(last).toEqual({ count: 5_000, sha256: hash.digest("hex") });
    shortestMs = Math.min(shortestMs, longestMs);
  }
  expect(shortestMs).toBeLessThan(200);
});
