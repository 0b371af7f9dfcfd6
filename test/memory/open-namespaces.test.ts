import { describe, expect, it } from "vitest";
import type { Appender } from "../../src/memory/log/appender.js";
import { OPEN_MAX, type Open, OpenNamespaces } from "../../src/memory/log/open-namespaces.js";
import type { Replica } from "../../src/memory/log/replica.js";

const NO_ROWS = { tail: 0, removed: 0, backlog: 0 };

/** Makes an open namespace of some bytes, and counts how often these are asked for. */
function anOpen(i: number, counted: { asked: number; looked: number }, accountId = `account${i % 7}`) {
  const replica = {
    get users() {
      counted.looked++;
      return 0;
    },
    index: {
      size: 1,
      vectors: {
        waiting: 0,
        copiedBytes: 0,
        releaseCopies() {
          this.copiedBytes = 0;
        },
      },
      rowCounts: { vectors: NO_ROWS, words: NO_ROWS },
    },
    own: 100,
    get bytes() {
      counted.asked++;
      return this.own + this.index.vectors.copiedBytes;
    },
  };
  const scope = { accountId, namespace: `n${i}` };
  const open: Open = {
    scope,
    // Counting bytes and closing ask a replica for no more than this, and a real one needs a log and an index.
    replica: replica as unknown as Replica,
    appender: { waiting: 0 } as Appender,
    touchedMs: 0,
    lastUse: 0,
    gone: false,
  };
  return { open, replica };
}

function filled(bytesMax: number) {
  const counted = { asked: 0, looked: 0 };
  const closed: Replica[] = [];
  const namespaces = new OpenNamespaces(bytesMax, (replica) => closed.push(replica));
  const all = Array.from({ length: 1_000 }, (_, i) => anOpen(i, counted));
  for (const { open } of all) {
    namespaces.add(open);
    namespaces.evict(open);
  }
  return { counted, closed, namespaces, all };
}

describe("copies of vectors", () => {
  /** Opens two namespaces that are used, and make copies, in turns; returns what is closed. */
  function usedInTurns({ bytesMax, times }: { bytesMax: number; times: readonly number[] }): Replica[] {
    const counted = { asked: 0, looked: 0 };
    const closed: Replica[] = [];
    const namespaces = new OpenNamespaces(bytesMax, (replica) => closed.push(replica));
    const two = [anOpen(1, counted), anOpen(2, counted)];
    for (const { open } of two) {
      namespaces.add(open);
      namespaces.evict(open);
    }
    for (const [i, many] of times.entries()) {
      const { open, replica } = two[i % 2] as (typeof two)[number];
      for (let use = 0; use < many; use++) {
        namespaces.add(open);
        replica.index.vectors.copiedBytes = 20;
        namespaces.evict(open);
      }
      if (closed.length === 0) expect(namespaces.measure().bytes).toBeLessThanOrEqual(bytesMax);
    }
    return closed;
  }
  const IN_TURNS = [1, 1, 1, 1, 1, 1];

  it.each([
    { fit: "beside those of one of them", bytesMax: 225 },
    { fit: "without any", bytesMax: 205 },
  ])("are released before a namespace is closed: two that fit $fit stay open", ({ bytesMax }) => {
    expect(usedInTurns({ bytesMax, times: IN_TURNS })).toEqual([]);
  });

  it("are kept, and the namespace used longest ago is closed, if another one is used on and on", () => {
    expect(usedInTurns({ bytesMax: 205, times: [1, 50] })).toEqual([]);
    expect(usedInTurns({ bytesMax: 205, times: [1, 200] })).toHaveLength(1);
  });

  it("are kept, and idle namespaces closed, if that is enough for those that are used in turns", () => {
    const counted = { asked: 0, looked: 0 };
    const closed: Replica[] = [];
    const namespaces = new OpenNamespaces(325, (replica) => closed.push(replica));
    const all = [0, 1, 2].map((i) => anOpen(i, counted));
    for (const { open } of all) {
      namespaces.add(open);
      namespaces.evict(open);
    }
    let released = 0;
    for (let use = 0; use < 400; use++) {
      const { open, replica } = all[1 + (use % 2)] as (typeof all)[number];
      const { vectors } = replica.index;
      if (use > 2 && vectors.copiedBytes === 0) released++;
      namespaces.add(open);
      vectors.copiedBytes = 20;
      namespaces.evict(open);
    }
    expect(closed).toEqual([all[0]?.open.replica]);
    expect(released).toBeLessThan(100);
  });

  it("are kept if a namespace must be closed all the same", () => {
    const counted = { asked: 0, looked: 0 };
    const closed: Replica[] = [];
    const namespaces = new OpenNamespaces(350, (replica) => closed.push(replica));
    const all = Array.from({ length: 4 }, (_, i) => anOpen(i, counted));
    for (const { open, replica } of all) {
      replica.index.vectors.copiedBytes = 10;
      namespaces.add(open);
      namespaces.evict(open);
    }
    expect(closed).toEqual([all[0]?.open.replica]);
    expect(all.slice(1).map(({ replica }) => replica.index.vectors.copiedBytes)).toEqual([10, 10, 10]);
  });
});

