import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { yieldToEventLoop } from "../../src/concurrency/yield-to-event-loop.js";
import { eraseUnreadable, openIndexes } from "../../src/index/open.js";
import type { Index, Indexes, IndexRow, Mark } from "../../src/memory/ports/index.js";
import { plainIndex } from "../memory/plain-index.js";
import { vectorsOf } from "../memory/unsaved-indexes.js";
import type { Chance } from "../support/chance.js";

const LOG_ID = "0123456789abcdef";
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor"];

/** An entry of the log: a memory, or a tombstone. */
type Entry = { readonly store: IndexRow } | { readonly target: number };

export interface HistoryOptions {
  readonly chance: Chance;
  /** Folder of the log's file, and of the index's files; it may be of an earlier process. */
  readonly folder: string;
  /** Bytes of segments that are merged without letting other work run. */
  readonly mergedAtOnceBytes?: number;
}

/** A log in a file, its index with files, and what the index must answer. */
export class History {
  /** Number of segments that were read from files so far. */
  restored = 0;
  readonly troubles: unknown[] = [];
  readonly #log: Entry[];
  readonly #folder: string;
  readonly #logFile: string;
  readonly #chance: Chance;
  #indexes: Indexes;
  #index: Index;
  #working: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: HistoryOptions) {
    this.#chance = options.chance;
    this.#folder = join(options.folder, "index");
    this.#logFile = join(options.folder, "log");
    const text = existsSync(this.#logFile) ? readFileSync(this.#logFile, "utf8") : "";
    // The last line may be cut short: that entry was never written.
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    this.#log = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Entry);
    this.#indexes = this.#open();
    this.#index = this.#indexes.open(LOG_ID);
  }

