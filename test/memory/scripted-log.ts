import type {
  Appended,
  Entry,
  Log,
  MemoryHeader,
  Projected,
  Projection,
  Sequences,
  Stored,
} from "../../src/memory/ports/log.js";
import type {
  Replacement,
  SecondaryIndexes,
  SupersedingOrExpiring,
} from "../../src/memory/ports/secondary-indexes.js";
import { project } from "../support/project.js";

type Batch = Parameters<Log["append"]>[0];

/** One log in memory, whose appends and reads follow a test's script. */
export class ScriptedLog {
  readonly entries: Entry[] = [];
  /** Every batch that was to be written. */
  readonly batches: Batch[] = [];
  reads = 0;
  /** Action on an append; `insert` makes the append happen. */
  onAppend: (insert: () => number, batch: Batch) => Promise<number> = async (insert) => insert();
  onRead: () => Promise<void> = async () => {};
  onList: () => Promise<void> = async () => {};

  insert({ from, entries }: Pick<Batch, "from" | "entries">): number {
    if (from !== this.entries.length + 1) return 0;
    this.entries.push(...entries);
    return entries.length;
  }

  /** Adds entries of another process after all others. */
  add(...entries: Entry[]): void {
    this.entries.push(...entries);
  }

  /** Turns a memory into what is left of one. */
  erase(sequence: number): void {
    const { opId, id, tokens, createdAtMs } = this.entries[sequence - 1] as MemoryHeader;
    this.entries[sequence - 1] = { op: "erased", opId, id, tokens, createdAtMs };
  }

  get ports(): { readonly log: Log; readonly secondaryIndexes: SecondaryIndexes } {
    return { log: this.#log as Log, secondaryIndexes: this.#secondaryIndexes as SecondaryIndexes };
  }

  get #secondaryIndexes(): Pick<SecondaryIndexes, "listSupersedingAndExpiring" | "findReplacements"> {
    return {
      listSupersedingAndExpiring: async ({ from, limit }) => {
        await this.onList();
        return this.#supersedingAndExpiring.filter(({ sequence }) => sequence >= from).slice(0, limit);
      },
      findReplacements: async ({ sequences }) =>
        this.entries.flatMap((entry, i) => replacementsBy(i + 1, entry, sequences)),
    };
  }

  get #log(): Pick<Log, "append" | "read" | "last" | "fetch"> {
    return {
      append: (batch) => {
        this.batches.push(batch);
        return this.onAppend(() => this.insert(batch), batch);
      },
      read: async ({ from, limit, projection }) => {
        this.reads++;
        await this.onRead();
        const some = this.entries.slice(from - 1, from - 1 + limit);
        return {
          entries: some.map((entry, i) => ({ sequence: from + i, entry: project(entry, projection) })),
          complete: some.length < limit,
        };
      },
      last: async () => {
        const entry = this.entries.at(-1);
        return entry && { sequence: this.entries.length, entry: project(entry, "header") };
      },
      fetch: async <W extends Projection>({ sequences, projection }: Sequences & { projection: W }) => {
        const found = sequences.flatMap((sequence) => {
          const entry = this.entries[sequence - 1];
          return entry?.op === "store"
            ? [{ sequence, entry: project(entry, projection) as Projected[W] }]
            : [];
        });
        return { found, rest: [] };
      },
    };
  }

  get #supersedingAndExpiring(): SupersedingOrExpiring[] {
    return this.entries.flatMap((entry, i): SupersedingOrExpiring[] => {
      const { supersedes, expiresAtMs } = entry as Partial<Stored>;
      if (supersedes === undefined && expiresAtMs === undefined) return [];
      return [{ sequence: i + 1, ...(supersedes && { supersedes }), ...(expiresAtMs && { expiresAtMs }) }];
    });
  }

  /** Counts an operation's entries. */
  countOf({ opId }: Appended): number {
    return this.entries.filter((entry) => entry.opId === opId).length;
  }
}

function replacementsBy(sequence: number, entry: Entry, targets: readonly number[]): Replacement[] {
  const by = (how: Replacement["how"], target: number | undefined, id: string): Replacement[] =>
    target !== undefined && targets.includes(target) ? [{ target, sequence, how, id }] : [];
  if (entry.op === "delete") return by("deleted", entry.target, "");
  if (entry.op !== "store" && entry.op !== "erased") return [];
  const superseded = (entry.supersedes ?? []).flatMap((target) => by("superseded", target, entry.id));
  return [...by("replaced", entry.replaces, entry.id), ...superseded];
}
