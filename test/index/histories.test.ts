import { mkdtempSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eraseUnreadable, openIndexes } from "../../src/index/open.js";
import { turn } from "../../src/memory/pacing/turn.js";
import type { Index, Indexes, IndexRow } from "../../src/memory/ports/index.js";
import type { Mark } from "../../src/memory/ports/vectors.js";
import { type Chance, chanceOf } from "../support/chance.js";

const LOG_ID = "0123456789abcdef";
const HISTORIES = process.env.QUICK === "1" ? 12 : 60;
const STEPS = 25;
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor"];

/** An entry of the log: a memory, or a tombstone. */
type Entry = { readonly store: IndexRow } | { readonly target: number };

/** One log, its index with files, and what the index must answer. */
class History {
  readonly log: Entry[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "recalld-index-"));
  readonly troubles: unknown[] = [];
  indexes: Indexes;
  index: Index;

  constructor(private readonly chance: Chance) {
    this.indexes = this.#open();
    this.index = this.indexes.open(LOG_ID);
  }

  #open(): Indexes {
    const onTrouble = (error: unknown) => void this.troubles.push(error);
    return openIndexes({
      folder: this.folder,
      clock: { yield: turn },
      fileBytesMin: 3_000,
      quietMs: 5,
      onTrouble,
    });
  }

  pick(below: number): number {
    return this.chance.below(below);
  }

  /** Living memories by number. */
  get living(): Map<number, IndexRow> {
    const living = new Map<number, IndexRow>();
    for (const entry of this.log) {
      if ("store" in entry) living.set(entry.store.sequence, entry.store);
      else living.delete(entry.target);
    }
    return living;
  }

  get mark(): Mark {
    return { sequence: this.log.length, opId: `op${this.log.length}` };
  }

  store(): Promise<void> {
    const rows = Array.from({ length: 1 + this.pick(20) }, () => this.#memory());
    return this.index.add(rows, this.mark);
  }

  #memory(): IndexRow {
    const sequence = this.log.length + 1;
    const words = Array.from({ length: 1 + this.pick(12) }, () => WORDS[this.pick(WORDS.length)]);
    const metadata = JSON.stringify({
      color: WORDS[this.pick(3)],
      size: this.pick(5),
      [`path${sequence}end`]: `value${sequence}end`,
    });
    const row: IndexRow = {
      sequence,
      memory: {
        ...{ op: "store", opId: `op${sequence}`, id: `mem_${sequence}`, text: words.join(" "), metadata },
        ...{ tokens: 1, createdAtMs: 1_000 * sequence, externalId: `external${sequence}end` },
      },
    };
    this.log.push({ store: row });
    return row;
  }

  async remove(): Promise<void> {
    const living = [...this.living.keys()];
    const targets = Array.from({ length: 1 + this.pick(6) }, () => living[this.pick(living.length)] ?? 0);
    for (const target of targets) this.log.push({ target });
    const added = this.index.add([], this.mark);
    await this.index.remove(targets);
    await added;
    this.expectGone();
  }

  /** Opens the index again, as a process does that has died, or was stopped. */
  async restart({ isClean }: { isClean: boolean }): Promise<void> {
    if (isClean) await this.index.close({ keeps: true });
    else await this.index.close({ keeps: false });
    if (this.pick(3) === 0) this.#damage();
    await eraseUnreadable(this.folder);
    this.indexes = this.#open();
    this.index = this.indexes.open(LOG_ID);
    const restored = await this.index.restore();
    for (const { sequence, opId } of restored?.marks ?? []) expect(opId).toBe(`op${sequence}`);
    const living = this.living;
    for (const gap of restored?.gaps ?? []) {
      const rows = [...living.values()].filter(
        ({ sequence }) => sequence > gap.after && sequence <= gap.upto,
      );
      await this.index.fill(gap, slices(rows));
    }
    const upto = restored?.upto ?? 0;
    const news = [...living.values()].filter(({ sequence }) => sequence > upto);
    await this.index.add(news, this.mark);
    const tombstones = this.log.slice(upto).flatMap((entry) => ("target" in entry ? [entry.target] : []));
    await this.index.remove(tombstones);
  }

  /** Damages a file as a disk may, or leaves a draft as a crash may. */
  #damage(): void {
    const names = this.#files();
    const name = names[this.pick(names.length)];
    if (name === undefined) return;
    const bytes = readFileSync(name);
    if (this.pick(2) === 0) truncateSync(name, this.pick(bytes.length));
    else {
      const at = this.pick(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ 255;
      writeFileSync(name, bytes);
    }
    writeFileSync(join(this.folder, LOG_ID, "draft.segment"), "value1end");
  }

  #files(): string[] {
    return readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  }

  /** No file has the bytes of a memory that was removed. */
  expectGone(): void {
    const living = this.living;
    const files = this.#files().map((name) => readFileSync(name));
    for (const entry of this.log) {
      if (!("store" in entry) || living.has(entry.store.sequence)) continue;
      const { sequence } = entry.store;
      for (const needle of [`path${sequence}end`, `value${sequence}end`, `external${sequence}end`]) {
        expect(files.some((bytes) => bytes.includes(needle))).toBe(false);
      }
    }
  }

  /** The index answers as one does that was built of what lives at once. */
  async compare(): Promise<void> {
    const plain = this.indexes.openUnsaved();
    await plain.add([...this.living.values()], this.mark);
    expect(this.index.size).toBe(this.living.size);
    const text = `${WORDS[this.pick(WORDS.length)]} ${WORDS[this.pick(WORDS.length)]}`;
    const condition = {
      kind: "test",
      field: ["color"],
      test: { op: "in", values: new Set([WORDS[this.pick(3)] as string]) },
    } as const;
    const answers = async (index: Index) => {
      const among = await this.indexes.select([index], { condition, ids: new Map() });
      const found = await this.indexes.searchWords([index], { text, limit: 10 });
      return {
        selected: [...among.sequences],
        found,
        filtered: await this.indexes.searchWords([index], { text, limit: 10, among }),
        scored: await this.indexes.scoreWords([index], found.query, [...this.living.keys()].slice(0, 20)),
        sample: await this.indexes.sample([index]),
      };
    };
    expect(await answers(this.index)).toEqual(await answers(plain));
  }
}

async function* slices(rows: readonly IndexRow[]): AsyncGenerator<IndexRow[]> {
  for (let from = 0; from < rows.length; from += 7) yield rows.slice(from, from + 7);
}

it("an index answers like one built at once, after any history, and no file has what was removed", async () => {
  let restored = 0;
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const history = new History(chanceOf(seed));
    for (let step = 0; step < STEPS; step++) {
      const choice = history.pick(10);
      if (choice < 5) await history.store();
      else if (choice < 8) await history.remove();
      else {
        await history.restart({ isClean: choice === 8 });
        if (history.index.size > 0) restored++;
      }
      await history.compare();
    }
    await history.index.close({ keeps: true });
    history.expectGone();
    expect(history.troubles).toEqual([]);
  }
  expect(restored).toBeGreaterThan(HISTORIES);
});
