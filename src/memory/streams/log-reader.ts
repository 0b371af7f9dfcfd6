import { unavailable } from "../../errors.js";
import type { Log, Projection, Tail } from "../ports/log.js";
import { baseOf } from "../ports/model-version.js";
import type { Names, Scope } from "../ports/names.js";
import type { Position } from "./position.js";

/** Maximum number of moves to other model versions that one read follows. */
const MOVES_MAX = 16;

/** The log that a namespace's next entry goes to. */
export interface LivingLog {
  readonly logId: string;
  /** The number of its last entry; 0 if it has none. */
  readonly last: number;
  /** True if that entry ended it, and the name is about to become free. */
  readonly dropped: boolean;
}

/** Finds a namespace's log, where it has moved to; undefined if there is none. */
export async function livingLogOf(
  { log, names }: { readonly log: Log; readonly names: Names },
  scope: Scope,
): Promise<LivingLog | undefined> {
  const logId = await names.find(scope);
  return logId === undefined ? undefined : follow(log, logId);
}

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
  #logId: string;
  readonly #what: W;

  constructor(
    private readonly log: Log,
    { logId, after, what }: { logId: string; after: number; what: W },
  ) {
    this.#logId = logId;
    this.after = after;
    this.#what = what;
  }

  get logId(): string {
    return this.#logId;
  }

  get position(): Position {
    return { base: baseOf(this.#logId), after: this.after };
  }

  /** Reads what follows the last entry that was taken, at most `limit` entries and one slice. */
  async read(limit: number): Promise<Slice<W>> {
    for (let move = 0; move < MOVES_MAX; move++) {
      const range = { logId: this.#logId, from: this.after + 1, limit, what: this.#what };
      const tail = await this.log.read(range);
      const { logId, dropped } = await follow(this.log, this.#logId);
      if (dropped) return { entries: [], complete: true, dropped };
      if (logId === this.#logId) return { ...tail, dropped };
      this.#logId = logId;
    }
    throw unavailable("the namespace moves again and again");
  }
}

async function follow(log: Log, from: string): Promise<LivingLog> {
  let logId = from;
  for (let move = 0; move < MOVES_MAX; move++) {
    const last = await log.last(logId);
    if (last?.entry.op !== "moved") {
      return { logId, last: last?.sequence ?? 0, dropped: last?.entry.op === "drop" };
    }
    logId = last.entry.to;
  }
  throw unavailable("the namespace moves again and again");
}
