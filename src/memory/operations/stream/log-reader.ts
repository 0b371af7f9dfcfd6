import { followMoves, MOVES_MAX, movesOnAndOn } from "../../log/living-log.js";
import type { Log, Projection, Tail } from "../../ports/log.js";

/** A slice of a log; empty if the log was dropped, whatever it still holds. */
export interface Slice<W extends Projection> extends Tail<W> {
  readonly dropped: boolean;
}

/**
 * Reads a log onwards, and goes on in its copy once it has moved. Each slice was read from a log that was
 * neither dropped nor moved when the read ended, so an erased memory in it is one that a tombstone names.
 */
export class LogReader<W extends Projection> {
  /** The number of the last entry that was taken. */
  after: number;
  /** The log that it reads now. */
  logId: string;
  readonly #what: W;

  constructor(
    private readonly log: Log,
    { logId, after, what }: { logId: string; after: number; what: W },
  ) {
    this.logId = logId;
    this.after = after;
    this.#what = what;
  }

  /** Reads what follows the last entry that was taken, at most `limit` entries and one slice. */
  async read(limit: number): Promise<Slice<W>> {
    for (let move = 0; move < MOVES_MAX; move++) {
      const range = { logId: this.logId, from: this.after + 1, limit, what: this.#what };
      const tail = await this.log.read(range);
      const { logId, dropped } = await followMoves(this.log, this.logId);
      if (dropped) return { entries: [], complete: true, dropped };
      if (logId === this.logId) return { ...tail, dropped };
      this.logId = logId;
    }
    throw movesOnAndOn();
  }
}
