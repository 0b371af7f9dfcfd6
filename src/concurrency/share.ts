import { MemoryError, type Reason } from "../errors.js";

/** Time after which a refused caller may find something free. */
const RETRY_MS = 1_000;

export interface ShareOptions {
  /** Number of units that all owners together may hold: bytes, running calls, open streams. */
  readonly total: number;
  /** Plural noun for the refusal's message, such as "open watches". */
  readonly what: string;
  /** Reason of the refusal, where `take` is used. */
  readonly reason?: Reason;
}

/**
 * A total that many callers share. An owner may take more while it then holds at most half of what is free: a
 * single owner gets a third of the total, two get a quarter each, and some is always left for the next one. The
 * owner is an account, or where none is known the network of an address. Nothing waits: what does not fit is
 * refused at once.
 */
export class Share {
  used = 0;
  /** Units by owner; an owner that holds none is forgotten. */
  readonly #held = new Map<string, number>();

  constructor(private readonly options: ShareOptions) {}

  get total(): number {
    return this.options.total;
  }

  heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** Takes units if the owner may have them; `max` is a bound of its own, such as that of its plan. */
  tryTake(owner: string, units = 1, max = Number.POSITIVE_INFINITY): boolean {
    const held = this.heldBy(owner) + units;
    if (held > max || held > (this.options.total - this.used) / 2) return false;
    this.#hold(owner, held, units);
    return true;
  }

  /**
   * Takes units. @throws MemoryError `resource_exhausted` (429) if the owner already holds some, else
   * `unavailable` (503), both with the time to wait.
   */
  take(owner: string, units = 1, max?: number): void {
    if (this.tryTake(owner, units, max)) return;
    const { what, reason } = this.options;
    const options = { reason, retryAfterMs: RETRY_MS };
    if (this.heldBy(owner) === 0)
      throw new MemoryError("unavailable", `the server has too many ${what} now`, options);
    throw new MemoryError("resource_exhausted", `this caller has as many ${what} as it may`, options);
  }

  /** Takes units that are held already, whether or not the owner may have them. */
  add(owner: string, units: number): void {
    this.#hold(owner, this.heldBy(owner) + units, units);
  }

  give(owner: string, units = 1): void {
    this.#hold(owner, this.heldBy(owner) - units, -units);
  }

  #hold(owner: string, held: number, change: number): void {
    this.used += change;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }
}
