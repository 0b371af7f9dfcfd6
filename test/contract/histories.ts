import { describe, expect, it } from "vitest";
import {
  type Appended,
  type Entry,
  forgottenBy,
  remainderOf,
  type Stored,
} from "../../src/memory/ports/log.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aMemory, anLogId, entriesOf, memoriesOf, nextOf } from "./samples.js";

const HISTORIES = 8;
const STEPS = 40;
const EXTERNAL_IDS = ["x", "y", "\u{10ffff}", "__proto__", "a:b"];
const TIMES_MS = [1, 1_000, 4_102_444_800_000];

/** A log as it must be after some appends and erasures. */
class Model {
  readonly logId = anLogId();
  readonly entries: Appended[] = [];

  get numbers(): number[] {
    return this.entries.map((_, i) => i + 1);
  }

  at(sequence: number): Appended {
    return this.entries[sequence - 1] as Appended;
  }

  memories(): [sequence: number, memory: Stored][] {
    return this.numbers.flatMap((sequence) => {
      const entry = this.at(sequence);
      return entry.op === "store" ? [[sequence, entry]] : [];
    });
  }

  /** Memories that nothing has replaced or deleted. */
  current(): [sequence: number, memory: Stored][] {
    const gone = new Set(this.entries.map((entry) => ("target" in entry ? entry.target : replacedBy(entry))));
    return this.memories().filter(([sequence]) => !gone.has(sequence));
  }

  erase(sequence: number): void {
    const entry = this.at(sequence);
    if (entry.op === "store") this.entries[sequence - 1] = remainderOf(entry);
  }

  versions(id: string): number[] {
    return this.numbers.filter((sequence) => idOf(this.at(sequence)) === id);
  }
}

function replacedBy(entry: Appended): number | undefined {
  return entry.op === "store" || entry.op === "erased" ? entry.replaces : undefined;
}

function idOf(entry: Entry<"header">): string | undefined {
  return entry.op === "store" || entry.op === "erased" ? entry.id : undefined;
}

