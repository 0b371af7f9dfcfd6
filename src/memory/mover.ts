import { unavailable } from "../errors.js";
import { type Copying, type CopyPorts, copyTail } from "./copy.js";
import { inEdition } from "./edition.js";
import type { Erasures } from "./erasures.js";
import { newOperationId } from "./id.js";
import { isEnd, type Scope } from "./log.js";

/** How often a move tries to be the log's next entry while others store. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS_MAX = 20;

export interface MoverPorts extends CopyPorts {
  readonly erasures: Erasures;
}

/**
 * Moves a namespace to its log's copy in the newest edition. The move is an entry of the old log, its
 * last: every recall before it is answered by the old model, every one behind it by the new, on
 * whichever replica. Each step may be taken again, by any process.
 */
export class Mover {
  constructor(private readonly ports: MoverPorts) {}

  async move(scope: Scope, from: string): Promise<void> {
    const copying = { from, to: inEdition(from, this.ports.editions.newest) };
    if (await this.#seal(copying)) await this.finish(scope, copying);
    // Whoever dropped it may have died before this, and everybody would come here again and again.
    else await this.ports.log.retire(scope, from);
  }

  /** Copies what came before the move, and gives the copy the name. */
  async finish(scope: Scope, copying: Copying): Promise<void> {
    const { log, erasures, clock } = this.ports;
    await copyTail(this.ports, copying);
    // First the trace, then the name: a crash in between leaves no texts behind that nobody knows of.
    const begunAtMs = clock.wallMs();
    await erasures.begin({ id: newOperationId(), scope, incarnation: copying.from, begunAtMs });
    await log.rename(scope, copying);
  }

  /** Ends the log with the move; false when it was dropped instead. */
  async #seal({ from, to }: Copying): Promise<boolean> {
    const { log, clock } = this.ports;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { copied } = await copyTail(this.ports, { from, to });
      const last = await log.last(from);
      if (last && isEnd(last.entry)) return last.entry.op === "moved";
      const entries = [{ op: "moved", opId: newOperationId(), to }] as const;
      // Only right behind what was copied. A copy that is ahead has been stored to: that move is over.
      const isTail = copied === (last?.sequence ?? 0);
      if (isTail && (await log.append({ incarnation: from, from: copied + 1, entries })) === 1) return true;
      await clock.sleep(clock.random() * PAUSE_MS_MAX);
    }
    throw unavailable("others store in this namespace without a pause; try again");
  }
}
