import { unavailable } from "../errors.js";
import { Appender } from "./appender.js";
import type { Clock } from "./clock.js";
import type { Appended, Log, Lost, Numbered, Scope } from "./log.js";
import type { Recent } from "./recent.js";
import { Replica, Sealed } from "./replica.js";
import type { Vectors } from "./vectors.js";

/** Namespaces held open at once, whatever their size. */
const OPEN_MAX = 10_000;
/** How often a namespace in use is noted as such. */
const TOUCH_MS = 600_000;
/** How often one call follows a name to a new incarnation before it gives up. */
const INCARNATIONS_MAX = 5;

export interface NamespacesOptions {
  readonly log: Log;
  readonly vectors: Vectors;
  readonly clock: Clock;
  readonly recent: Recent;
  /** Beyond this, the least recently used indexes are closed, in bytes. */
  readonly indexMemoryBytesMax: number;
  /** Told of entries that are missing or unreadable. */
  onLost?(incarnation: string, lost: Numbered<Lost>): void;
  /** Told of failures of what runs in the background. */
  onTrouble?(error: unknown): void;
}

/** A namespace this process holds open. */
export interface Open {
  readonly replica: Replica;
  readonly appender: Appender;
  /** No longer handed out: to be closed when the last call that uses it ends. */
  gone: boolean;
  /** When its use was last noted, by the clock that never runs backwards. */
  touchedMs: number;
  /** A fresh one is being built. */
  renewing: boolean;
  readonly scope: Scope;
}

/** The namespaces this process holds open: a replica and an appender each, within a memory budget. */
export class Namespaces {
  readonly #options: NamespacesOptions;
  /** By scope, the least recently used first. */
  readonly #open = new Map<string, Open>();
  readonly #background = new Set<Promise<void>>();

  constructor(options: NamespacesOptions) {
    this.#options = options;
  }

  /**
   * Runs work on a namespace, which stays open for it; undefined when nobody stored there. Work that
   * meets the namespace's end (Sealed) is run again on the name's new incarnation, if it has one.
   */
  reading<T>(scope: Scope, work: (open: Open) => Promise<T>): Promise<T | undefined> {
    return this.#following(scope, () => this.#options.log.find(scope), work);
  }

  /** Appends an entry; the namespace comes into being if needed. Errors as `Appender.append`. */
  async append(scope: Scope, entry: Appended): Promise<void> {
    const create = () => this.#options.log.create(scope);
    await this.#following(scope, create, ({ appender }) => appender.append(entry));
  }

  /** Erases the index of a dropped incarnation. */
  forget(scope: Scope, incarnation: string): void {
    this.#inBackground(() => this.#options.recent.forget(scope));
    const key = keyOf(scope);
    const open = this.#open.get(key);
    if (open?.replica.incarnation === incarnation) this.#letGo(key, open);
    else this.#inBackground(() => this.#options.vectors.discard(incarnation));
  }

  async close(): Promise<void> {
    for (const [key, open] of this.#open) this.#letGo(key, open);
    await Promise.all(this.#background);
  }

  async #following<T>(
    scope: Scope,
    resolve: () => Promise<string | undefined>,
    work: (open: Open) => Promise<T>,
  ): Promise<T | undefined> {
    for (let i = 0; i < INCARNATIONS_MAX; i++) {
      const open = this.#lookUp(scope) ?? this.#admit(scope, await resolve());
      if (open === undefined) return undefined;
      try {
        return await this.#using(open, work);
      } catch (error) {
        if (!(error instanceof Sealed)) throw error;
        // Whoever dropped it may have died before the name was taken off.
        await this.#options.log.retire(scope, open.replica.incarnation);
        this.#inBackground(() => this.#options.recent.forget(scope));
        this.#letGo(keyOf(scope), open);
      }
    }
    throw unavailable("the namespace is dropped again and again");
  }

  async #using<T>(open: Open, work: (open: Open) => Promise<T>): Promise<T> {
    const { replica } = open;
    const bytesBefore = replica.bytes;
    replica.users++;
    try {
      return await work(open);
    } finally {
      replica.users--;
      if (open.gone && replica.users === 0) this.#close(open);
      else this.#tend(open);
      if (replica.bytes > bytesBefore) this.#makeRoom();
    }
  }

