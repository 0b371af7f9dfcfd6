import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { unavailable } from "../../src/errors.js";
import { eraseExpired, eraseForgotten } from "../../src/memory/erasure/sweeping.js";
import { countMemories } from "../../src/memory/operations/count.js";
import { store } from "../../src/memory/operations/store.js";
import { type UpdateRequest, updateMemory } from "../../src/memory/operations/update.js";
import type { Log, Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import type { SecondaryIndexes } from "../../src/memory/ports/secondary-indexes.js";
import { entriesOf } from "../contract/samples.js";
import {
  CALLER,
  DIMENSIONS,
  type Domain,
  memoryOf,
  plainVectors,
  scopeOf,
  TestService,
  until,
} from "./domain.js";
import { hit } from "./plain-index.js";

const idOf = (n: number) => `mem_${String(n).padStart(26, "0")}`;
const vectorOf = (n: number) => {
  const vector = new Float32Array(DIMENSIONS);
  vector[n % DIMENSIONS] = 1;
  return vector;
};
const memory = (n: number, given: Partial<Stored> = {}) =>
  memoryOf({ sequence: n, vector: vectorOf(n) }, { id: idOf(n), opId: idOf(n), text: `text ${n}`, ...given });
const memories = (count: number) => Array.from({ length: count }, (_, i) => memory(i + 1));
const query = new Float32Array(DIMENSIONS).fill(1 / Math.sqrt(DIMENSIONS));

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

function update(domain: Domain, n: number, given: Partial<UpdateRequest>) {
  // Neither has an idempotency key.
  const ports = { ...domain.ports, idempotency: undefined as never };
  return updateMemory(ports, { caller: CALLER, namespace: "a", id: idOf(n), ...given });
}
function gate(): [passed: Promise<void>, open: () => void] {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [passed, open];
}
const read = (logId: string) => entriesOf(service.storage.log, { logId, from: 1, limit: 1_000 });

/** Makes the log of a process that dies before it erases anything. */
function dying(log: Log): Log {
  return withChanges(log, { erase: () => Promise.reject(new Error("died")) });
}

/** Makes secondary indexes in which others do something each time before they tell what hides memories. */
function beforeSpecial(secondaryIndexes: SecondaryIndexes, doing: () => Promise<void>): SecondaryIndexes {
  return withChanges(secondaryIndexes, {
    listSupersedingAndExpiring: async (request) => {
      await doing();
      return secondaryIndexes.listSupersedingAndExpiring(request);
    },
  });
}

describe("updating a memory", () => {
  it("erases the old text and vector from the database and from the index's files", async () => {
    const logId = await service.write("a", memories(300));
    const domain = service.domain();
    await domain.recall("a", query);
    await until(() => service.hasSnapshot(logId));
    expect(await service.indexes.holds(logId, [7])).toEqual([7]);
    const { memory: updated } = await update(domain, 7, { text: "new words" });
    expect(updated).toMatchObject({ id: idOf(7), text: "new words" });
    expect(await service.indexes.holds(logId, [7])).toEqual([]);
    const entries = await read(logId);
    expect(entries[6]?.entry.op).toBe("erased");
    expect(entries.at(-1)).toMatchObject({ sequence: 301, entry: { replaces: 7, text: "new words" } });
    expect(await domain.size("a")).toBe(300);
    expect(await service.domain().size("a")).toBe(300);
  });

  it("keeps the vector of a text that does not change, and embeds nothing", async () => {
    const logId = await service.write("a", memories(3));
    const domain = service.domain();
    Object.assign(domain.ports.modelVersions, { embed: () => Promise.reject(new Error("must not embed")) });
    await update(domain, 2, { metadata: { a: 1 } });
    const last = (await read(logId)).at(-1)?.entry as Stored;
    expect(last).toMatchObject({ id: idOf(2), text: "text 2", metadata: '{"a":1}', replaces: 2 });
    expect(last.vectors).toEqual(vectorOf(2));
  });

  it("finds the memory in the name's next log when another process has ended the one that it holds", async () => {
    const logId = await service.write("a", memories(3));
    const domain = service.domain();
    await domain.recall("a", query);
    await service.write("a", [{ op: "drop", opId: "end" }]);
    await service.storage.names.retire(scopeOf("a"), logId);
    await service.write("a", [memory(50)]);
    await expect(update(domain, 50, { metadata: { a: 1 } })).resolves.toMatchObject({ replayed: false });
    await expect(update(domain, 2, { metadata: { a: 1 } })).rejects.toThrow("no memory with this id");
  });

  it("is finished by a sweep if its process dies before it erases the old version", async () => {
    const logId = await service.write("a", memories(3));
    const domain = service.domain({ log: dying(service.storage.log) });
    await expect(update(domain, 2, { text: "new words" })).rejects.toThrow("died");
    const other = service.domain();
    expect((await other.recall("a", query, 9))?.filter((id) => id === idOf(2))).toHaveLength(1);
    expect(await eraseForgotten(other.ports)).toBe(1);
    expect((await read(logId)).map(({ entry }) => entry.op)).toEqual(["store", "erased", "store", "store"]);
    expect(await eraseForgotten(other.ports)).toBe(0);
  });

  it("loses none of 20 updates at once, on two processes", async () => {
    const logId = await service.write("a", memories(1));
    const domains = [service.domain(), service.domain()] as const;
    const texts = Array.from({ length: 20 }, (_, i) => `version ${i}`);
    await Promise.all(texts.map((text, i) => update(domains[i % 2] as Domain, 1, { text })));
    const entries = await read(logId);
    expect(entries.map(({ entry }) => (entry as Stored).replaces)).toEqual([
      undefined,
      ...texts.map((_, i) => i + 1),
    ]);
    expect(entries.filter(({ entry }) => entry.op === "store")).toHaveLength(1);
  });
});

describe("a replica that begins with its index's files", () => {
  it("hides what was superseded or expires, and finds as many others", async () => {
    const first = memories(40);
    const supersedes = Array.from({ length: 16 }, (_, i) => i + 1);
    const superseding = memory(41, { supersedes });
    const due = Array.from({ length: 20 }, (_, i) => memory(50 + i, { expiresAtMs: Date.now() - 1 }));
    const logId = await service.write("a", [...first, superseding, ...due, ...memories(300).slice(100)]);
    const before = service.domain();
    const visibleIds = async (domain: Domain) => new Set(await domain.recall("a", query, 20));
    const hidden = [...supersedes.map(idOf), ...due.map(({ id }) => id)];
    for (const id of await visibleIds(before)) expect(hidden).not.toContain(id);
    await until(() => service.hasSnapshot(logId));
    await before.namespaces.close();
    const after = service.domain();
    const found = await visibleIds(after);
    expect(found.size).toBe(20);
    for (const id of found) expect(hidden).not.toContain(id);
  });
});

describe("a search that runs", () => {
  it("does not show a memory that is superseded and deleted meanwhile", async () => {
    await service.write("a", [memory(1)]);
    const [isOpen, open] = gate();
    const [isSearching, begin] = gate();
    const search = async () => {
      begin();
      await isOpen;
      return [hit(1), hit(2)];
    };
    const { vectors } = plainVectors(() => ({ search }));
    const domain = service.domain({ vectors });
    const recalled = domain.recall("a", query);
    await isSearching;
    const tombstone = { op: "delete", opId: "tombstone", target: 1 } as const;
    await domain.append("a", memory(2, { supersedes: [1] }));
    await domain.namespaces.ifOpen(scopeOf("a"), ({ appender }) => appender.append(tombstone));
    open();
    expect(await recalled).toEqual([idOf(2)]);
  });

  it("does not find what had expired before it was stored, though words have read on further", async () => {
    await service.write("a", [memory(1)]);
    const domain = service.domain();
    await domain.recall("a", query);
    await service.write("a", [memory(2, { expiresAtMs: 1 })]);
    const matches = await domain.namespaces.using(scopeOf("a"), async ({ replica }) => {
      return (await replica.searching((search) => search.matchWords("text"))).matches;
    });
    expect(matches).toEqual([1]);
  });
});

describe("a memory that has expired", () => {
  it("does not come back beside the one that has its external id since, though a clock is behind", async () => {
    const expiresAtMs = Date.now() - 1;
    const logId = await service.write("a", [memory(1, { externalId: "x", expiresAtMs })]);
    const other = { caller: CALLER, namespace: "a", text: "text 2", externalId: "x" };
    const { ports } = service.domain();
    await store({ ...ports, idempotency: undefined as never }, other);
    // Its tombstone is the record by which the sweep erases its text.
    await eraseForgotten(ports);
    expect((await read(logId))[0]?.entry.op).toBe("erased");

    const clock = { ...systemClock, wallMs: () => expiresAtMs - 1 };
    const behind = service.domain({ clock });
    await expect(update(behind, 1, { expiry: { ttlMs: 60_000 } })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await countMemories(behind.ports, { caller: CALLER, namespace: "a" })).toBe(1);
  });

  it("is erased with a tombstone, once, whoever sweeps", async () => {
    const logId = await service.write("a", [memory(1, { expiresAtMs: Date.now() - 1 }), memory(2)]);
    const domains = [service.domain(), service.domain()] as const;
    await Promise.all(domains.map(({ ports }) => eraseExpired(ports)));
    const entries = await read(logId);
    expect(entries.slice(0, 2).map(({ entry }) => entry.op)).toEqual(["erased", "store"]);
    expect(entries.slice(2).every(({ entry }) => entry.op === "delete" && entry.target === 1)).toBe(true);
    expect(await eraseExpired(domains[0].ports)).toBe(0);
    expect(await service.storage.erasures.list({ limit: 9 })).toEqual([]);
  });

  it("is taken out of the index's files together with the others of its namespace: these are read each time", async () => {
    const expired = [1, 2, 3].map((n) => memory(n, { expiresAtMs: Date.now() - n }));
    const logId = await service.write("a", [...expired, memory(4)]);
    const { ports } = service.domain();
    const wiped: (readonly number[])[] = [];
    const wipe: typeof ports.indexes.wipe = async (wipedId, sequences) => {
      if (wipedId === logId) wiped.push(sequences.toSorted());
      await ports.indexes.wipe(wipedId, sequences);
    };
    expect(await eraseExpired({ ...ports, indexes: withChanges(ports.indexes, { wipe }) })).toBe(3);
    expect(wiped).toEqual([[1, 2, 3]]);
    const kinds = (await read(logId)).map(({ entry }) => entry.op);
    expect(kinds).toEqual(["erased", "erased", "erased", "store", "delete", "delete", "delete"]);
  });

  it("is erased though the erasing of others fails, in however many namespaces", async () => {
    const expired = (n: number) => memory(n, { expiresAtMs: Date.now() - 100 + n });
    const failing = new Set<string>();
    for (let n = 1; n <= 20; n++) failing.add(await service.write(`broken ${n % 10}`, [expired(n)]));
    const logId = await service.write("whole", [expired(21)]);
    const { ports } = service.domain();
    const wipe: typeof ports.indexes.wipe = async (logId, sequences) => {
      if (failing.has(logId)) throw unavailable("an index file of this namespace could not be erased");
      await ports.indexes.wipe(logId, sequences);
    };
    const sweeping = { ...ports, indexes: withChanges(ports.indexes, { wipe }) };
    await expect(eraseExpired(sweeping)).rejects.toThrow("could not be erased");
    expect((await read(logId))[0]?.entry.op).toBe("erased");
    // The next sweep knows by its tombstone that it is to be erased: another one would lengthen the log.
    const [first = ""] = failing;
    await eraseExpired(sweeping).catch(() => {});
    const targets = (await read(first)).map(({ entry }) => entry.op === "delete" && entry.target);
    expect(targets).toEqual([false, false, 1, 2]);
    await expect(eraseForgotten(sweeping)).rejects.toThrow("could not be erased");
    expect(await eraseForgotten(ports)).toBe(failing.size * 2);
  });

  it("is not counted, though it is erased in the middle of the counting", async () => {
    const expired = [1, 2].map((n) => memory(n, { expiresAtMs: Date.now() - 1 }));
    await service.write("a", [...expired, memory(3)]);
    const secondaryIndexes = beforeSpecial(service.storage.secondaryIndexes, async () => {
      await eraseExpired(service.domain().ports);
    });
    const { ports } = service.domain({ secondaryIndexes });
    expect(await countMemories(ports, { caller: CALLER, namespace: "a" })).toBe(1);
  });

  it("is not counted for long, though others change the namespace all the time", async () => {
    await service.write("a", [memory(1, { expiresAtMs: Date.now() - 1 })]);
    let stored = 0;
    const secondaryIndexes = beforeSpecial(service.storage.secondaryIndexes, async () => {
      await service.write("a", [memory(2 + stored++)]);
    });
    const { ports } = service.domain({ secondaryIndexes });
    const counted = await countMemories(ports, { caller: CALLER, namespace: "a" });
    expect(counted).toBe(stored);
    expect(stored).toBeLessThan(10);
  });
});
