import { describe, expect, test } from "vitest";
import { LogFields, type LogFieldsOptions } from "../../src/memory/fields/log-fields.js";
import { parseFilter } from "../../src/memory/filter/parse.js";
import type { JsonObject } from "../../src/memory/input/json-object.js";
import type { Condition } from "../../src/memory/ports/condition.js";
import type { Appended } from "../../src/memory/ports/log.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "../memory/clock.js";
import { ScriptedLog } from "../memory/scripted-log.js";

function setUp(options: Partial<LogFieldsOptions> = {}) {
  const log = new ScriptedLog();
  const locate = async ({ id }: { id: string }) => {
    const at = log.entries.findLastIndex((entry) => entry.op === "store" && entry.id === id);
    return at < 0 ? undefined : at + 1;
  };
  const fields = new LogFields("i", { log: { ...log.port, locate }, clock: new HandClock(), ...options });
  const select = async (filter: JsonObject, until = log.entries.length) => {
    const condition = parseFilter(filter)?.condition as Condition;
    return [...(await fields.select({ condition, until })).sequences];
  };
  return { log, fields, select };
}

const withN = (n: number, more: JsonObject = {}) => aMemory({ metadata: JSON.stringify({ n, ...more }) });
const many = (count: number): Appended[] => Array.from({ length: count }, (_, i) => withN(i + 1));
const tombstone = (target: number) => ({ op: "delete", opId: `delete ${target}`, target }) as const;
const versionOf = (replaces: number, metadata: JsonObject) => ({
  ...aMemory({ metadata: JSON.stringify(metadata) }),
  replaces,
});
const numbered = (log: ScriptedLog, from: number) =>
  log.entries.slice(from - 1).map((entry, i) => ({ sequence: from + i, entry }));