/** Contract of every log and its secondary indexes: they agree with a model after any history. */
export function historiesContract(name: string, make: MakeDatabase): void {
  describe(`histories of logs: ${name}`, () => {
    const used = useDatabase(make);

    const step = async (model: Model, chance: Chance) => {
      const { logId } = model;
      const [some, other] = [chance.pick(model.current()), chance.pick(model.current())];
      if (chance.below(4) === 0 && model.entries.length > 0) {
        const sequences = [
          1 + chance.below(model.entries.length),
          1 + chance.below(model.entries.length + 3),
        ];
        await used.storage.log.erase({ logId, sequences });
        for (const sequence of sequences) if (sequence <= model.entries.length) model.erase(sequence);
        return;
      }
      const expiresAtMs = chance.pick([undefined, undefined, ...TIMES_MS]);
      const given = {
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        ...(other !== undefined && chance.below(4) === 0 && { supersedes: [other[0]] }),
      };
      const taken = new Set(model.memories().map(([, { externalId }]) => externalId));
      const externalId = chance.pick([undefined, ...EXTERNAL_IDS.filter((each) => !taken.has(each))]);
      const entries: Appended[] = [
        some !== undefined && chance.below(3) === 0
          ? nextOf(some[1], some[0], {
              ...given,
              ...(some[1].externalId && { externalId: some[1].externalId }),
            })
          : some !== undefined && chance.below(5) === 0
            ? { op: "delete", opId: `d${model.entries.length}`, target: some[0] }
            : aMemory({ ...given, ...(externalId !== undefined && { externalId }) }),
      ];
      const from = model.entries.length + 1;
      if (chance.below(5) === 0 && from > 1) {
        expect(await used.storage.log.append({ logId, from: from - 1, entries })).toBe(0);
      }
      expect(await used.storage.log.append({ logId, from, entries })).toBe(1);
      model.entries.push(...entries);
    };

    const compare = async (all: Model) => {
      const { log, secondaryIndexes } = used.storage;
      const { logId, entries } = all;
      const read = await entriesOf(log, { logId, from: 1, limit: entries.length + 9 });
      expect(read.map(({ entry }) => entry)).toEqual(entries);
      const memories = all.memories();
      const found = await memoriesOf(log, { logId, sequences: all.numbers });
      expect(found.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(memories.map(([i]) => i));
      expect((await log.last(logId))?.sequence ?? 0).toBe(entries.length);
      for (const id of new Set(entries.map(idOf))) {
        if (id === undefined) continue;
        const last = all.versions(id).at(-1) as number;
        const expected = all.at(last).op === "store" ? last : undefined;
        expect(await secondaryIndexes.locate({ logId, id })).toBe(expected);
      }
      const written = entries.filter((entry) => idOf(entry) !== undefined);
      const opIds = [...written.map(({ opId }) => opId), "none"];
      const byOperation = new Map(
        written.map((entry) => {
          const id = idOf(entry) as string;
          const own = entries.indexOf(entry) + 1;
          return [entry.opId, entry.opId === id ? (all.versions(id).at(-1) as number) : own] as const;
        }),
      );
      expect(await secondaryIndexes.findByOperation({ logId, opIds })).toEqual(byOperation);
      const supersedingAndExpiring = all.numbers.flatMap((sequence) => {
        const { supersedes, expiresAtMs } = all.at(sequence) as Partial<Stored>;
        if (supersedes === undefined && expiresAtMs === undefined) return [];
        return [{ sequence, ...(supersedes && { supersedes }), ...(expiresAtMs && { expiresAtMs }) }];
      });
      const listed = await secondaryIndexes.listSupersedingAndExpiring({ logId, from: 1, limit: 999 });
      expect(listed).toEqual(supersedingAndExpiring);
      const untilMs = TIMES_MS[1] as number;
      const due = memories.flatMap(([sequence, { expiresAtMs = Number.POSITIVE_INFINITY }]) =>
        expiresAtMs <= untilMs ? [{ logId, sequence, expiresAtMs }] : [],
      );
      due.sort((a, b) => a.expiresAtMs - b.expiresAtMs || a.sequence - b.sequence);
      const expired = await secondaryIndexes.expired({ untilMs, limit: 9_999 });
      expect(expired.filter((each) => each.logId === logId)).toEqual(due);
      const forgotten = entries.map(forgottenBy).filter((sequence) => sequence !== undefined);
      const unerased = forgotten.filter((sequence) => all.at(sequence).op === "store");
      const left = (await secondaryIndexes.unerased({ limit: 9_999 })).filter((each) => each.logId === logId);
      expect(new Set(left.map(({ sequence }) => sequence))).toEqual(new Set(unerased));
      for (const [target] of memories) {
        const by = all.numbers.filter((sequence) => {
          const entry = all.at(sequence);
          const supersedes = (entry as Partial<Stored>).supersedes ?? [];
          return (
            (entry.op === "delete" && entry.target === target) ||
            replacedBy(entry) === target ||
            supersedes.includes(target)
          );
        });
        const replacements = await secondaryIndexes.findReplacements({ logId, sequences: [target] });
        const latest = Math.max(0, ...replacements.map(({ sequence }) => sequence));
        expect(latest).toBe(by.at(-1) ?? 0);
      }
      const living = all.current().filter(([, { externalId }]) => externalId !== undefined);
      for (const [sequence, { externalId = "" }] of living) {
        expect(await secondaryIndexes.findByExternalId({ logId, externalId })).toBe(sequence);
      }
    };

    it.each(Array.from({ length: HISTORIES }, (_, i) => i + 1))("agree with a model (%i)", async (seed) => {
      const chance = chanceOf(seed);
      const models = [new Model(), new Model()];
      for (let i = 0; i < STEPS; i++) await step(chance.pick(models), chance);
      for (const model of models) await compare(model);
      await used.reopen();
      for (const model of models) {
        await compare(model);
        // Until they are erased, replaced versions may count or not.
        const { logId, entries } = model;
        const replaced = entries.map(replacedBy).filter((sequence) => sequence !== undefined);
        await used.storage.log.erase({ logId, sequences: replaced });
        for (const sequence of replaced) model.erase(sequence);
        const left = model.memories().map(([, { text, metadata }]) => Buffer.byteLength(text + metadata));
        const bytes = left.reduce((sum, each) => sum + each, 0);
        expect(await used.storage.log.measure({ logId })).toEqual({ memories: left.length, bytes });
        await compare(model);
      }
    });
  });
}
