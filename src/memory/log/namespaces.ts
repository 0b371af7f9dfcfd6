import { unavailable } from "../../errors.js";
import type { Editions } from "../generations/generations.js";
import type { Mover } from "../generations/mover.js";
import { type Edition, editionOf, inEdition } from "../ports/generation.js";
import type { Entry, Log, Lost, Numbered, Scope, Stored } from "../ports/log.js";
import { type SharedStep, type Steps, untimed } from "../ports/steps.js";
import { Appender, WaitingBytes } from "./appender.js";
import { type Tended, Upkeep, type UpkeepOptions } from "./maintenance.js";
import { Replica, Sealed } from "./replica.js";
import { Prepared } from "./standby.js";

/** Namespaces held open at once, whatever their size. */
const OPEN_MAX = 10_000;
/** How often one call follows a name to a new incarnation before it gives up. */
const INCARNATIONS_MAX = 5;

export interface NamespacesOptions extends UpkeepOptions {
  readonly log: Log;
  readonly editions: Editions;
  readonly mover: Mover;
  /** Beyond this, the least recently used indexes are closed, in bytes. */
  readonly indexMemoryBytesMax: number;
  readonly steps?: Steps<SharedStep> | undefined;
  /** As in `ReplicaOptions`. */
  onCaughtUp?: ((entries: number) => void) | undefined;
  /** Told of entries that are missing or unreadable. */
  onLost?(incarnation: string, lost: Numbered<Lost>): void;
}

/** A memory to append. */
export interface Appending {
  /** Makes it for the edition of the log that it goes to; called again when the namespace gets another log. */
  memoryIn(edition: Edition): Promise<Stored>;
  /** Refuses callers whose account was closed. */
  admit(): Promise<void>;
  /** Another attempt may have stored the same memory before. */
  readonly once: boolean;
}

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

/** The namespaces this process holds open: a replica and an appender each, within a memory budget. */
export class Namespaces {
  readonly #options: NamespacesOptions;
  readonly #upkeep: Upkeep;
  /** By scope, the least recently used first. */
  readonly #open = new Map<string, Open>();
  readonly #prepared: Prepared<Open>;
  readonly #allWaiting = new WaitingBytes();
  /** Fresh indexes that are being built to take the place of worn ones. */
  readonly #fresh = new Set<Replica>();
  #closing = false;

