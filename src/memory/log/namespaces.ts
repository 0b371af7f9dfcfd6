import { unavailable } from "../../errors.js";
import type { ModelVersions } from "../models/model-versions.js";
import type { Entry, Stored } from "../ports/log.js";
import { type ModelVersion, modelVersionOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import type { Conditional } from "../versions/condition.js";
import { Appender } from "./appender.js";
import { completeEnd } from "./living-log.js";
import { type Open, OpenNamespaces } from "./open-namespaces.js";
import { LogEndedError, Replica, type ReplicaOptions } from "./replica.js";

/** Maximum number of times that one call follows a name to a new log. */
const LOG_IDS_MAX = 5;

/** Interval of recording that a namespace is in use. */
const TOUCH_MS = 600_000;

export interface NamespacesOptions extends ReplicaOptions, Pick<DomainPorts, "names" | "erasures"> {
  readonly modelVersions: ModelVersions;
  /** True if no other process can use this database. */
  readonly exclusive?: boolean | undefined;
}

/** Entries to append together. */
export interface Appending {
  /**
   * Makes the entries for the namespace's present log, or the conditions under which they are appended; called
   * again if the namespace gets another log.
   */
  entriesIn(replica: Replica): Promise<readonly (Stored | Conditional)[]>;
  /** Refuses callers whose account was closed; left out for changes that create no namespace. */
  authenticate?: (() => Promise<void>) | undefined;
  /** True if another attempt may have appended the same entries before. */
  readonly idempotent: boolean;
  /** Outcomes by operation id, which `append` adds to. Operations that have one already are not appended. */
  readonly settled: Map<string, PromiseSettledResult<Changed>>;
}

/** Outcome of a change: the entry as the log has it, or the memory that made it needless. */
export interface Changed {
  readonly logId: string;
  readonly existing: Entry<"header">;
}

/**
 * The namespaces that this process holds open, each with a replica and an appender, within a memory budget.
 */
export class Namespaces {
  readonly #options: NamespacesOptions;
  readonly open: OpenNamespaces;
  readonly #allWaiting = { bytes: 0 };
  /** Background work: no call waits for it, but `close` does. */
  readonly #running = new Set<Promise<void>>();
  /** By log id, promises of the end of work that still uses the log's index files: they are not opened before. */
  readonly #closing = new Map<string, Promise<unknown>>();

  constructor(options: NamespacesOptions) {
    this.#options = options;
    this.open = new OpenNamespaces(options.indexMemoryBytesMax, (replica) => this.#close(replica));
  }

  /**
   * Runs work on a namespace, which stays open for it; undefined if the namespace does not exist. Work that
   * meets the log's end (LogEndedError) runs again on the name's new log, if it has one.
   */
  async using<T>(
    scope: Scope,
    work: (open: Open) => Promise<T>,
    resolve: () => Promise<string | undefined> = () => this.#options.names.find(scope),
  ): Promise<T | undefined> {
    for (let i = 0; i < LOG_IDS_MAX; i++) {
      const open = this.#lookUp(scope) ?? (await this.#openNamespace(scope, resolve));
      if (open === undefined) return undefined;
      try {
        return await this.#keepOpen(open, async ({ replica }) => {
          // A log whose model is not loaded any more has probably moved, and needs no model then.
          if (!this.#options.modelVersions.has(modelVersionOf(replica.logId))) await replica.current();
          await replica.ensureCapacity();
          return work(open);
        });
      } catch (error) {
        if (!(error instanceof LogEndedError)) throw error;
        const { logId, end } = open.replica;
        if (end !== undefined) await completeEnd(this.#options, { scope, logId, end });
        this.open.letGo(open);
      }
    }
    throw unavailable("the namespace is dropped again and again");
  }

  /**
   * Runs work on a namespace if this process holds it open; otherwise undefined. It opens and builds nothing.
   */
  async ifOpen<T>(scope: Scope, work: (open: Open) => Promise<T>): Promise<T | undefined> {
    const open = this.#lookUp(scope);
    return open && this.#keepOpen(open, work);
  }

  /** Runs work on a log if this process holds it open, and does not count it as a use; returns whether it does. */
  async ifLogIsOpen(logId: string, work: (replica: Replica) => Promise<void>): Promise<boolean> {
    const open = this.open.all.find(({ replica }) => replica.logId === logId);
    if (open === undefined || open.replica.broken) return false;
    await this.#keepOpen(open, ({ replica }) => work(replica), { isUse: false });
    return true;
  }

  /**
   * Appends entries in their order, and creates the namespace if needed; returns false if it does not exist and
   * they create none. Each has an outcome of its own, with errors as `Appender.append`, which `settled` has when
   * this ends, also by an error.
   */
  async append(scope: Scope, { entriesIn, authenticate, idempotent, settled }: Appending): Promise<boolean> {
    const { names, modelVersions } = this.#options;
    const create = async () => {
      const logId = await names.create(scope, modelVersions.newest);
      // After the name is created, not before: a process that closes the account either finds this name, or
      // refuses the store here.
      await authenticate?.();
      return logId;
    };
    const work = async ({ replica, appender }: Open) => {
      const entries = (await entriesIn(replica)).filter(({ opId }) => !settled.has(opId));
      const { logId } = replica;
      const existing = appender.appendAll(entries, { idempotent });
      const changes = existing.map(async (each): Promise<Changed> => ({ logId, existing: await each }));
      let ended: unknown;
      for (const [i, outcome] of (await Promise.allSettled(changes)).entries()) {
        // Entries that came after the log's end go to the name's next log.
        if (outcome.status === "rejected" && outcome.reason instanceof LogEndedError)
          ended ??= outcome.reason;
        else settled.set((entries[i] as Stored | Conditional).opId, outcome);
      }
      if (ended !== undefined) throw ended;
      return true;
    };
    return (await this.using(scope, work, authenticate && create)) === true;
  }

  /** The model version in which a memory will probably be appended: the log may move before it is. */
  modelVersionOf(scope: Scope): ModelVersion {
    const { modelVersions } = this.#options;
    const open = this.open.get(scope);
    const modelVersion = open ? modelVersionOf(open.replica.logId) : modelVersions.newest;
    // A model that is not loaded any more has no logs, even if this process has not noticed that yet.
    return modelVersions.has(modelVersion) ? modelVersion : modelVersions.newest;
  }

  /** Erases the index of a dropped log. */
  forget(scope: Scope, logId: string): void {
    const open = this.open.get(scope);
    if (open?.replica.logId === logId) {
      // It may not have read the end of its log yet, and must keep no more snapshots.
      open.replica.hasEnded = true;
      this.open.letGo(open);
    } else this.#discard(logId).catch(() => {});
  }

  /**
   * Closes a namespace when the last call that uses it ends, and erases its index files; the next use builds them from the
   * log. Calls that begin meanwhile wait. Returns the log's id; undefined if the namespace does not exist.
   *
   * @throws MemoryError `unavailable` if a file cannot be erased.
   */
  async eraseIndex(scope: Scope): Promise<string | undefined> {
    const logId = await this.#options.names.find(scope);
    if (logId === undefined) return undefined;
    const open = this.open.get(scope);
    const isOpen = open?.replica.logId === logId;
    if (isOpen) this.open.letGo(open);
    await this.#discard(logId, isOpen ? open.replica.closed : undefined).catch((error) => {
      throw unavailable("the index files of this namespace could not be erased", error);
    });
    return logId;
  }

  async close(): Promise<void> {
    const open = this.open.all;
    for (const each of open) this.open.letGo(each);
    // No call waits any more for those that are still being built.
    await Promise.all(open.map(({ replica }) => replica.stop()));
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #keepOpen<T>(
    open: Open,
    work: (open: Open) => Promise<T>,
    { isUse = true }: { isUse?: boolean } = {},
  ): Promise<T> {
    const { replica } = open;
    const bytesBefore = replica.bytes;
    replica.users++;
    try {
      return await work(open);
    } finally {
      replica.users--;
      if (open.gone && replica.users === 0) this.#close(replica);
      else if (!open.gone && isUse) this.#touch(open);
      if (replica.bytes > bytesBefore) this.open.evict(open);
    }
  }

  #lookUp(scope: Scope): Open | undefined {
    const open = this.open.use(scope);
    if (open === undefined) return undefined;
    if (!open.replica.broken && !open.replica.clockWasAhead) return open;
    this.open.letGo(open);
    // Calls that still use it end soon, and it may write its files until then.
    this.#delayOpening(open.replica.logId, open.replica.closed);
    return undefined;
  }

  async #openNamespace(scope: Scope, resolve: () => Promise<string | undefined>): Promise<Open | undefined> {
    const logId = await resolve();
    if (logId === undefined) return undefined;
    await this.#options.modelVersions.find(modelVersionOf(logId));
    // Only one index may use a log's files.
    while (this.#closing.has(logId)) await this.#closing.get(logId);
    // Another call may have opened it while this one asked the log.
    const open = this.#lookUp(scope) ?? this.#create(scope, logId);
    this.open.add(open);
    this.open.evict(open);
    return open;
  }

  #create(scope: Scope, logId: string): Open {
    const options = this.#options;
    const replica = new Replica(logId, options);
    const appender = new Appender(replica, { ...options, allWaiting: this.#allWaiting });
    return { replica, appender, scope, touchedMs: Number.NEGATIVE_INFINITY, lastUse: 0, gone: false };
  }

  /** Records a use. */
  #touch(open: Open): void {
    const { names, clock } = this.#options;
    if (open.replica.broken || open.replica.hasEnded || clock.nowMs() - open.touchedMs < TOUCH_MS) return;
    open.touchedMs = clock.nowMs();
    this.#run(() => names.touch(open.scope, clock.wallMs()));
  }

  #close(replica: Replica): void {
    const closed = this.#run(async () => {
      await replica.close();
      if (replica.hasEnded) await this.#options.indexes.discard(replica.logId);
    });
    this.#delayOpening(replica.logId, closed);
  }

  /** Erases the files of a log once no index of it is open; until then the log is not opened again. */
  #discard(logId: string, closed?: Promise<void>): Promise<void> {
    const unused = Promise.all([this.#closing.get(logId), closed]);
    const erasing = unused.then(() => this.#options.indexes.discard(logId));
    const erased = this.#run(() => erasing);
    this.#delayOpening(logId, erased);
    return erasing;
  }

  /** Keeps a log from being opened until some work, which does not reject, has ended. */
  #delayOpening(logId: string, work: Promise<void>): void {
    const all = Promise.all([this.#closing.get(logId), work]).finally(() => {
      if (this.#closing.get(logId) === all) this.#closing.delete(logId);
    });
    this.#closing.set(logId, all);
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = work()
      .catch((error) => this.#options.onTrouble?.(error))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }
}
