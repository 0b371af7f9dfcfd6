import { unavailable } from "../../errors.js";
import { matches } from "../filter/matches.js";
import { Piece } from "../pacing/bounds.js";
import type { Clock } from "../pacing/clock.js";
import { coalesce } from "../pacing/coalesce.js";
import { mapSome } from "../pacing/map-some.js";
import { inPieces } from "../pacing/pieces.js";
import { type Condition, testsOf } from "../ports/condition.js";
import { type EventOrder, firstByEventTime, type Happened } from "../ports/event-order.js";
import { type Entry, forgottenBy, type Log, type Numbered, type Seen } from "../ports/log.js";
import { FieldIndex, type Ids } from "./field-index.js";
import type { Selection } from "./selection.js";

/** Entries read at a time; a slice's bytes bound them too. */
const READ_MANY = 256;
/** Characters of metadata that are added with a store; more are left to the next filter. */
const TAKEN_CHARS_MAX = 65_536;
/** Ids that are looked up at a time. */
const LOCATE_MANY = 8;
/** Maximum number of looks for memories by their ids, which others may update meanwhile. */
const LOOKS_MAX = 20;
/** Size from which on the metadata of further memories is read in the log for each filter. */
const FIELDS_BYTES_MAX = 536_870_912;

export interface LogFieldsOptions {
  readonly log: Pick<Log, "read" | "fetch" | "locate">;
  readonly clock: Clock;
  readonly fieldsBytesMax?: number | undefined;
}

