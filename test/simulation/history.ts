import { type Entry, isEnd } from "../../src/memory/log.js";
import type { VirtualTime } from "./time.js";

interface Memory {
  readonly namespace: string;
  readonly text: string;
  /** Of the earliest answer. */
  id?: string;
  startedMs: number;
  storedMs?: number;
  deleteStartedMs?: number;
  deletedMs?: number;
}

interface Drop {
  readonly namespace: string;
  readonly startedMs: number;
  droppedMs?: number;
}

/** What callers did and were told, and what they may therefore expect. */
export class History {
  readonly #memories = new Map<string, Memory>();
  readonly #drops: Drop[] = [];
  /** The first promise that was broken, even when the call that saw it belongs to nobody any more. */
  #broken: Error | undefined;

  constructor(private readonly time: VirtualTime) {}

  async storing(of: { namespace: string; text: string }, work: () => Promise<string>): Promise<void> {
    const memory = this.#memories.get(of.text) ?? { ...of, startedMs: this.time.nowMs };
    this.#memories.set(of.text, memory);
    const id = await work();
    if (memory.id !== undefined && memory.id !== id) this.#break(`${of.text} was stored as two memories`);
    memory.id = id;
    memory.storedMs ??= this.time.nowMs;
  }

  async deleting(
    { namespace, chance }: { namespace: string; chance: number },
    work: (id: string) => Promise<void>,
  ): Promise<void> {
    const stored = [...this.#memories.values()].filter(
      (m) => m.namespace === namespace && m.id !== undefined,
    );
    const memory = stored[Math.floor(chance * stored.length)];
    if (memory === undefined) return;
    memory.deleteStartedMs ??= this.time.nowMs;
    await work(memory.id as string);
    memory.deletedMs ??= this.time.nowMs;
  }

  async dropping(namespace: string, work: () => Promise<unknown>): Promise<void> {
    const drop: Drop = { namespace, startedMs: this.time.nowMs };
    this.#drops.push(drop);
    await work();
  }

  /** Checks a recall that shows everything in its namespace. */
  async recalling(namespace: string, work: () => Promise<{ id: string; text: string }[]>): Promise<void> {
    const startedMs = this.time.nowMs;
    const results = await work();
    const endedMs = this.time.nowMs;
    const texts = results.map(({ text }) => text);
    if (new Set(texts).size < texts.length) this.#break(`${texts} holds a memory twice`);
    for (const memory of this.#memories.values()) {
      const shown = texts.includes(memory.text);
      if (memory.namespace !== namespace) {
        if (shown) this.#break(`${memory.text} was recalled from another namespace`);
      } else if (!shown && this.#mustShow(memory, { startedMs, endedMs })) {
        this.#break(`${memory.text} was stored at ${memory.storedMs} and missing at ${startedMs}–${endedMs}`);
      } else if (shown && this.#mustNotShow(memory, startedMs)) {
        this.#break(`${memory.text} was forgotten and shown at ${startedMs}–${endedMs}`);
      }
    }
    if (this.#broken) throw this.#broken;
  }

  /**
   * Dense numbers, and each memory once. Only a drop may come between two entries of one memory: a
   * store whose outcome nobody knew is tried again in the name's next incarnation.
   */
  checkLogs(logs: ReadonlyMap<string, ReadonlyMap<number, Entry>>): void {
    for (const [incarnation, log] of logs) {
      const seen = new Set<string>();
      for (let sequence = 1; sequence <= log.size; sequence++) {
        const entry = log.get(sequence);
        if (entry === undefined) this.#break(`${incarnation} has a hole at ${sequence}`);
        if (entry?.op !== "store" && entry?.op !== "erased") continue;
        if (seen.has(entry.id)) this.#break(`${entry.id} is in the log twice`);
        seen.add(entry.id);
      }
      const end = log.get(log.size);
      const left = [...log.values()].filter(({ op }) => op === "store").length;
      if (end && isEnd(end) && left > 0) this.#break(`${incarnation} has ended, and holds ${left} memories`);
    }
    if (this.#broken) throw this.#broken;
  }

  #mustShow(memory: Memory, { startedMs, endedMs }: { startedMs: number; endedMs: number }): boolean {
    if (memory.storedMs === undefined || memory.storedMs > startedMs) return false;
    if (memory.deleteStartedMs !== undefined && memory.deleteStartedMs <= endedMs) return false;
    // A drop that ended before the store began cannot have taken it along.
    return !this.#drops.some(
      (drop) =>
        drop.namespace === memory.namespace &&
        drop.startedMs <= endedMs &&
        (drop.droppedMs === undefined || drop.droppedMs >= memory.startedMs),
    );
  }

  #mustNotShow(memory: Memory, startedMs: number): boolean {
    if (memory.deletedMs !== undefined && memory.deletedMs < startedMs) return true;
    return this.#drops.some(
      (drop) =>
        drop.namespace === memory.namespace &&
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