describe("many open namespaces", () => {
  it("are not measured anew for each that grows", () => {
    const { counted, closed, namespaces, all } = filled(200_000);
    counted.asked = 0;
    for (const { open, replica } of all) {
      replica.own += 50;
      namespaces.evict(open);
    }
    expect(counted.asked).toBeLessThan(5_000);
    expect(closed).toEqual([]);
    expect(namespaces.isFull).toBe(false);
  });

  it("are closed, the least recently used first, once they have grown over the budget together", () => {
    const { closed, namespaces, all } = filled(200_000);
    const grow = ({ open, replica }: (typeof all)[number], bytes: number) => {
      replica.own += bytes;
      namespaces.add(open);
      namespaces.evict(open);
    };
    for (const each of all.slice(0, 600)) grow(each, 150);
    expect(closed).toEqual([]);
    grow(all[0] as (typeof all)[number], 20_000);
    expect(closed).toEqual(all.slice(600, 700).map(({ open }) => open.replica));
    expect(namespaces.measure().bytes).toBe(200_000);
  });

  it("are looked at once, however many are closed together", () => {
    const { counted, closed, namespaces, all } = filled(200_000);
    const [{ open, replica }] = all as [(typeof all)[number]];
    replica.own = 150_000;
    namespaces.add(open);
    counted.looked = 0;
    namespaces.evict(open);
    expect(closed).toHaveLength(499);
    expect(counted.looked).toBeLessThan(2_000);
  });

  it("are closed of an account that holds more than half of the budget, until it holds half, then of all", () => {
    const { closed, namespaces, all } = filled(200_000);
    const isHeavy = ({ open }: (typeof all)[number]) => open.scope.accountId === "account3";
    for (const each of all) each.replica.own = isHeavy(each) ? 800 : 200;
    namespaces.measure();
    namespaces.evict((all.at(-1) as (typeof all)[number]).open);
    // The 143 of that account hold 114,400 bytes.
    const first = all.filter(isHeavy).slice(0, 18);
    const others = all.filter((each) => !first.includes(each));
    const expected = [...first, ...others].slice(0, closed.length);
    expect(closed).toEqual(expected.map(({ open }) => open.replica));
    expect(closed.length).toBeGreaterThan(200);
  });

  it("are not all looked at for each that is opened when there are too many", () => {
    const { counted, namespaces } = filled(2_000_000_000);
    for (let i = 1_000; i < OPEN_MAX; i++) namespaces.add(anOpen(i, counted).open);
    Object.assign(counted, { asked: 0, looked: 0 });
    for (let i = 0; i < 500; i++) {
      const { open } = anOpen(OPEN_MAX + i, counted);
      namespaces.add(open);
      namespaces.evict(open);
    }
    expect(namespaces.all.length).toBeLessThanOrEqual(OPEN_MAX);
    expect(counted.asked).toBeLessThan(1_000);
    expect(counted.looked).toBeLessThan(100_000);
  });

  it("are closed of an account that has more than half of them, when there are too many", () => {
    const { counted, closed, namespaces, all } = filled(2_000_000_000);
    for (let i = 1_000; i <= OPEN_MAX; i++) {
      const { open } = anOpen(i, counted, "account of many");
      namespaces.add(open);
      namespaces.evict(open);
    }
    expect(closed.length).toBeGreaterThan(0);
    expect(all.filter(({ open }) => open.gone)).toEqual([]);
  });
});
