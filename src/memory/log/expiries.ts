/** Memory that an entry takes, in bytes: a time and a number. */
const ENTRY_BYTES = 16;

/** The times when memories expire, as a heap: the earliest is at its top. */
export class Expiries {
  readonly #timesMs: number[] = [];
  readonly #sequences: number[] = [];
  /** The latest time of those that were taken out. */
  takenMs = Number.NEGATIVE_INFINITY;

  /** Size in memory, in bytes. */
  get bytes(): number {
    return this.#timesMs.length * ENTRY_BYTES;
  }

  add(sequence: number, expiresAtMs: number): void {
    let at = this.#timesMs.length;
    for (let above = (at - 1) >> 1; at > 0 && this.#timeAt(above) > expiresAtMs; above = (at - 1) >> 1) {
      this.#move(above, at);
      at = above;
    }
    this.#set(at, sequence, expiresAtMs);
  }

  /** Takes out memories that have expired by a time, the earliest first. */
  take(nowMs: number, limit: number): number[] {
    const expired: number[] = [];
    while (expired.length < limit && this.#timesMs.length > 0 && this.#timeAt(0) <= nowMs) {
      this.takenMs = Math.max(this.takenMs, this.#timeAt(0));
      expired.push(this.#takeFirst());
    }
    return expired;
  }

  #takeFirst(): number {
    const first = this.#sequences[0] as number;
    const [timeMs, sequence] = [this.#timesMs.pop() as number, this.#sequences.pop() as number];
    const { length } = this.#timesMs;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = right < length && this.#timeAt(right) < this.#timeAt(left) ? right : left;
      if (below >= length || this.#timeAt(below) >= timeMs) break;
      this.#move(below, at);
      at = below;
    }
    this.#set(at, sequence, timeMs);
    return first;
  }

  #timeAt(at: number): number {
    return this.#timesMs[at] as number;
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#sequences[from] as number, this.#timeAt(from));
  }

  #set(at: number, sequence: number, timeMs: number): void {
    this.#timesMs[at] = timeMs;
    this.#sequences[at] = sequence;
  }
}
