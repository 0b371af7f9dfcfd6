import { every } from "../../every.js";
import { isEnd } from "../ports/log.js";
import { type ErasurePorts, finish } from "./erase.js";
import { eraseExpired, eraseReplaced } from "./expired.js";
import { type LeftoverPorts, Leftovers } from "./leftovers.js";

/** Time between two sweeps for interrupted erasures. */
const SWEEP_MS = 60_000;
/** Maximum number of erasures in one sweep, and the age at which no live process works on one any more. */
const SWEEP_MAX = 1000;
const UNFINISHED_MS = 60_000;

export interface SweepingOptions {
  onSwept(finished: number): void;
  /** Called if a sweep fails; the next one follows in a minute. */
  onTrouble(error: unknown): void;
}

/** Finishes interrupted erasures, and removes leftovers that no record mentions. */
export class Sweeper {
  readonly #leftovers: Leftovers;

  constructor(private readonly ports: LeftoverPorts) {
    this.#leftovers = new Leftovers(ports);
  }

  /** Runs one sweep; answers how many erasures and leftovers it found. */
  async run(): Promise<number> {
    // Each runs even if the other fails.
    const work = [
      this.#leftovers.next(),
      sweep(this.ports),
      eraseReplaced(this.ports),
      eraseExpired(this.ports),
    ];
    let found = 0;
    for (const swept of await Promise.allSettled(work)) {
      if (swept.status === "rejected") throw swept.reason;
      found += swept.value;
    }
    return found;
  }
}

/** Sweeps now and every minute; answers a function that ends this. */
export function keepSweeping(
  ports: LeftoverPorts,
  { onSwept, onTrouble }: SweepingOptions,
): () => Promise<void> {
  const sweeper = new Sweeper(ports);
  const work = async () => {
    const finished = await sweeper.run();
    if (finished > 0) onSwept(finished);
  };
  return every(work, { everyMs: SWEEP_MS, atOnce: true, onTrouble });
}

/** Finishes erasures that a crash interrupted; answers their number. */
export async function sweep(ports: ErasurePorts): Promise<number> {
  const pending = await ports.erasures.pending(SWEEP_MAX);
  const left = pending.filter(({ begunAtMs }) => ports.clock.wallMs() - begunAtMs > UNFINISHED_MS);
  const failures: unknown[] = [];
  // An erasure that fails now must not block the others.
  for (const erasure of left) await finish(ports, erasure).catch((error) => failures.push(error));
  await discardOrphans(ports);
  if (failures.length > 0) throw failures[0];
  return left.length;
}

/** Discards index files of logs that another replica has dropped. */
async function discardOrphans({ vectors, words, log }: ErasurePorts): Promise<void> {
  for (const indexes of [vectors, words]) {
    for (const logId of await indexes.kept()) {
      const last = await log.last(logId);
      if (last === undefined || isEnd(last.entry)) await indexes.discard(logId);
    }
  }
}