describe("the fields of a log", () => {
  test("are read at the first filter, in slices, and then no more than what is new", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(1200));
    expect(fields.bytes).toBe(0);
    expect(fields.follows(1)).toBe(false);
    expect(await select({ n: { $in: [7, 1200, 5000] } })).toEqual([7, 1200]);
    expect(log.reads).toBe(5);
    await select({ n: 3 });
    expect(log.reads).toBe(5);
    log.add(withN(7));
    expect(await select({ n: 7 })).toEqual([7, 1201]);
    expect(log.reads).toBe(6);
    expect(fields.bytes).toBeGreaterThan(1201 * 20);
  });

  test("are read to the log's end, where the new versions are of memories that are erased", async () => {
    const { log, select } = setUp();
    log.add(...many(256), versionOf(5, { n: 5 }));
    log.erase(5);
    expect(await select({ n: 5 }, 256)).toEqual([257]);
  });

  test("let other work run between a read and what is added of it, and before the next read", async () => {
    const clock = new HandClock();
    const steps: string[] = [];
    const giveWay = clock.yield.bind(clock);
    clock.yield = () => {
      steps.push("pause");
      return giveWay();
    };
    const { log, select } = setUp({ clock });
    log.onRead = async () => {
      steps.push("read");
    };
    log.add(...many(600));
    await select({ n: 1 });
    expect(steps.join(" ")).toMatch(/^(read( pause){2,} ?){3}/);
  });

  test("are not read again where they are handed over", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(3));
    await select({ n: 1 });
    log.add(withN(1), tombstone(1));
    expect(fields.follows(4)).toBe(true);
    fields.take(numbered(log, 4));
    expect(await select({ n: 1 })).toEqual([4]);
    expect(log.reads).toBe(1);
  });

  test("are read where what is handed over has a gap before it, no metadata, or too much of it", async () => {
    for (const handOver of [
      (log: ScriptedLog) => numbered(log, 5),
      (log: ScriptedLog) => numbered(log, 4).map((each) => ({ ...each, entry: headOf(each.entry) })),
    ]) {
      const { log, fields, select } = setUp();
      log.add(...many(3));
      await select({ n: 1 });
      log.add(withN(1), withN(1));
      fields.take(handOver(log));
      expect(await select({ n: 1 })).toEqual([1, 4, 5]);
      expect(log.reads).toBe(2);
    }
    const { log, fields, select } = setUp();
    log.add(...many(3));
    await select({ n: 1 });
    log.add(...Array.from({ length: 5 }, () => withN(1, { long: "x".repeat(16_000) })), tombstone(1));
    fields.take(numbered(log, 4));
    // The deleted one is gone at once.
    expect(await select({ n: 1 }, 3)).toEqual([]);
    expect(await select({ n: 1 })).toEqual([4, 5, 6, 7, 8]);
  });

  test("forget what was deleted, also before its entry is read", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(4));
    await select({ n: 1 });
    fields.forget([2]);
    log.add(withN(9), withN(9));
    fields.forget([6]);
    expect(await select({ n: { $gte: 0 } })).toEqual([1, 3, 4, 5]);
  });

  test("know a memory by its id", async () => {
    const { log, select } = setUp();
    log.add(...many(4));
    const [, second] = log.entries as { id: string }[];
    expect(await select({ $id: (second as { id: string }).id })).toEqual([2]);
    expect(await select({ $id: { $nin: [(second as { id: string }).id, "mem_none"] } })).toEqual([1, 3, 4]);
  });

  test("forget a version that another one replaced, read or handed over", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(3), versionOf(1, { n: 2 }));
    expect(await select({ n: { $lte: 2 } })).toEqual([2, 4]);
    log.add(versionOf(4, { n: 5 }));
    fields.take(numbered(log, 5));
    expect(await select({ n: { $gte: 0 } })).toEqual([2, 3, 5]);
    // What is read later is gone at once, too.
    log.add(withN(8), versionOf(2, { n: 9 }));
    fields.take(numbered(log, 7));
    expect(await select({ n: { $gte: 0 } }, 5)).toEqual([3, 5]);
    expect(await select({ n: { $gte: 0 } })).toEqual([3, 5, 6, 7]);
  });

  test("have an updated memory once, whenever it is updated", async () => {
    const clock = new HandClock();
    const { log, fields, select } = setUp({ clock });
    for (let i = 0; i < 20; i++) log.add(...many(10_000));
    await select({ n: 1 });
    const { id } = log.entries[6] as { id: string };
    const filters = [{ n: { $not: { $gt: 9 } } }, { $id: id }, { $or: [{ $id: id }, { n: 3 }] }];
    for (const filter of filters) {
      const selecting = select(filter, log.entries.length);
      for (let i = 0; i < 30; i++) await Promise.resolve();
      const last = log.entries.length;
      const before = log.entries.findLastIndex((entry) => entry.op === "store" && entry.id === id) + 1;
      log.add({ ...versionOf(before, { n: 7 }), id });
      fields.take(numbered(log, last + 1));
      const found = await selecting;
      expect(found.filter((each) => each === before || each === last + 1).length).toBe(1);
      expect(await select(filter)).toContain(last + 1);
    }
  }, 30_000);

  test("are read further for an id whose memory was updated since", async () => {
    const { log, select } = setUp();
    log.add(...many(4));
    const { id } = log.entries[1] as { id: string };
    log.add({ ...versionOf(2, { n: 9 }), id });
    expect(await select({ $id: id }, 4)).toEqual([5]);
  });

  test("are read in the log for those that the index has no room for", async () => {
    const { log, select, fields } = setUp({ fieldsBytesMax: 20_000 });
    log.add(...many(2_000));
    expect(await select({ n: { $in: [3, 1999, 700] } })).toEqual([3, 700, 1999]);
    expect(await select({ n: { $not: { $gt: 2 } } })).toEqual([1, 2]);
    fields.forget([700]);
    log.erase(700);
    expect(await select({ n: { $in: [3, 1999, 700] } })).toEqual([3, 1999]);
    expect(fields.bytes).toBeLessThan(80_000);
  });

  test("are built anew when most of them are of deleted memories", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(20_000));
    await select({ n: 1 });
    const { reads } = log;
    for (let i = 1; i <= 18_000; i++) {
      log.erase(i);
      fields.forget([i]);
    }
    const before = fields.bytes;
    expect(await select({ n: { $gte: 17_999 } })).toEqual(
      Array.from({ length: 2_000 }, (_, i) => 18_001 + i),
    );
    expect(log.reads).toBeGreaterThan(reads);
    expect(fields.bytes).toBeLessThanOrEqual(before + 2_000 * 200);
  });

  test("are not built once they are stopped", async () => {
    const { log, fields, select } = setUp();
    log.add(...many(3));
    await fields.stop();
    await expect(select({ n: 1 })).rejects.toThrow("stopping");
  });

  test("a filter that its caller does not wait for ends", async () => {
    const { log, fields } = setUp();
    log.add(...many(3));
    const condition = parseFilter({ n: 1 })?.condition as Condition;
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(fields.select({ condition, until: 3, signal })).rejects.toThrow("gone");
  });
});

function headOf(entry: ScriptedLog["entries"][number]) {
  if (entry.op !== "store") return entry;
  const { text, metadata, ...head } = entry;
  return head;
}
