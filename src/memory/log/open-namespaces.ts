import type { Scope } from "../ports/log.js";
import type { Appender } from "./appender.js";
import type { Tended } from "./maintenance.js";
import type { Replica } from "./replica.js";

/** Namespaces held open at once, whatever their size. */
const OPEN_MAX = 10_000;

/** A namespace this process holds open. */
export interface Open extends Tended {
  readonly appender: Appender;
  /** No longer handed out: to be closed when the last call that uses it ends. */
  gone: boolean;
}

/** What a process holds open. */
export interface Held {
  readonly namespaces: number;
  readonly memories: number;
  readonly bytes: number;
  readonly appending: number;
  readonly indexing: number;
}

export interface OpenNamespacesOptions {
  /** Beyond this, the least recently used indexes are closed, in bytes. */
  readonly bytesMax: number;
  /** Indexes that count as well, though no call uses them yet. */
  readonly standby: { readonly replicas: readonly Replica[] };
  close(replica: Replica): void;
}

/** The namespaces that a process holds open, within a memory budget. */
export class OpenNamespaces {
  /** By scope, the least recently used first. */
  readonly #open = new Map<string, Open>();

  constructor(private readonly options: OpenNamespacesOptions) {}

  get all(): Open[] {
    return [...this.#open.values()];
  }

  get(scope: Scope): Open | undefined {
    return this.#open.get(keyOf(scope));
  }

  /** Finds a namespace, and counts it as the one used last. */
  use(scope: Scope): Open | undefined {
    const open = this.get(scope);
    if (open !== undefined) this.add(open);
    return open;
  }

  /** Adds a namespace as the one used last. */
  add(open: Open): void {
    const key = keyOf(open.scope);
    this.#open.delete(key);
    this.#open.set(key, open);
  }

  /** Hands a namespace out no more, and closes it when no call uses it. */
  letGo(open: Open): void {
    const key = keyOf(open.scope);
    if (this.#open.get(key) === open) this.#open.delete(key);
    open.gone = true;
    if (open.replica.users === 0) this.options.close(open.replica);
  }

  /** What is held open now; of each kind of queue, how long the longest is. */
  measure(): Held {
    const held = {
      namespaces: this.#open.size,
      memories: 0,
      bytes: this.#bytes(),
      appending: 0,
      indexing: 0,
    };
    for (const { replica, appender } of this.#open.values()) {
      held.memories += replica.size;
      held.appending = Math.max(held.appending, appender.waiting);
      held.indexing = Math.max(held.indexing, replica.waiting);
    }
    return held;
  }

  /** No room for another without closing one. */
  get isFull(): boolean {
    return this.#open.size >= OPEN_MAX || this.#bytes() >= this.options.bytesMax;
  }

  #bytes(): number {
    let bytes = 0;
    for (const { replica } of this.#open.values()) bytes += replica.bytes;
    for (const replica of this.options.standby.replicas) bytes += replica.bytes;
    return bytes;
  }

  /**
   * Closes what was used least recently, until the rest fits; what is in use stays, and what was used
   * last: a namespace that is over the budget alone would be built anew for every call.
   */
  makeRoom(): void {
    let bytes = this.#bytes();
    let left = this.#open.size;
    for (const open of this.#open.values()) {
      if (--left === 0) return;
      if (bytes <= this.options.bytesMax && this.#open.size <= OPEN_MAX) return;
      if (open.replica.users > 0) continue;
      bytes -= open.replica.bytes;
      this.letGo(open);
    }
  }
}

/** Account ids have no space, so no two scopes share a key. */
function keyOf({ accountId, namespace }: Scope): string {
  return `${accountId} ${namespace}`;
}
