import { every } from "../../every.js";
import { isEnd } from "../ports/log.js";
import { type ErasurePorts, finish } from "./erase.js";
import { type LeftoverPorts, Leftovers } from "./leftovers.js";

/** How often interrupted erasures are looked for. */
const SWEEP_MS = 60_000;
/** Unfinished erasures taken up in one sweep, and the age at which nobody can still be at them. */
const SWEEP_MAX = 1000;
const UNFINISHED_MS = 60_000;

export interface SweepingOptions {
  onSwept(finished: number): void;
  /** Told when it failed; it is tried again in a minute. */
  onTrouble(error: unknown): void;
}

/** Finishes what was interrupted, and clears away what nobody has noted. */
export class Sweeper {
  readonly #leftovers: Leftovers;

  constructor(private readonly ports: LeftoverPorts) {
    this.#leftovers = new Leftovers(ports);
  }

  /** Answers how much there was to do. */
  async run(): Promise<number> {
    // Neither waits for the other to succeed.
    const [cleared, finished] = await Promise.allSettled([this.#leftovers.next(), sweep(this.ports)]);
    if (cleared.status === "rejected") throw cleared.reason;
    if (finished.status === "rejected") throw finished.reason;
    return cleared.value + finished.value;
  }
}

/** Finishes interrupted erasures, now and every minute; answers what ends it. */
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

/** Finishes what a crash interrupted: run at start, and now and then. Answers how many it finished. */
export async function sweep(ports: ErasurePorts): Promise<number> {
  const pending = await ports.erasures.pending(SWEEP_MAX);
  const left = pending.filter(({ begunAtMs }) => ports.clock.wallMs() - begunAtMs > UNFINISHED_MS);
  const failures: unknown[] = [];
  // One that cannot be finished now keeps no other from being erased.
  for (const erasure of left) await finish(ports, erasure).catch((error) => failures.push(error));
  await discardOrphans(ports);
  if (failures.length > 0) throw failures[0];
  return left.length;
}

/** Another replica's drop leaves this one's snapshot behind. */
async function discardOrphans({ vectors, log }: ErasurePorts): Promise<void> {
  for (const logId of await vectors.kept()) {
    const last = await log.last(logId);
    if (last === undefined || isEnd(last.entry)) await vectors.discard(logId);
  }
}