  #lookUp(scope: Scope): Open | undefined {
    const key = keyOf(scope);
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    if (open.replica.broken) {
      this.#letGo(key, open);
      return undefined;
    }
    this.#open.set(key, open);
    return open;
  }

  #admit(scope: Scope, incarnation: string | undefined): Open | undefined {
    if (incarnation === undefined) return undefined;
    // Another call may have opened it while this one asked the log.
    const open = this.#lookUp(scope) ?? this.#create(scope, incarnation);
    this.#open.set(keyOf(scope), open);
    this.#makeRoom();
    return open;
  }

  #create(scope: Scope, incarnation: string): Open {
    const { log, vectors, clock, onLost } = this.#options;
    const replica = new Replica(incarnation, {
      log,
      index: vectors.open(incarnation),
      clock,
      ...(onLost && { onLost }),
    });
    const appender = new Appender(replica, { log, clock });
    return { replica, appender, scope, touchedMs: Number.NEGATIVE_INFINITY, gone: false, renewing: false };
  }

  #letGo(key: string, open: Open): void {
    if (this.#open.get(key) === open) this.#open.delete(key);
    open.gone = true;
    if (open.replica.users === 0) this.#close(open);
  }

  /** In the background: whoever closes the whole house waits for it. */
  #close({ replica }: Open): void {
    this.#inBackground(async () => {
      await replica.close();
      if (replica.sealed) await this.#options.vectors.discard(replica.incarnation);
    });
  }

  /** Notes the use, keeps a snapshot when one is due, and builds a new index when the old is worn. */
  #tend(open: Open): void {
    const { replica } = open;
    if (replica.broken || open.gone) return;
    this.#touch(open);
    if (replica.worn) this.#renew(open);
    else if (replica.snapshotDue) this.#inBackground(() => replica.keepSnapshot());
  }

  #touch(open: Open): void {
    const { recent, clock } = this.#options;
    if (clock.nowMs() - open.touchedMs < TOUCH_MS) return;
    open.touchedMs = clock.nowMs();
    this.#inBackground(() => recent.touch(open.scope, clock.wallMs()));
  }

  /** Builds a fresh index from the log while the worn one serves, then lets it take its place. */
  #renew(worn: Open): void {
    if (worn.renewing) return;
    worn.renewing = true;
    const fresh = this.#create(worn.scope, worn.replica.incarnation);
    this.#inBackground(async () => {
      await fresh.replica.rebuild();
      const key = keyOf(worn.scope);
      if (this.#open.get(key) !== worn) return fresh.replica.close();
      this.#letGo(key, worn);
      this.#open.set(key, fresh);
    });
  }

  #inBackground(work: () => Promise<void>): void {
    const running = work()
      .catch((error) => this.#options.onTrouble?.(error))
      .finally(() => this.#background.delete(running));
    this.#background.add(running);
  }

  /** No room for another without closing one. */
  get isFull(): boolean {
    return this.#open.size >= OPEN_MAX || this.#bytes() >= this.#options.indexMemoryBytesMax;
  }

  #bytes(): number {
    let bytes = 0;
    for (const { replica } of this.#open.values()) bytes += replica.bytes;
    return bytes;
  }

  /** Closes what was used least recently, until the rest fits; what is in use stays. */
  #makeRoom(): void {
    let bytes = this.#bytes();
    for (const [key, open] of this.#open) {
      if (bytes <= this.#options.indexMemoryBytesMax && this.#open.size <= OPEN_MAX) return;
      if (open.replica.users > 0) continue;
      bytes -= open.replica.bytes;
      this.#letGo(key, open);
    }
  }
}

/** Account ids have no space, so no two scopes share a key. */
function keyOf({ accountId, namespace }: Scope): string {
  return `${accountId} ${namespace}`;
}
