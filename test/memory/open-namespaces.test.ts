import { describe, expect, it } from "vitest";
import type { Appender } from "../../src/memory/log/appender.js";
import { type Open, OpenNamespaces } from "../../src/memory/log/open-namespaces.js";
import type { Replica } from "../../src/memory/log/replica.js";

const NO_ROWS = { tail: 0, removed: 0, behind: 0 };

/** Makes an open namespace of some bytes, and counts how often these are asked for. */
function anOpen(i: number, counted: { asked: number }) {
  const replica = {
    users: 0,
    size: 1,
    rowCounts: { vectors: NO_ROWS, words: NO_ROWS },
    own: 100,
    get bytes() {
      counted.asked++;
      return this.own;
    },
  };
  const scope = { accountId: `account${i % 7}`, namespace: `n${i}` };
  const open: Open = {
    scope,
    // Counting bytes and closing ask a replica for no more than this, and a real one needs a log and an index.
    replica: replica as unknown as Replica,
    appender: { waiting: 0 } as Appender,
    touchedMs: 0,
    gone: false,
  };
  return { open, replica };
}

function filled(bytesMax: number) {
  const counted = { asked: 0 };
  const closed: Replica[] = [];
  const namespaces = new OpenNamespaces(bytesMax, (replica) => closed.push(replica));
  const all = Array.from({ length: 1_000 }, (_, i) => anOpen(i, counted));
  for (const { open } of all) {
    namespaces.add(open);
    namespaces.evict(open);
  }
  return { counted, closed, namespaces, all };
}

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
});