  constructor(options: NamespacesOptions) {
    this.#options = options;
    this.#upkeep = new Upkeep(options);
    this.#prepared = new Prepared({
      open: (scope, incarnation) => this.#create(scope, incarnation),
      close: (replica) => this.#upkeep.close(replica),
    });
  }

  /**
   * Runs work on a namespace, which stays open for it; undefined when nobody stored there. Work that
   * meets the namespace's end (Sealed) is run again on the name's new incarnation, if it has one.
   */
  reading<T>(scope: Scope, work: (open: Open) => Promise<T>): Promise<T | undefined> {
    return this.#following(scope, () => this.#options.log.find(scope), work);
  }

  /** Runs work on a namespace if this process holds it open; undefined if not. Nothing is opened or built. */
  async ifOpen<T>(scope: Scope, work: (open: Open) => Promise<T>): Promise<T | undefined> {
    const open = this.#lookUp(scope);
    return open && this.#using(open, work);
  }

  /**
   * Appends the memory that is made for the edition of the namespace, which comes into being if needed;
   * answers the entry as the log has it. Errors as `Appender.append`.
   */
  async append(scope: Scope, { memoryIn, admit, once }: Appending): Promise<Entry<"head">> {
    const { log, editions } = this.#options;
    const create = async () => {
      const incarnation = await log.create(scope, editions.newest);
      // Behind the name, not before it: whoever closes the account either finds this name, or ends it here.
      await admit();
      return incarnation;
    };
    const work = async ({ replica, appender }: Open) => {
      const memory = await memoryIn(editionOf(replica.incarnation));
      return once ? appender.appendOnce(memory) : appender.append(memory);
    };
    return (await this.#following(scope, create, work)) as Entry<"head">;
  }

  /** The edition that a memory will most probably be appended in. */
  editionOf(scope: Scope): Edition {
    const { editions } = this.#options;
    const open = this.#open.get(keyOf(scope));
    const edition = open ? editionOf(open.replica.incarnation) : editions.newest;
    // A model is let go when all have moved away from it, also when this process has not noticed yet.
    return editions.has(edition) ? edition : editions.newest;
  }

  /** Opens the copies that the open namespaces have in another edition, for when they move there. */
  async prepare(edition: Edition): Promise<void> {
    for (const { scope, replica } of [...this.#open.values()]) {
      const incarnation = inEdition(replica.incarnation, edition);
      if (incarnation === replica.incarnation || this.isFull) continue;
      await this.#prepared.prepare(scope, incarnation);
    }
  }

  /** Closes what was prepared and is not needed. */
  unprepare(): void {
    this.#prepared.clear();
  }

  /** Erases the index of a dropped incarnation. */
  forget(scope: Scope, incarnation: string): void {
    this.#upkeep.forget(scope);
    const key = keyOf(scope);
    const open = this.#open.get(key);
    if (open?.replica.incarnation === incarnation) {
      // It may not have read the end of its log yet: it keeps no snapshot any more.
      open.replica.sealed = true;
      this.#letGo(key, open);
    } else this.#upkeep.discard(incarnation);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const open = [...this.#open.values()].map(({ replica }) => replica);
    const held = [...open, ...this.#prepared.replicas, ...this.#fresh];
    for (const [key, open] of this.#open) this.#letGo(key, open);
    this.unprepare();
    // Nobody waits any more for those that are still being built.
    await Promise.all(held.map((replica) => replica.stop()));
    await this.#upkeep.settled();
  }

  async #following<T>(
    scope: Scope,
    resolve: () => Promise<string | undefined>,
    work: (open: Open) => Promise<T>,
  ): Promise<T | undefined> {
    for (let i = 0; i < INCARNATIONS_MAX; i++) {
      const open = this.#lookUp(scope) ?? (await this.#admit(scope, resolve));
      if (open === undefined) return undefined;
      try {
        return await this.#using(open, work);
      } catch (error) {
        if (!(error instanceof Sealed)) throw error;
        const { incarnation: from, movedTo: to } = open.replica;
        await this.#options.mover.leave(scope, { from, to });
        if (to === undefined) this.#upkeep.forget(scope);
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
      if (open.gone && replica.users === 0) this.#upkeep.close(replica);
      else if (!open.gone) this.#upkeep.tend(open, () => this.#renew(open));
      if (replica.bytes > bytesBefore) this.#makeRoom();
    }
  }

  #lookUp(scope: Scope): Open | undefined {
    const key = keyOf(scope);
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    // A stopped process may have made it for a model that all others had left.
    if (open.replica.broken || this.#options.editions.isOut(editionOf(open.replica.incarnation))) {
      this.#letGo(key, open);
      return undefined;
    }
    this.#open.set(key, open);
    return open;
  }

  async #admit(scope: Scope, resolve: () => Promise<string | undefined>): Promise<Open | undefined> {
    const incarnation = await resolve();
    if (incarnation === undefined) return undefined;
    if (await this.#options.editions.isOutdated(incarnation)) {
      await this.#options.mover.move(scope, incarnation);
      // Asked again: it may have been dropped instead, and a store needs one in any case.
      return this.#admit(scope, resolve);
    }
    // Its snapshot is being written: it is quicker to read than the log, and belongs to one at a time.
    await this.#upkeep.closed(incarnation);
    // Another call may have opened it while this one asked the log.
    const open = this.#lookUp(scope) ?? this.#prepared.take(incarnation) ?? this.#create(scope, incarnation);
    this.#open.set(keyOf(scope), open);
    this.#makeRoom();
    return open;
  }

  #create(scope: Scope, incarnation: string): Open {
    const { log, vectors, clock, steps, onCaughtUp, onLost } = this.#options;
    const replica = new Replica(incarnation, {
      log,
      index: vectors.open(incarnation),
      clock,
      steps,
      onCaughtUp,
      ...(onLost && { onLost }),
    });
    const appender = new Appender(replica, { log, clock, steps, allWaiting: this.#allWaiting });
    return { replica, appender, scope, touchedMs: Number.NEGATIVE_INFINITY, gone: false, renewing: false };
  }

  #letGo(key: string, open: Open): void {
    if (this.#open.get(key) === open) this.#open.delete(key);
    open.gone = true;
    if (open.replica.users === 0) this.#upkeep.close(open.replica);
  }

  /** Builds a fresh index from the log while the worn one serves, then lets it take its place. */
  async #renew(worn: Open): Promise<void> {
    const fresh = this.#create(worn.scope, worn.replica.incarnation);
    this.#fresh.add(fresh.replica);
    try {
      await (this.#options.steps ?? untimed).time("rebuild", () => fresh.replica.rebuild());
    } catch (error) {
      await fresh.replica.close();
      // One that was stopped has not failed.
      if (this.#closing) return;
      throw error;
    } finally {
      this.#fresh.delete(fresh.replica);
    }
    const key = keyOf(worn.scope);
    if (this.#closing || this.#open.get(key) !== worn) return fresh.replica.close();
    this.#letGo(key, worn);
    this.#open.set(key, fresh);
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
    return this.#open.size >= OPEN_MAX || this.#bytes() >= this.#options.indexMemoryBytesMax;
  }

  #bytes(): number {
    let bytes = 0;
    for (const { replica } of this.#open.values()) bytes += replica.bytes;
    for (const replica of this.#prepared.replicas) bytes += replica.bytes;
    return bytes;
  }

  /**
   * Closes what was used least recently, until the rest fits; what is in use stays, and what was used
   * last: a namespace that is over the budget alone would be built anew for every call.
   */
  #makeRoom(): void {
    let bytes = this.#bytes();
    let left = this.#open.size;
    for (const [key, open] of this.#open) {
      if (--left === 0) return;
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
