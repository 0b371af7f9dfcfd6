import type { RowCounts } from "../ports/index.js";
import { type Scope, scopeId } from "../ports/names.js";
import type { Appender } from "./appender.js";
import type { Replica } from "./replica.js";

const NO_ROWS = { tail: 0, removed: 0, backlog: 0 };
/** Maximum number of open namespaces, whatever their size. */
export const OPEN_MAX = 10_000;
/** Number of namespaces closed ahead when there are too many, because each eviction goes over all of them. */
const CLOSED_AHEAD = 100;
/**
 * Number of uses after which a namespace is closed before copies of vectors are released: by then, to make copies again
 * for each use takes about as long as to open its index.
 */
const IN_TURNS_USES = 100;

/** An open namespace. */
export interface Open {
  readonly scope: Scope;
  readonly replica: Replica;
  readonly appender: Appender;
  /** Time when its use was last recorded, by the monotonic clock. */
  touchedMs: number;
  /** Number of its last use, among those of all. */
  lastUse: number;
  /** True if it is no longer handed out, and closed when the last call that uses it ends. */
  gone: boolean;
}

/** Totals of the open namespaces. */
export interface OpenTotals {
  readonly namespaces: number;
  readonly memories: number;
  readonly bytes: number;
  /** Those whose indexes alone are over the budget. */
  readonly tooLarge: number;
  /** Rows of their indexes. */
  readonly rows: Readonly<Record<"vectors" | "words", RowCounts>>;
  readonly appending: number;
  readonly indexing: number;
}

/** The namespaces that a process holds open, within a memory budget. */
export class OpenNamespaces {
  /** Open namespaces by scope, least recently used first. */
  readonly #open = new Map<string, Open>();
  /** Bytes of each when it was measured last, and their sum: to measure ten thousand takes tens of milliseconds. */
  readonly #bytesOf = new Map<Open, number>();
  #bytesKnown = 0;
  #uses = 0;

  /** @param bytesMax bytes of open indexes beyond which the least recently used ones are closed */
  constructor(
    private readonly bytesMax: number,
    private readonly close: (replica: Replica) => void,
  ) {}

  get all(): Open[] {
    return [...this.#open.values()];
  }

  /** Ids of their logs. */
  get logIds(): string[] {
    return this.all.map(({ replica }) => replica.logId);
  }

  get(scope: Scope): Open | undefined {
    return this.#open.get(scopeId(scope));
  }

  /** Finds a namespace, and marks it as the one used last. */
  use(scope: Scope): Open | undefined {
    const open = this.get(scope);
    if (open !== undefined) this.add(open);
    return open;
  }

  /** Adds a namespace as the one used last. */
  add(open: Open): void {
    const key = scopeId(open.scope);
    this.#open.delete(key);
    this.#open.set(key, open);
    open.lastUse = ++this.#uses;
  }

  /** Removes a namespace, and closes it once no call uses it. */
  letGo(open: Open): void {
    const key = scopeId(open.scope);
    if (this.#open.get(key) === open) this.#open.delete(key);
    this.#note(open, 0);
    this.#bytesOf.delete(open);
    open.gone = true;
    if (open.replica.users === 0) this.close(open.replica);
  }

  /** Measures the open namespaces; for each kind of queue, the length of the longest. */
  measure(): OpenTotals {
    const held = {
      namespaces: this.#open.size,
      memories: 0,
      bytes: this.#bytes(),
      tooLarge: 0,
      rows: { vectors: { ...NO_ROWS }, words: { ...NO_ROWS } },
      appending: 0,
      indexing: 0,
    };
    for (const { replica, appender } of this.#open.values()) {
      const { size, rowCounts, vectors } = replica.index;
      held.memories += size;
      if (replica.neededBytes > this.bytesMax) held.tooLarge++;
      for (const part of ["vectors", "words"] as const) {
        for (const kind of ["tail", "removed", "backlog"] as const)
          held.rows[part][kind] += rowCounts[part][kind];
      }
      held.appending = Math.max(held.appending, appender.waiting);
      held.indexing = Math.max(held.indexing, vectors.waiting);
    }
    return held;
  }

  /** True if a namespace can only be opened if another one is closed. */
  get isFull(): boolean {
    return this.#open.size >= OPEN_MAX || this.#bytes() >= this.bytesMax;
  }

  /** Measures all. */
  #bytes(): number {
    for (const open of this.#open.values()) this.#note(open, open.replica.bytes);
    return this.#bytesKnown;
  }

  #note(open: Open, bytes: number): void {
    this.#bytesKnown += bytes - (this.#bytesOf.get(open) ?? 0);
    this.#bytesOf.set(open, bytes);
  }

  /**
   * Notes the bytes of a namespace that was opened or has grown. If all are over the budget, or too many, it closes the
   * least recently used ones until the rest fits: first those of an account that has more than half, so that it does not
   * close all others'. Namespaces in use stay, and so does the one used last: otherwise a single namespace above the
   * budget would be built again for every call. As long as all others were used a short while ago as well, copies of
   * vectors go first: otherwise namespaces that are used in turns would close each other for every call.
   */
  evict(changed: Open): void {
    if (!changed.gone) this.#note(changed, changed.replica.bytes);
    // Only if that may be too much: to measure all takes as long as many calls.
    if (this.#bytesKnown > this.bytesMax) this.#bytes();
    const isTooMany = this.#open.size > OPEN_MAX;
    const isOver = () =>
      this.#bytesKnown > this.bytesMax || (isTooMany && this.#open.size > OPEN_MAX - CLOSED_AHEAD);
    if (!isOver()) return;
    // One pass over each list: thousands may be closed together.
    const unused = [...this.#open.values()].slice(0, -1).filter(({ replica }) => replica.users === 0);
    const [oldest] = unused;
    const isInTurns = oldest !== undefined && this.#uses - oldest.lastUse < IN_TURNS_USES;
    if (isInTurns && !isTooMany) this.#releaseCopies([...unused, ...this.all.slice(-1)]);
    const heldBy = this.#byAccount();
    for (const open of unused) {
      if (!isOver()) return;
      const held = heldBy.get(open.scope.accountId);
      if (held === undefined || (held.bytes <= this.bytesMax / 2 && held.count <= OPEN_MAX / 2)) continue;
      held.bytes -= this.#bytesOf.get(open) ?? 0;
      held.count -= 1;
      this.letGo(open);
    }
    for (const open of unused) {
      if (!isOver()) return;
      if (!open.gone) this.letGo(open);
    }
  }

  /** Gives back copies of vectors of some namespaces, in their order, if that is enough. */
  #releaseCopies(releasable: readonly Open[]): void {
    const copiedBytes = ({ replica }: Open) => replica.index.vectors.copiedBytes;
    const copied = releasable.filter((open) => copiedBytes(open) > 0);
    const least = copied.reduce((bytes, open) => bytes - copiedBytes(open), this.#bytesKnown);
    if (least > this.bytesMax) return;
    for (const open of copied) {
      if (this.#bytesKnown <= this.bytesMax) return;
      open.replica.index.vectors.releaseCopies();
      this.#note(open, open.replica.bytes);
    }
  }

  #byAccount(): Map<string, { bytes: number; count: number }> {
    const byAccount = new Map<string, { bytes: number; count: number }>();
    for (const open of this.#open.values()) {
      const { accountId } = open.scope;
      const held = byAccount.get(accountId) ?? { bytes: 0, count: 0 };
      held.bytes += this.#bytesOf.get(open) ?? 0;
      held.count += 1;
      byAccount.set(accountId, held);
    }
    return byAccount;
  }
}
