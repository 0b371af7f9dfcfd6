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

/** Turns of callers that wait for an iteration of the event loop: of their owners in turn, of one owner in their order. */
export class Turns {
  /**
   * Who waits, by owner; the owner whose turn is next stands first. Each has an immediate that lets the next one go on,
   * and which finds nobody if it was withdrawn.
   */
  readonly #waiting = new Map<string, Set<() => void>>();
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
  wait(owner = ""): Promise<void> {
    return new Promise((resolve) => void this.ask(owner, resolve));
  }

  /** Waits likewise, and calls a function then. The one that it returns withdraws from the turns. */
  ask(owner: string, goOn: () => void): () => void {
    const own = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, own.add(goOn));
    setImmediate(this.#goOn);
    return () => own.delete(goOn);
  }

  readonly #goOn = (): void => {
    if (this.#time.isOver()) {
      setImmediate(this.#goOn);
      return;
    }
    // Who has just gone on may wait again already, but behind those who have not.
    for (const [owner, own] of this.#waiting) {
      this.#waiting.delete(owner);
      const [goOn] = own;
      if (goOn === undefined) continue;
      own.delete(goOn);
      if (own.size > 0) this.#waiting.set(owner, own);
      goOn();
      break;
    }
  };
}

/** Turns of the work that calls do. What is brief does not wait behind the slices of what is long. */
const turns = { brief: new Turns(2), long: new Turns(2) };

/** Lets all other work that is ready run first; of what takes turns, brief work waits for other brief work alone. */
export function yieldToEventLoop(work: "brief" | "long" = "long"): Promise<void> {
  return turns[work].wait();
}
