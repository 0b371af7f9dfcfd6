import { type Entry, isEnd } from "../../src/memory/ports/log.js";
import type { Database } from "./database.js";
import type { VirtualTime } from "./time.js";

/** A namespace with its account, as one string. */
export type Name = string;

interface Memory {
  readonly name: Name;
  readonly text: string;
  /** Id in the earliest answer. */
  id?: string;
  readonly startedMs: number;
  storedMs?: number;
  deleteStartedMs?: number;
  deletedMs?: number;
}

/** Something that empties one namespace or, by closing the account, several. */
interface Drop {
  holds(name: Name): boolean;
  readonly startedMs: number;
  droppedMs?: number;
}

/** A recalled memory; `words` is its share of the query's words, if they were asked for. */
interface Shown {
  readonly id: string;
  readonly text: string;
  readonly words: number | undefined;
}

/** Callers' requests and answers, and what callers may therefore expect. */
export class History {
  readonly #memories = new Map<string, Memory>();
  readonly #drops: Drop[] = [];
  /** First promise that was broken, even if the call that saw it was abandoned. */
  #broken: Error | undefined;
  /** Answered calls that cost one, by account. */
  readonly #paid = new Map<string, number>();
  /** Calls whose caller was told that they failed, or nothing. They may have been charged. */
  #unanswered = 0;

  constructor(private readonly time: VirtualTime) {}

  async storing(
    of: { accountId: string; name: Name; text: string },
    work: () => Promise<{ answered: { id: string }; replayed: boolean }>,
  ): Promise<void> {
    const { accountId, ...named } = of;
    const memory = this.#memories.get(of.text) ?? { ...named, startedMs: this.time.nowMs };
    this.#memories.set(of.text, memory);
    const { answered, replayed } = await this.#unlessUnanswered(work);
    if (!replayed) this.#pay(accountId);
    if (memory.id !== undefined && memory.id !== answered.id)
      this.#break(`${of.text} was stored as two memories`);
    memory.id = answered.id;
    memory.storedMs ??= this.time.nowMs;
  }

  async deleting(
    { name, chance }: { name: Name; chance: number },
    work: (id: string) => Promise<void>,
  ): Promise<void> {
    const stored = [...this.#memories.values()].filter((m) => m.name === name && m.id !== undefined);
    const memory = stored[Math.floor(chance * stored.length)];
    if (memory === undefined) return;
    memory.deleteStartedMs ??= this.time.nowMs;
    await work(memory.id as string);
    memory.deletedMs ??= this.time.nowMs;
  }

  async dropping(holds: (name: Name) => boolean, work: () => Promise<unknown>): Promise<void> {
    const drop: Drop = { holds, startedMs: this.time.nowMs };
    this.#drops.push(drop);
    await work();
    drop.droppedMs = this.time.nowMs;
  }

  /** Checks a recall that shows everything in its namespace. */
  async recalling(
    { accountId, name }: { accountId: string; name: Name },
    work: () => Promise<Shown[]>,
  ): Promise<void> {
    const startedMs = this.time.nowMs;
    const results = await this.#unlessUnanswered(work);
    this.#pay(accountId);
    this.#checkShown(name, { results, startedMs, endedMs: this.time.nowMs });
    this.check();
  }

  #checkShown(
    name: Name,
    { results, startedMs, endedMs }: { results: Shown[]; startedMs: number; endedMs: number },
  ): void {
    const ids = new Map(results.map(({ text, id }) => [text, id]));
    const unheard = new Set(results.filter(({ words }) => words === 0).map(({ text }) => text));
    if (ids.size < results.length) this.#break(`${results.map(({ text }) => text)} holds a memory twice`);
    for (const memory of this.#memories.values()) {
      const shown = ids.has(memory.text);
      if (memory.name !== name) {
        if (shown) this.#break(`${memory.text} was recalled from another namespace`);
      } else if (!shown && this.#mustShow(memory, { startedMs, endedMs })) {
        this.#break(`${memory.text} was stored at ${memory.storedMs} and missing at ${startedMs}–${endedMs}`);
      } else if (shown && this.#mustNotShow(memory, startedMs)) {
        this.#break(`${memory.text} was forgotten and shown at ${startedMs}–${endedMs}`);
      } else if (shown && memory.id !== undefined && memory.id !== ids.get(memory.text)) {
        this.#break(`${memory.text} was recalled by another id than it was stored with`);
      } else if (unheard.has(memory.text) && this.#mustShow(memory, { startedMs, endedMs })) {
        this.#break(`the words of ${memory.text} were missing at ${startedMs}–${endedMs}`);
      }
    }
  }

