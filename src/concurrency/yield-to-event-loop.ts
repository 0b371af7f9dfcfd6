/** Turns of callers that wait for an iteration of the event loop, in their order. */
export class Turns {
  /** The one that has waited longest first. Each has an immediate that lets the first of them go on. */
  readonly #waiting: (() => void)[] = [];
  /** Time at which the others wait for the next iteration; undefined before the first has continued in this one. */
  #endsMs: number | undefined;

  /** @param msMax time that those who wait have together in one iteration */
  constructor(private readonly msMax: number) {}

  /**
   * Lets all other work that is ready run first. In each iteration of the event loop as many waiting callers continue, in
   * their order, as begin within some milliseconds: connections are served in between, however many wait, and short
   * pieces of work do not take an iteration each, which is long when thousands of connections have something to say.
   */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setImmediate(this.#goOn);
    });
  }

  readonly #goOn = (): void => {
    // The first goes on whatever the clock says.
    const isDue = this.#endsMs === undefined || performance.now() < this.#endsMs;
    if (this.#endsMs === undefined) {
      this.#endsMs = performance.now() + this.msMax;
      // It is the first of the next iteration.
      setImmediate(() => {
        this.#endsMs = undefined;
      });
    }
    // Who has just gone on may wait again already, but behind those who have not.
    if (isDue) this.#waiting.shift()?.();
    else setImmediate(this.#goOn);
  };
}

/** Turns of the work that calls do. */
const work = new Turns(5);

/** Lets all other work that is ready run first. */
export function yieldToEventLoop(): Promise<void> {
  return work.wait();
}
