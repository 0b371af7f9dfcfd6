import type { Scope } from "../ports/log.js";
import { type Replica, Sealed } from "./replica.js";

interface Copy {
  readonly replica: Replica;
}

export interface PreparedOptions<C extends Copy> {
  open(scope: Scope, incarnation: string): C;
  close(replica: Replica): void;
}

/** Copies that are to take the place of open namespaces when the database changes its model, by incarnation. */
export class Prepared<C extends Copy> {
  readonly #copies = new Map<string, C>();

  constructor(private readonly options: PreparedOptions<C>) {}

  get replicas(): Replica[] {
    return [...this.#copies.values()].map(({ replica }) => replica);
  }

  /** Opens a copy, and brings it up to what is in its log. One whose namespace was dropped meanwhile is let go. */
  async prepare(scope: Scope, incarnation: string): Promise<void> {
    const copy = this.#copies.get(incarnation) ?? this.options.open(scope, incarnation);
    this.#copies.set(incarnation, copy);
    try {
      await copy.replica.current();
    } catch (error) {
      const isDropped = error instanceof Sealed;
      // Whoever has taken it meanwhile closes it.
      if ((isDropped || copy.replica.broken) && this.#copies.get(incarnation) === copy) {
        this.#copies.delete(incarnation);
        this.options.close(copy.replica);
      }
      if (!isDropped) throw error;
    }
  }

  /** Hands a copy over, for good. */
  take(incarnation: string): C | undefined {
    const copy = this.#copies.get(incarnation);
    this.#copies.delete(incarnation);
    return copy;
  }

  /** Closes what was not needed. */
  clear(): void {
    for (const replica of this.replicas) this.options.close(replica);
    this.#copies.clear();
  }
}
