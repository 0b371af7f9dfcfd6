import { Appender } from "./appender.js";
import type { Entry, Log, Scope } from "./log.js";
import { Replica } from "./replica.js";
import type { Vectors } from "./vectors.js";

/** Namespaces held open at once, whatever their size. */
const OPEN_MAX = 10_000;

export interface NamespacesOptions {
  readonly log: Log;
  readonly vectors: Vectors;
  /** Beyond this, the least recently used indexes are closed, in bytes. */
  readonly indexMemoryBytesMax: number;
}

interface Open {
  readonly replica: Replica;
  readonly appender: Appender;
}

/** The namespaces this process holds open: a replica and an appender each, within a memory budget. */
export class Namespaces {
  readonly #options: NamespacesOptions;
  /** By scope, the least recently used first. */
  readonly #open = new Map<string, Open>();

  constructor(options: NamespacesOptions) {
    this.#options = options;
  }

  /** Runs work on the namespace's replica, which stays open for it; undefined when nobody stored there. */
  async reading<T>(scope: Scope, work: (replica: Replica) => Promise<T>): Promise<T | undefined> {
    const open = this.#lookUp(scope) ?? this.#admit(scope, await this.#options.log.find(scope));
    return open && this.#using(open, () => work(open.replica));
  }

  /** Appends an entry; the namespace comes into being if needed. Errors as `Appender.append`. */
  async append(scope: Scope, entry: Entry): Promise<void> {
    const open = this.#lookUp(scope) ?? this.#admit(scope, await this.#options.log.create(scope));
    const before = open.replica.bytes;
    await this.#using(open, () => open.appender.append(entry));
    if (open.replica.bytes > before) this.#makeRoom();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ replica }) => replica.close()));
    this.#open.clear();
  }

  #lookUp(scope: Scope): Open | undefined {
    const key = keyOf(scope);
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    if (open.replica.broken) return undefined;
    this.#open.set(key, open);
    return open;
  }

  #admit(scope: Scope, incarnation: string): Open;
  #admit(scope: Scope, incarnation: string | undefined): Open | undefined;
  #admit(scope: Scope, incarnation: string | undefined): Open | undefined {
    if (incarnation === undefined) return undefined;
    // Another call may have opened it while this one asked the log.
    const open = this.#lookUp(scope) ?? this.#create(incarnation);
    this.#open.set(keyOf(scope), open);
    this.#makeRoom();
    return open;
  }

  #create(incarnation: string): Open {
    const { log, vectors } = this.#options;
    const replica = new Replica(incarnation, { log, index: vectors.open(incarnation) });
    return { replica, appender: new Appender(replica, log) };
  }

  async #using<T>({ replica }: Open, work: () => Promise<T>): Promise<T> {
    replica.users++;
    try {
      return await work();
    } finally {
      replica.users--;
    }
  }

  /** Closes what was used least recently, until the rest fits; what is in use stays. */
  #makeRoom(): void {
    let bytes = 0;
    for (const { replica } of this.#open.values()) bytes += replica.bytes;
    for (const [key, { replica }] of this.#open) {
      if (bytes <= this.#options.indexMemoryBytesMax && this.#open.size <= OPEN_MAX) return;
      if (replica.users > 0) continue;
      this.#open.delete(key);
      bytes -= replica.bytes;
      void replica.close();
    }
  }
}

/** Account ids have no space, so no two scopes share a key. */
function keyOf({ accountId, namespace }: Scope): string {
  return `${accountId} ${namespace}`;
}
