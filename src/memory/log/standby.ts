import type { Scope } from "../ports/log.js";
import { type Replica, Sealed } from "./replica.js";

interface Copy {
  readonly replica: Replica;
}

export interface StandbyOptions<C extends Copy> {
  open(scope: Scope, logId: string): C;
  close(replica: Replica): void;
}

/** Copies, by log, that replace open namespaces when the database changes its model. */
export class Standby<C extends Copy> {
  readonly #copies = new Map<string, C>();

  constructor(private readonly options: StandbyOptions<C>) {}

  get replicas(): Replica[] {
    return [...this.#copies.values()].map(({ replica }) => replica);
  }

  /**
   * Opens a copy and lets it catch up with its log. A copy whose namespace was dropped meanwhile is closed.
   */
  async prepare(scope: Scope, logId: string): Promise<void> {
    const copy = this.#copies.get(logId) ?? this.options.open(scope, logId);
    this.#copies.set(logId, copy);
    try {
      await copy.replica.current();
    } catch (error) {
      const isDropped = error instanceof Sealed;
      // A caller that has taken it meanwhile closes it.
      if ((isDropped || copy.replica.broken) && this.#copies.get(logId) === copy) {
        this.#copies.delete(logId);
        this.options.close(copy.replica);
      }
      if (!isDropped) throw error;
    }
  }

  /** Hands a copy over to the caller. */
  take(logId: string): C | undefined {
    const copy = this.#copies.get(logId);
    this.#copies.delete(logId);
    return copy;
  }

  /** Closes all copies that no caller took. */
  clear(): void {
    for (const replica of this.replicas) this.options.close(replica);
    this.#copies.clear();
  }
}
