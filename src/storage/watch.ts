import { callEvery } from "../concurrency/every.js";
import { isNotWritable, unavailable } from "../errors.js";
import type { Storage } from "./storage.js";

const CHECK_MS = 2000;

/**
 * Tracks whether the database answers, so that callers need not find out by waiting for it.
 *
 * @param onChange called with the reason when the database stops to answer or to write, and with undefined when it is
 * well again
 */
export function watchStorage(storage: Pick<Storage, "check">, onChange: (trouble: unknown) => void) {
  let trouble: unknown;
  /** End of the last check; one that began earlier tells nothing new. */
  let endedMs = 0;
  const check = async () => {
    const begunMs = performance.now();
    const found = await storage.check().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (begunMs < endedMs) return;
    endedMs = begunMs;
    const before = trouble;
    trouble = found;
    const same =
      (found === undefined) === (before === undefined) && isNotWritable(found) === isNotWritable(before);
    if (!same) onChange(found);
  };
  return {
    close: callEvery(CHECK_MS, () => void check()),
    /**
     * Returns a port that refuses whatever it is asked while the database is known not to answer. What is asked of it
     * throws MemoryError `unavailable` at once.
     */
    watched: <T extends object>(port: T): T => {
      const get = (target: T, name: string | symbol) => {
        // A database that only cannot write is still read; each write reports its own failure.
        const isAway = trouble !== undefined && !isNotWritable(trouble);
        if (isAway) throw unavailable("the database is away", undefined, CHECK_MS);
        return (Reflect.get(target, name) as (...given: unknown[]) => unknown).bind(target);
      };
      return new Proxy(port, { get });
    },
  };
}
