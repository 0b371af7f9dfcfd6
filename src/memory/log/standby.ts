import type { Scope } from "../ports/log.js";
import { type Replica, Sealed } from "./replica.js";

interface Copy {
  readonly replica: Replica;
}

export interface StandbyOptions<C extends Copy> {
  open(scope: Scope, logId: string): C;
  close(replica: Replica): void;
}

/** Copies that are to take the place of open namespaces when the database changes its model, by log. */
export class Standby<C extends Copy> {
  readonly #copies = new Map<string, C>();

  constructor(private readonly options: StandbyOptions<C>) {}

  get replicas(): Replica[] {
    return [...this.#copies.values()].map(({ replica }) => replica);
  }

  /** Opens a copy, and brings it up to what is in its log. One whose namespace was dropped meanwhile is let go. */
  async prepare(scope: Scope, logId: string): Promise<void> {
    const copy = this.#copies.get(logId) ?? this.options.open(scope, logId);
    this.#copies.set(logId, copy);
    try {
      await copy.replica.current();
    } catch (error) {
      const isDropped = error instanceof Sealed;
      // Whoever has taken it meanwhile closes it.
      if ((isDropped || copy.replica.broken) && this.#copies.get(logId) === copy) {
        this.#copies.delete(logId);
        this.options.close(copy.replica);
      }
      if (!isDropped) throw error;
    }
  }

  /** Hands a copy over, for good. */
  take(logId: string): C | undefined {
    const copy = this.#copies.get(logId);
    this.#copies.delete(logId);
    return copy;
  }

  /** Closes what was not needed. */
  clear(): void {
    for (const replica of this.replicas) this.options.close(replica);
    this.#copies.clear();
  }
}