  /** Does something at random. */
  async step(): Promise<void> {
    const choice = this.#pick(10);
    const doing = choice < 5 ? this.#store() : this.#remove();
    this.#working = Promise.all([this.#working, doing]);
    if (this.#pick(2) === 0) return;
    await this.#working;
    this.expectGone();
  }

  /** Opens the index again, as a process does that was stopped. */
  async restart(): Promise<void> {
    await this.close({ retainFiles: this.#pick(2) === 0 });
    if (this.#pick(3) === 0) this.#damage();
    this.#indexes = this.#open();
    this.#index = this.#indexes.open(LOG_ID);
    await this.restore();
  }

  async close(how: { retainFiles: boolean }): Promise<void> {
    await this.#working;
    await this.#index.close(how);
  }

  /** Fills the index from its files and from the log, as a replica does. */
  async restore(): Promise<void> {
    await eraseUnreadable(this.#folder);
    const restored = await this.#index.restore();
    for (const { sequence, opId } of restored?.marks ?? []) assert.equal(opId, `op${sequence}`);
    this.restored += restored?.marks.length ?? 0;
    const living = [...this.#living.values()];
    for (let { gap } = this.#index; gap !== undefined; { gap } = this.#index) {
      const upto = Math.min(gap.upto, gap.after + 1 + this.#pick(20));
      const { after } = gap;
      const rows = living.filter(({ sequence }) => sequence > after && sequence <= upto);
      await this.#index.fill(rows, upto);
    }
    const upto = restored?.upto ?? 0;
    const news = living.filter(({ sequence }) => sequence > upto);
    await this.#index.add(news, this.#mark);
    await this.#index.remove(
      this.#log.slice(upto).flatMap((entry) => ("target" in entry ? [entry.target] : [])),
    );
    this.expectGone();
  }

  /** Compares with an index that is built of what lives at once. */
  async compare(): Promise<void> {
    const plain = this.#indexes.openUnsaved(LOG_ID);
    await plain.add([...this.#living.values()], this.#mark);
    const text = `${this.#word()} ${this.#word()}`;
    const test = { op: "in", values: new Set([this.#word()]) } as const;
    const condition = { kind: "test", field: ["color"], test } as const;
    const some = [...this.#living.keys()].slice(0, 20);
    const answersOf = async (index: Index) => {
      const among = await this.#indexes.select([index], { condition, ids: () => new Map() });
      const found = await this.#indexes.searchWords([index], { text, limit: 10 });
      return {
        found,
        all: await this.#indexes.searchWords([index], { text: WORDS.join(" "), limit: 1_000 }),
        selected: [...among.sequences],
        filtered: await this.#indexes.searchWords([index], { text, limit: 10, among }),
        scored: await this.#indexes.scoreWords([index], found.query, some),
        oldest: await this.#indexes.inEventOrder([index], among, { isNewestFirst: false, limit: 9 }),
        times: await this.#indexes.eventTimesOf([index], [...this.#living.keys(), 1]),
        sample: await this.#indexes.sample([index]),
        size: index.size,
      };
    };
    assert.deepEqual(await answersOf(this.#index), await answersOf(plain));
  }

  /** No file has the bytes of a memory that was removed. */
  expectGone(): void {
    const living = this.#living;
    const bytes = Buffer.concat(this.#files().map(bytesOf));
    for (const entry of this.#log) {
      if (!("store" in entry) || living.has(entry.store.sequence)) continue;
      const { sequence } = entry.store;
      for (const needle of ["path", "value", "external"]) {
        assert(!bytes.includes(`${needle}${sequence}end`), `${needle} of ${sequence}`);
      }
    }
  }

  #open(): Indexes {
    const { mergedAtOnceBytes } = this.options;
    return openIndexes({
      vectors: vectorsOf(() => plainIndex()),
      folder: this.#folder,
      clock: { yield: yieldToEventLoop },
      fileBytesMin: 2_000,
      mergedAtOnceBytes,
      quietMs: 5,
      onTrouble: (error) => this.troubles.push(error),
    });
  }

  #pick(below: number): number {
    return this.#chance.below(below);
  }

  #word(): string {
    return this.#chance.pick(WORDS);
  }

  get #living(): Map<number, IndexRow> {
    const living = new Map<number, IndexRow>();
    for (const entry of this.#log) {
      if ("store" in entry) living.set(entry.store.sequence, entry.store);
      else living.delete(entry.target);
    }
    return living;
  }

  get #mark(): Mark {
    return { sequence: this.#log.length, opId: `op${this.#log.length}` };
  }

  #append(entries: readonly Entry[]): void {
    this.#log.push(...entries);
    appendFileSync(this.#logFile, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  }

  #store(): Promise<void> {
    const first = this.#log.length + 1;
    const rows = Array.from({ length: 1 + this.#pick(20) }, (_, i) => this.#memory(first + i));
    this.#append(rows.map((store) => ({ store })));
    return this.#index.add(rows, this.#mark);
  }

  #memory(sequence: number): IndexRow {
    const text = Array.from({ length: 1 + this.#pick(12) }, () => this.#word()).join(" ");
    const own = { [`path${sequence}end`]: `value${sequence}end` };
    const metadata = JSON.stringify({ color: this.#word(), size: this.#pick(5), ...own });
    const ids = { opId: `op${sequence}`, id: `mem_${sequence}`, externalId: `external${sequence}end` };
    const times = { createdAtMs: 1_000 * sequence, eventAtMs: 1_000 * this.#pick(40) };
    const memory = { op: "store", ...ids, text, metadata, tokens: 1, ...times } as const;
    return { sequence, memory };
  }

  async #remove(): Promise<void> {
    const living = [...this.#living.keys()];
    const targets = Array.from({ length: 1 + this.#pick(6) }, () => living[this.#pick(living.length)] ?? 0);
    this.#append(targets.map((target) => ({ target })));
    await Promise.all([this.#index.add([], this.#mark), this.#index.remove(targets)]);
  }

  /** Changes or cuts a file as a disk may do it, and leaves a draft as a crash does. */
  #damage(): void {
    const names = this.#files().filter((name) => readFileSync(name).length > 0);
    if (names.length === 0) return;
    const name = this.#chance.pick(names);
    const bytes = readFileSync(name);
    const at = this.#pick(bytes.length);
    if (this.#pick(3) === 0) truncateSync(name, at);
    else {
      bytes[at] = (bytes[at] ?? 0) ^ 255;
      writeFileSync(name, bytes);
    }
    writeFileSync(join(this.#folder, LOG_ID, "draft.segment"), "value1end");
  }

  #files(): string[] {
    if (!existsSync(this.#folder)) return [];
    return readdirSync(this.#folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  }
}

/** Bytes of a file; none if it was erased since it was listed, as one that was merged into another. */
function bytesOf(name: string): Buffer {
  try {
    return readFileSync(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
