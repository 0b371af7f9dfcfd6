/** Model time that the average covers, so that a change of the machine's load shows soon. */
const AVERAGED_MS = 5_000;
/** Weight of the first measurement, as model time. */
const FIRST_MS = 500;

/** Moving average of the time that a reader needs for one unit of `costOf`. */
export class ReadingSpeed {
  #ms = 0;
  #cost = 0;

  /** Milliseconds for a cost of 1; 0 before the first measurement. */
  get msPerCost(): number {
    return this.#cost === 0 ? 0 : this.#ms / this.#cost;
  }

  /** Takes the first measurement; later ones, from readers that start again, change nothing. */
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
