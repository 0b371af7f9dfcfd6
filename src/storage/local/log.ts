import { setImmediate as nextTurn } from "node:timers/promises";
import type { RootDatabase } from "lmdb";
import { FIRST_EDITION } from "../../memory/edition.js";
import type { Head, Log, Measured, Named, Numbered, Scope, Stored } from "../../memory/log.js";
import { durably, reading } from "./durably.js";
import { Entries } from "./entries.js";
import { Names } from "./names.js";

/** Entries decoded before other work gets its turn: 64 of the longest take about 10 ms. */
const SLICE_ENTRIES = 64;

type Several = Parameters<Log["erase"]>[0];

/** The log in LMDB. */
export class LocalLog implements Log {
  readonly #names: Names;
  readonly #entries: Entries;
  /** The latest append to each incarnation that the disk does not have yet. */
  readonly #appending = new Map<string, Promise<number>>();

  constructor(root: RootDatabase) {
    this.#names = new Names(root);
    this.#entries = new Entries(root);
  }

  async find(scope: Scope): Promise<string | undefined> {
    return reading(() => this.#names.find(scope));
  }

  async create(scope: Scope, edition = FIRST_EDITION): Promise<string> {
    return (
      (await this.find(scope)) ?? durably(this.#names.db, () => this.#names.findOrCreate(scope, edition))
    );
  }

  async rename(scope: Scope, of: { from: string; to: string }): Promise<void> {
    await durably(this.#names.db, () => this.#names.rename(scope, of));
  }

  async names(of: { after?: Scope | undefined; limit: number }): Promise<Named[]> {
    return reading(() => this.#names.all(of));
  }

  async retire(scope: Scope, incarnation: string): Promise<void> {
    await durably(this.#names.db, () => this.#names.remove(scope, incarnation));
  }

  async list(of: Parameters<Log["list"]>[0]): Promise<Head[]> {
    return reading(() => this.#names.list(of));
  }

  async measure({ incarnation }: { incarnation: string }): Promise<Measured> {
    let measured: Measured = { memories: 0, bytes: 0 };
    const slices = this.#entries.measure(incarnation);
    for (let slice = reading(() => slices.next()); !slice.done; slice = reading(() => slices.next())) {
      measured = slice.value;
      await nextTurn();
    }
    return this.#settled(incarnation, measured);
  }

  async incarnations({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    return reading(() => this.#entries.incarnations(after, limit));
  }

  async append(batch: Parameters<Log["append"]>[0]): Promise<number> {
    const { incarnation } = batch;
    const appending = durably(this.#entries.db, () => this.#entries.insert(batch));
    this.#appending.set(incarnation, appending);
    try {
      return await appending;
    } finally {
      if (this.#appending.get(incarnation) === appending) this.#appending.delete(incarnation);
    }
  }

  async read({ incarnation, from, limit }: Parameters<Log["read"]>[0]): Promise<Numbered[]> {
    const found: Numbered[] = [];
    for (let sequence = from; found.length < limit; sequence++) {
      const entry = reading(() => this.#entries.get([incarnation, sequence]));
      if (entry === undefined) break;
      found.push({ sequence, entry });
      if (found.length % SLICE_ENTRIES === 0) await nextTurn();
    }
    return this.#settled(incarnation, found);
  }

  async last(incarnation: string): Promise<Numbered | undefined> {
    return this.#settled(
      incarnation,
      reading(() => this.#entries.last(incarnation)),
    );
  }

  async fetch({ incarnation, sequences }: Several): Promise<Numbered<Stored>[]> {
    const found: Numbered<Stored>[] = [];
    for (const [i, sequence] of sequences.entries()) {
      const entry = reading(() => this.#entries.get([incarnation, sequence]));
      if (entry?.op === "store") found.push({ sequence, entry });
      if ((i + 1) % SLICE_ENTRIES === 0) await nextTurn();
    }
    return found;
  }

  async locate({ incarnation, id }: { incarnation: string; id: string }): Promise<number | undefined> {
    return this.#settled(
      incarnation,
      reading(() => this.#entries.locate(incarnation, id)),
    );
  }

  async erase({ incarnation, sequences }: Several): Promise<void> {
    await durably(this.#entries.db, () => {
      for (const sequence of sequences) this.#entries.erase([incarnation, sequence]);
    });
  }

  /** Answers once the disk has it: what was read may be committed, and so visible, but not there yet. */
  async #settled<T>(incarnation: string, read: T): Promise<T> {
    await this.#appending.get(incarnation);
    return read;
  }
}