  /** Checks everything in the database when nothing runs any more. */
  checkDatabase(db: Database): void {
    const living = new Set(db.heads.values());
    for (const [logId, log] of db.logs) this.#checkLog(logId, { log, living: living.has(logId) });
    for (const name of db.heads.keys()) {
      const [accountId = ""] = name.split(" ");
      if (!db.accounts.has(accountId)) this.#break(`${name} is left of an account that was closed`);
    }
    if (db.erasures.size > 0) this.#break("an erasure was left over");
    this.#checkCharges(db);
    this.check();
  }

  /**
   * Checks that numbers are dense and each memory occurs once. Only a drop may come between two entries of
   * one memory: a store whose outcome was unknown is tried again in the name's next log.
   */
  #checkLog(logId: string, { log, living }: { log: ReadonlyMap<number, Entry>; living: boolean }): void {
    const seen = new Set<string>();
    for (let sequence = 1; sequence <= log.size; sequence++) {
      const entry = log.get(sequence);
      if (entry === undefined) this.#break(`${logId} has a hole at ${sequence}`);
      if (entry !== undefined && isEnd(entry) && sequence < log.size)
        this.#break(`${logId} goes on behind its end`);
      if (entry?.op !== "store" && entry?.op !== "erased") continue;
      if (seen.has(entry.id)) this.#break(`${entry.id} is in ${logId} twice`);
      seen.add(entry.id);
      if (entry.op !== "store") continue;
      if (!living) this.#break(`${logId}, which nobody reads, still holds ${entry.text}`);
      const memory = this.#memories.get(entry.text);
      if (memory === undefined || this.#mustNotShow(memory, this.time.nowMs)) {
        this.#break(`${logId} still holds ${entry.text}, which was forgotten`);
      }
    }
  }

  #checkCharges(db: Database): void {
    for (const accountId of db.accounts.keys()) {
      const [charged, paid] = [db.charged.get(accountId) ?? 0, this.#paid.get(accountId) ?? 0];
      const excused = this.#unanswered + db.unclearCharges;
      if (charged < paid) this.#break(`${paid} calls of ${accountId} were answered, and ${charged} charged`);
      if (charged > paid + excused) {
        this.#break(`${charged} calls of ${accountId} were charged, ${paid} answered, ${excused} unclear`);
      }
    }
  }

  /**
   * Checks all promises.
   *
   * @throws Error the first promise that was broken.
   */
  check(): void {
    if (this.#broken) throw this.#broken;
  }

  #pay(accountId: string): void {
    this.#paid.set(accountId, (this.#paid.get(accountId) ?? 0) + 1);
  }

  /** A call that fails by itself is refunded. For one that was cut off, this is not known. */
  async #unlessUnanswered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error && error.name === "MemoryError")) this.#unanswered++;
      throw error;
    }
  }

  #mustShow(memory: Memory, { startedMs, endedMs }: { startedMs: number; endedMs: number }): boolean {
    if (memory.storedMs === undefined || memory.storedMs > startedMs) return false;
    if (memory.deleteStartedMs !== undefined && memory.deleteStartedMs <= endedMs) return false;
    // A drop that ended before the store began cannot have removed it.
    return !this.#drops.some(
      (drop) =>
        drop.holds(memory.name) &&
        drop.startedMs <= endedMs &&
        (drop.droppedMs === undefined || drop.droppedMs >= memory.startedMs),
    );
  }

  #mustNotShow(memory: Memory, startedMs: number): boolean {
    if (memory.deletedMs !== undefined && memory.deletedMs < startedMs) return true;
    return this.#drops.some(
      (drop) =>
        drop.holds(memory.name) &&
        memory.storedMs !== undefined &&
        memory.storedMs < drop.startedMs &&
        drop.droppedMs !== undefined &&
        drop.droppedMs < startedMs,
    );
  }

  #break(what: string): void {
    this.#broken ??= new Error(what);
  }
}
