import { type ForgetPorts, sweep } from "./forget.js";

/** How often interrupted erasures are looked for. */
const SWEEP_MS = 60_000;

export interface SweepingOptions {
  onSwept(finished: number): void;
  /** Told when it failed; it is tried again in a minute. */
  onTrouble(error: unknown): void;
}

/** Finishes interrupted erasures, now and every minute; answers what ends it. */
export function keepSweeping(
  ports: ForgetPorts,
  { onSwept, onTrouble }: SweepingOptions,
): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= sweep(ports)
      .then((finished) => {
        if (finished > 0) onSwept(finished);
      }, onTrouble)
      .finally(() => {
        running = undefined;
      });
  };
  run();
  const timer = setInterval(run, SWEEP_MS).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
