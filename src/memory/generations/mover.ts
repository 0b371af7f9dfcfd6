import { unavailable } from "../../errors.js";
import { newOperationId } from "../input/id.js";
import type { Erasures } from "../ports/erasures.js";
import { inGeneration } from "../ports/generation.js";
import { isEnd, type Scope } from "../ports/log.js";
import { type Copying, type CopyPorts, copyTail } from "./copy.js";

/** Number of attempts to append the move while others store. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS_MAX = 20;
/** Maximum number of namespaces that move at a time for calls: each holds a batch of texts. */
const MOVING_MAX = 8;

export interface MoverPorts extends CopyPorts {
  readonly erasures: Erasures;
}

/**
 * Moves a namespace to its log's copy in the newest model generation. The move is the last entry of the old
 * log: on every replica, recalls before it use the old model, and recalls after it the new one. Any process
 * may repeat each step.
 */
export class Mover {
  /** Running moves by their old log. */
  readonly #moving = new Map<string, Promise<void>>();

  constructor(private readonly ports: MoverPorts) {}

  /**
   * Moves a namespace; calls that need the same move share it.
   *
   * @throws MemoryError `unavailable` also if too many others are moving.
   */
  move(scope: Scope, from: string): Promise<void> {
    return this.#share(from, async () => {
      const copying = { from, to: inGeneration(from, this.ports.generations.newest) };
      if (await this.#seal(copying)) await this.#finish(scope, copying);
      // The process that dropped it may have died before this step, and each call would arrive here again.
      else await this.#retire(scope, from);
    });
  }

  /**
   * Completes the end of a log, in case the process that ended it died: the name points to the copy that the
   * log moved to, or becomes free if it was dropped. The log's contents are erased in either case.
   */
  leave(scope: Scope, { from, to }: { from: string; to: string | undefined }): Promise<void> {
    return this.#share(from, () =>
      to === undefined ? this.#retire(scope, from) : this.#finish(scope, { from, to }),
    );
  }

  #share(from: string, work: () => Promise<void>): Promise<void> {
    const moving = this.#moving.get(from);
    if (moving !== undefined) return moving;
    if (this.#moving.size >= MOVING_MAX) {
      return Promise.reject(unavailable(`${MOVING_MAX} namespaces are moving to another model already`));
    }
    const begun = work().finally(() => this.#moving.delete(from));
    this.#moving.set(from, begun);
    return begun;
  }

  /** Copies all entries before the move, and gives the copy the name. */
  async #finish(scope: Scope, copying: Copying): Promise<void> {
    await copyTail(this.ports, copying);
    await this.#beginErasing(scope, copying.from);
    await this.ports.log.rename(scope, copying);
  }

  async #retire(scope: Scope, from: string): Promise<void> {
    await this.#beginErasing(scope, from);
    await this.ports.log.retire(scope, from);
  }

  /** Records the erasure before the log loses its name, so that a crash leaves no texts without a record. */
  async #beginErasing(scope: Scope, logId: string): Promise<void> {
    const { erasures, clock } = this.ports;
    // Every process writes the same record.
    await erasures.begin({ id: logId, scope, logId, begunAtMs: clock.wallMs() });
  }

  /** Ends the log with the move; false if it was dropped instead. */
  async #seal({ from, to }: Copying): Promise<boolean> {
    const { log, clock } = this.ports;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { copied } = await copyTail(this.ports, { from, to });
      const last = await log.last(from);
      if (last && isEnd(last.entry)) return last.entry.op === "moved";
      const entries = [{ op: "moved", opId: newOperationId(), to }] as const;
      // Only right after the copied entries. A copy that is ahead has its own stores: that move is over.
      const isTail = copied === (last?.sequence ?? 0);
      if (isTail && (await log.append({ logId: from, from: copied + 1, entries })) === 1) return true;
      await clock.sleep(clock.random() * PAUSE_MS_MAX);
    }
    throw unavailable("others store in this namespace without a pause; try again");
  }
}