/** Question for the memories that match a condition. */
export interface Selecting {
  readonly condition: Condition;
  /** Number of the log up to which all entries must be seen. */
  readonly until: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The fields of one log's memories, of which an index is built from the log at the first filter. From then on
 * it takes the entries that the replica applies, if none is missing before them.
 */
export class LogFields {
  #index: FieldIndex | undefined;
  #applied = 0;
  /** Number up to which calls want the log applied. */
  #wanted = 0;
  #isBuilt = false;
  #catchingUp = false;
  #stopped = false;
  /** New versions of memories that were applied during each selection that runs. */
  readonly #selecting = new Set<Numbered<Seen["text"]>[]>();
  /** Memories to forget that it has not read yet. */
  readonly #forgotten = new Set<number>();
  readonly #catchUpOnce = coalesce(async () => {
    this.#catchingUp = true;
    try {
      await this.#catchUp();
    } finally {
      this.#catchingUp = false;
    }
  });

  constructor(
    private readonly logId: string,
    private readonly options: LogFieldsOptions,
  ) {}

  get bytes(): number {
    return this.#index?.bytes ?? 0;
  }

  /** Tells whether it wants the metadata of the entries from this number on. */
  follows(sequence: number): boolean {
    return this.#isBuilt && this.#applied >= sequence - 1;
  }

  /**
   * Selects the memories that match a condition. The first call builds the index. A memory that is updated
   * meanwhile is looked at in one version.
   */
  async select({ condition, until, signal }: Selecting): Promise<Selection> {
    for (let looks = 1; ; looks++) {
      signal?.throwIfAborted();
      const ids = await this.#locate(condition);
      const index = await this.#indexOf(Math.max(until, ...ids.values()));
      // Another version may have replaced one that was just found.
      if (looks < LOOKS_MAX && ![...ids.values()].every((each) => index.has(each))) continue;
      const selected = await this.#selectIn(index, { condition, ids });
      // One that was thrown away meanwhile does not know which memories were deleted since.
      if (this.#index !== index) continue;
      const selection = selected.selection.with(selected.news);
      if (selected.unknown.length === 0) return selection;
      return selection.with(await this.#examine(selected.unknown, { condition, signal }));
    }
  }

  /** Lists the first of some memories in the order of their event times. */
  async inEventOrder(selection: Selection, order: EventOrder): Promise<Happened[]> {
    const { times } = await this.#indexOf(selection.last ?? 0);
    return inPieces(firstByEventTime([times], selection, order), this.options.clock);
  }

  /** Looks up when memories happened, up to a number of the log; those that are gone are left out. */
  async eventTimesOf(
    sequences: readonly number[],
    { until }: Pick<Selecting, "until">,
  ): Promise<Map<number, number>> {
    const index = await this.#indexOf(until);
    return new Map(
      sequences.flatMap((sequence) => {
        const atMs = index.eventAtMsOf(sequence);
        return atMs === undefined ? [] : [[sequence, atMs] as const];
      }),
    );
  }

  /** Answers the index when it has all entries up to a number. */
  async #indexOf(until: number): Promise<FieldIndex> {
    for (;;) {
      this.#wanted = Math.max(this.#wanted, until);
      if (!this.follows(until + 1)) await this.#catchUpOnce();
      if (this.#index !== undefined && this.follows(until + 1)) return this.#index;
    }
  }

  /** Selects in pieces; `news` are the matching versions that replaced others meanwhile. */
  async #selectIn(index: FieldIndex, { condition, ids }: { condition: Condition; ids: Ids }) {
    const versions: Numbered<Seen["text"]>[] = [];
    this.#selecting.add(versions);
    try {
      const selected = await inPieces(index.select(condition, ids), this.options.clock);
      const news = versions.filter(({ sequence, entry }) => index.has(sequence) && matches(condition, entry));
      return { ...selected, news: news.map(({ sequence }) => sequence) };
    } finally {
      this.#selecting.delete(versions);
    }
  }

  /** Takes entries of the log that were applied elsewhere, in their order. */
  take(entries: readonly Numbered<Entry<"head">>[]): void {
    const isNext = this.#isBuilt && !this.#catchingUp && entries[0]?.sequence === this.#applied + 1;
    if (!isNext || !haveMetadata(entries) || charsOf(entries) > TAKEN_CHARS_MAX) {
      // Deleted and replaced values leave at once, whenever the rest is read.
      this.forget(entries.flatMap(({ entry }) => forgottenBy(entry) ?? []));
      return;
    }
    for (const each of entries) {
      // A removal may have thrown the index away.
      if (this.#isBuilt) this.#apply(each);
    }
  }

  /** Removes memories, which may be entries that it has not read yet. */
  forget(sequences: readonly number[]): void {
    if (this.#index === undefined || sequences.length === 0) return;
    if (!this.#index.canRemove(sequences.length)) this.#discard();
    for (const sequence of sequences) {
      if (sequence > this.#applied) this.#forgotten.add(sequence);
      else this.#index?.remove(sequence);
    }
    if (this.#index?.isWasteful && !this.#catchingUp) this.#discard();
  }

  /** Stops the building of the index; resolves when nothing is added any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#catchUpOnce().catch(() => {});
  }

  /** Throws the index away: the next filter builds it anew. */
  #discard(): void {
    this.#index = undefined;
    this.#isBuilt = false;
    this.#applied = 0;
    this.#forgotten.clear();
  }

  /** Reads to the log's end, where the new versions are of memories that it finds erased. */
  async #catchUp(): Promise<void> {
    for (let isAtEnd = false; !isAtEnd || this.#index === undefined || this.#applied < this.#wanted; ) {
      if (this.#stopped) throw unavailable("the service is stopping");
      this.#index ??= new FieldIndex(this.options.fieldsBytesMax ?? FIELDS_BYTES_MAX);
      isAtEnd = await this.#read();
      // A long log is read in slices, so that other calls are served in between.
      await this.options.clock.yield();
    }
    this.#isBuilt = true;
  }

  /** Reads some entries; answers whether they were the log's last ones. */
  async #read(): Promise<boolean> {
    const { log, clock } = this.options;
    const index = this.#index;
    const range = { logId: this.logId, from: this.#applied + 1, limit: READ_MANY, what: "text" } as const;
    const { entries, complete } = await log.read(range);
    if (entries.length === 0 && this.#applied < this.#wanted) {
      throw unavailable("the log ends before an entry that was read");
    }
    // Reading them has held the main thread for some time already.
    await clock.yield();
    let piece = new Piece();
    for (const each of entries) {
      // It was thrown away meanwhile, or has been stopped.
      if (this.#index !== index || this.#stopped) return false;
      this.#apply(each);
      if (!piece.isOver) continue;
      await clock.yield();
      piece = new Piece();
    }
    return complete;
  }

  #apply({ sequence, entry }: Numbered<Entry<"text">>): void {
    if (sequence !== this.#applied + 1) throw new Error(`log gap before ${sequence}`);
    this.#applied = sequence;
    const isForgotten = this.#forgotten.delete(sequence);
    if (entry.op === "store" && !isForgotten) {
      this.#index?.add(sequence, entry);
      if (entry.replaces !== undefined) {
        for (const versions of this.#selecting) versions.push({ sequence, entry });
      }
    }
    const target = forgottenBy(entry);
    if (target !== undefined) this.forget([target]);
  }

  /** Finds the memories that a condition names by id. */
  async #locate(condition: Condition): Promise<Map<unknown, number>> {
    const ids = new Set<unknown>();
    for (const { field, test } of testsOf(condition)) {
      if (field === "$id" && test.op === "in") for (const id of test.values) ids.add(id);
    }
    const { logId } = this;
    const found = await mapSome([...ids], LOCATE_MANY, async (id) => {
      return [id, await this.options.log.locate({ logId, id: String(id) })] as const;
    });
    return new Map(
      found.flatMap(([id, sequence]) => (sequence === undefined ? [] : [[id, sequence] as const])),
    );
  }

  /** Reads the memories that the index had no room for, and answers those that match. */
  async #examine(
    unknown: readonly number[],
    { condition, signal }: Pick<Selecting, "condition" | "signal">,
  ): Promise<number[]> {
    const { log, clock } = this.options;
    const found: number[] = [];
    for (let rest: readonly number[] = unknown; rest.length > 0; ) {
      const slice = await log.fetch({ logId: this.logId, sequences: rest, what: "text" });
      for (const { sequence, entry } of slice.found) if (matches(condition, entry)) found.push(sequence);
      rest = slice.rest;
      await clock.yield();
      signal?.throwIfAborted();
    }
    return found;
  }
}

function haveMetadata(
  entries: readonly Numbered<Entry<"head">>[],
): entries is readonly Numbered<Entry<"text">>[] {
  return entries.every(({ entry }) => entry.op !== "store" || "metadata" in entry);
}

function charsOf(entries: readonly Numbered<Entry<"text">>[]): number {
  return entries.reduce((sum, { entry }) => sum + (entry.op === "store" ? entry.metadata.length : 0), 0);
}
