/** Time that some work has in each iteration of the event loop. */
export class IterationTime {
  /** Time at which it is over in this iteration; undefined before the work has begun. */
  #endsMs: number | undefined;

  constructor(private readonly msMax: number) {}

  /** True if it is over. For the first who asks in an iteration it begins, and is not. */
  isOver(): boolean {
    if (this.#endsMs !== undefined) return performance.now() >= this.#endsMs;
    this.#endsMs = performance.now() + this.msMax;
    // It is the first of the next iteration.
    setImmediate(() => {
      this.#endsMs = undefined;
    });
    return false;
  }
}

/**
 * Queue of callers that wait for an iteration of the event loop, one owner after the other. Of one owner, those who ask for
 * little go on in turn with those who ask for much: a call from behind a router does not wait for all connections that
 * a neighbour floods, and no large request waits for all small ones. Those who ask for about as much go on in their
 * order.
 */
export class FairQueue {
  /**
   * Who waits, by owner and by the size of what is asked for, of which each level has twice the one before; what is
   * next stands first. Each has an immediate that lets the next one go on, and which finds nobody if it was withdrawn.
   */
  readonly #waiting = new Map<string, Map<number, Set<() => void>>>();
  readonly #time: IterationTime;

  /** @param msMax time that those who wait have together in one iteration; with 0, one goes on in each */
  constructor(msMax: number) {
    this.#time = new IterationTime(msMax);
  }

  /**
   * Lets all other work that is ready run first. In each iteration of the event loop as many waiting callers continue as
   * begin within some milliseconds: connections are served in between, however many wait, and short pieces of work do
   * not take an iteration each, which is long when thousands of connections have something to say.
   */
  wait(owner = "", size = 0): Promise<void> {
    return new Promise((resolve) => void this.ask(owner, size, resolve));
  }

  /** Waits likewise, and calls a function then. The one that it returns withdraws from the queue. */
  ask(owner: string, size: number, goOn: () => void): () => void {
    const level = 32 - Math.clz32(size);
    const levels = this.#waiting.get(owner) ?? new Map<number, Set<() => void>>();
    const waiting = levels.get(level) ?? new Set();
    this.#waiting.set(owner, levels.set(level, waiting.add(goOn)));
    setImmediate(this.#goOn);
    return () => waiting.delete(goOn);
  }

  readonly #goOn = (): void => {
    if (this.#time.isOver()) {
      setImmediate(this.#goOn);
      return;
    }
    takeRoundRobin(this.#waiting, (levels) => takeRoundRobin(levels, takeFirst))?.();
  };
}

/** Takes something from the first queue that has something. That one stands last then; empty ones are removed. */
function takeRoundRobin<Key, Queue extends { size: number }, Taken>(
  queues: Map<Key, Queue>,
  take: (queue: Queue) => Taken | undefined,
): Taken | undefined {
  for (const [key, queue] of queues) {
    queues.delete(key);
    const taken = take(queue);
    if (queue.size > 0) queues.set(key, queue);
    if (taken !== undefined) return taken;
  }
  return undefined;
}

function takeFirst<T>(queue: Set<T>): T | undefined {
  for (const first of queue) {
    queue.delete(first);
    return first;
  }
  return undefined;
}

/** Queues of the work that calls do. What is brief does not wait behind the slices of what is long. */
const callQueues = { brief: new FairQueue(2), long: new FairQueue(2) };

/** Lets all other work that is ready run first; of what takes turns, brief work waits for other brief work alone. */
export function yieldToEventLoop(work: "brief" | "long" = "long"): Promise<void> {
  return callQueues[work].wait();
}
