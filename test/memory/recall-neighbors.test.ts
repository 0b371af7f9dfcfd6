import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { findNeighbors, ValuesAt } from "../../src/memory/operations/recall/neighbors.js";
import type { Appended, Log, MemoryHeader, Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { aMemory } from "../contract/samples.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { TestService } from "./domain.js";

const NOW = Date.now();
const idOf = (n: number) => `mem_${String(n).padStart(26, "0")}`;

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

/** Makes a memory that was created at a second; its session is part of its metadata. */
const made = (n: number, atSeconds: number, given: Partial<Stored> = {}): Stored =>
  aMemory({ id: idOf(n), opId: idOf(n), createdAtMs: NOW - 1e9 + atSeconds * 1_000, ...given });

/** Makes the next version of a memory, and the number that it replaces. */
const updated = (memory: Stored, replaces: number, atSeconds: number): Stored => ({
  ...memory,
  opId: `op_${replaces}_${atSeconds}`,
  replaces,
  updatedAtMs: NOW - 1e9 + atSeconds * 1_000,
});

async function neighborsAt(
  logId: string,
  sequence: number,
  {
    before = 2,
    after = 2,
    same,
    log = service.storage.log,
    values = new ValuesAt(same),
  }: {
    before?: number;
    after?: number;
    same?: readonly string[];
    log?: Log;
    values?: ValuesAt;
  } = {},
) {
  const [found] = (await service.storage.log.fetch({ logId, sequences: [sequence], projection: "text" }))
    .found;
  const { secondaryIndexes } = service.storage;
  const clock = { ...systemClock, wallMs: () => NOW };
  const request = { log, secondaryIndexes, logId, clock, includeSuperseded: false, values };
  const beside = await findNeighbors(request, found as never, { before, after });
  const ids = (some: readonly MemoryHeader[]) => some.map(({ id }) => Number(id.slice(4)));
  return { before: ids(beside.before), after: ids(beside.after) };
}

/** Makes a log at random, with the memories that are visible in the end. */
function randomLog(chance: Chance) {
  const entries: Appended[] = [];
  const living = new Map<number, { sequence: number; memory: Stored }>();
  for (let n = 1; entries.length < 60; n++) {
    const all = [...living];
    const dice = chance.below(10);
    if (dice < 2 && all.length > 0) {
      const [id, { sequence, memory }] = chance.pick(all);
      const next = updated(memory, sequence, entries.length);
      entries.push(next);
      living.set(id, { sequence: entries.length, memory: next });
    } else if (dice === 2 && all.length > 0) {
      const [id, { sequence }] = chance.pick(all);
      entries.push({ op: "delete", opId: `op_${entries.length}`, target: sequence });
      living.delete(id);
    } else {
      const metadata = JSON.stringify({ of: { session: chance.pick(["a", "b", { c: [1] }]) } });
      // Some end up in the log after others that were begun later, and some are of the same moment.
      const memory = made(n, entries.length + chance.below(4) - 2, {
        metadata,
        ...(chance.below(8) === 0 && { expiresAtMs: NOW - 1 }),
        ...(chance.below(8) === 0 && all.length > 0 && { supersedes: [chance.pick(all)[1].sequence] }),
      });
      for (const target of memory.supersedes ?? []) {
        for (const [id, { sequence }] of all) if (sequence === target) living.delete(id);
      }
      entries.push(memory);
      living.set(n, { sequence: entries.length, memory });
    }
  }
  const visible = [...living].filter(([, { memory }]) => memory.expiresAtMs === undefined);
  return { entries, visible: new Map(visible) };
}

describe("neighbors of a memory", () => {
  it("are those created just before and after it that are visible, whatever was written since", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const chance = chanceOf(seed);
      const { entries, visible } = randomLog(chance);
      const logId = await service.write(`n${seed}`, entries);
      // Erased, as the service leaves what was replaced or deleted.
      const gone = entries.flatMap((entry) =>
        entry.op === "delete" ? entry.target : entry.op === "store" ? (entry.replaces ?? []) : [],
      );
      if (chance.below(2) === 0) await service.storage.log.erase({ logId, sequences: gone });
      const inOrder = [...visible].sort(
        ([, a], [, b]) => a.memory.createdAtMs - b.memory.createdAtMs || (a.memory.id < b.memory.id ? -1 : 1),
      );
      for (const [n, { sequence, memory }] of inOrder) {
        for (const same of [undefined, ["of", "session"]] as const) {
          const alike = inOrder.filter(([, each]) => !same || each.memory.metadata === memory.metadata);
          const at = alike.findIndex(([each]) => each === n);
          const ids = alike.map(([each]) => each);
          expect(await neighborsAt(logId, sequence, same && { same }), `seed ${seed}, ${n}`).toEqual({
            before: ids.slice(Math.max(0, at - 2), at),
            after: ids.slice(at + 1, at + 3),
          });
        }
      }
    }
  });

  it("are found in a long log, also of a memory that was changed long after", async () => {
    const first = Array.from({ length: 3_000 }, (_, n) => made(n, n));
    const tombstones = Array.from({ length: 200 }, (_, i): Appended => {
      return { op: "delete", opId: `op_${i}`, target: 1_001 + i };
    });
    const late = updated(first[499] as Stored, 500, 5_000);
    const logId = await service.write("long", [...first, ...tombstones, late]);
    expect(await neighborsAt(logId, 1_501)).toEqual({ before: [1498, 1499], after: [1501, 1502] });
    let [reads, entries] = [0, 0];
    const { log: plain } = service.storage;
    const log = withChanges(plain, {
      read: async (range) => {
        const tail = await plain.read(range);
        reads += 1;
        entries += tail.entries.length;
        return tail;
      },
    });
    expect(await neighborsAt(logId, 3_201, { log })).toEqual({ before: [497, 498], after: [500, 501] });
    expect(reads).toBeLessThan(60);
    expect(entries).toBeLessThan(700);
  });

  it("are skipped by another value, and looked for no farther than 256 entries", async () => {
    const sessionOf = (n: number) => (n % 50 === 0 || n === 700 || n === 1_000 ? "rare" : "common");
    const entries = Array.from({ length: 1_400 }, (_, n) =>
      made(n, n, { metadata: JSON.stringify({ session: n > 700 && n < 1_000 ? "common" : sessionOf(n) }) }),
    );
    const logId = await service.write("sessions", entries);
    const same = ["session"];
    expect(await neighborsAt(logId, 401, { same })).toEqual({ before: [300, 350], after: [450, 500] });
    expect(await neighborsAt(logId, 701, { same })).toEqual({ before: [600, 650], after: [] });
    expect(await neighborsAt(logId, 1, { same, before: 5, after: 1 })).toEqual({ before: [], after: [50] });
  });

  it("of several results in one place read each memory once, whatever its value", async () => {
    const entries = Array.from({ length: 300 }, (_, n) => made(n, n, { metadata: `{"session":${n}}` }));
    const logId = await service.write("near", entries);
    let read = 0;
    const { log: plain } = service.storage;
    const log = withChanges(plain, {
      fetch: async (request) => {
        const fetched = await plain.fetch(request);
        read += fetched.found.length;
        return fetched;
      },
    });
    const values = new ValuesAt(["session"]);
    for (let sequence = 100; sequence < 120; sequence++)
      expect(await neighborsAt(logId, sequence, { log, values })).toEqual({ before: [], after: [] });
    expect(read).toBeLessThanOrEqual(entries.length);
  });
});
