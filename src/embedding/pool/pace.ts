/** The average covers about this much of the model's time: a machine that becomes busy shows soon. */
const AVERAGED_MS = 5_000;
/** What a first measurement counts for. */
const FIRST_MS = 500;

/** How long a reader needs for one unit of `costOf`, as a moving average. */
export class Pace {
  #ms = 0;
  #cost = 0;

  /** Milliseconds for a cost of 1; 0 before anything was measured. */
  get msPerCost(): number {
    return this.#cost === 0 ? 0 : this.#ms / this.#cost;
  }

  /** Takes a first measurement; later ones of readers that start again change nothing. */
  begin(msPerCost: number): void {
    if (this.#cost > 0 || msPerCost <= 0) return;
    this.#ms = FIRST_MS;
    this.#cost = FIRST_MS / msPerCost;
  }

  note({ ms, cost }: { ms: number; cost: number }): void {
    const kept = Math.exp(-ms / AVERAGED_MS);
    this.#ms = this.#ms * kept + ms;
    this.#cost = this.#cost * kept + cost;
  }
}
