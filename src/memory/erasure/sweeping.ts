import { every } from "../../concurrency/every.js";
import { MemoryError, unavailable } from "../../errors.js";
import { completeEnd } from "../log/living-log.js";
import { LogEndedError, type Replica } from "../log/replica.js";
import { allEntries, allErasures } from "../log/walk.js";
import { entryAt, forgottenBy, isEnd, type Sequences } from "../ports/log.js";
import { lostName, type Scope } from "../ports/names.js";
import type { Expiring, VersionAt } from "../ports/secondary-indexes.js";
import { drop } from "./drop.js";
import { ERASE_MANY, type ErasurePorts, eraseEntries, eraseVersions, finish } from "./erase.js";

const NAMES_MAX = 100;

export interface LeftoverPorts extends ErasurePorts {
  /** True if no other process can use this database. */
  readonly exclusive?: boolean | undefined;
  /** True if an account was closed. An account that is merely missing leads to no erasure. */
  isClosed(accountId: string): Promise<boolean>;
}

/** Number of memories after which a sweep erases no more, and maximum number of those listed at a time. */
const ERASED_MAX = 10_000;
const LIST_MANY = 1_000;
/** Maximum number of lists read in one sweep: they may be of logs that have no name. */
const LISTS_MAX = 50;

/** Time between two sweeps for interrupted erasures. */
const SWEEP_MS = 60_000;
/** Age of an erasure at which no live process works on it any more. */
const UNFINISHED_MS = 60_000;

interface SweepingOptions {
  onSwept(finished: number): void;
  /** Called if a sweep fails; the next one follows in a minute. */
  onTrouble(error: unknown): void;
}

/**
 * Finishes interrupted erasures, and removes leftovers that no record mentions. Each kind of work returns how much it
 * finished.
 */
export function sweepingWork(ports: LeftoverPorts): (() => Promise<number>)[] {
  const work = [
    removingLeftovers(ports),
    () => sweep(ports),
    () => discardOrphans(ports).then(() => 0),
    erasingForgotten(ports),
    () => eraseExpired(ports),
  ];
  // Whatever is deleted in a database of its own is deleted by this process, which wipes its files then.
  if (ports.exclusive === true) return work;
  const wipe = wipingStoredFiles(ports);
  return [...work, () => wipe().then(() => 0)];
}

/**
 * Sweeps now and every minute; returns a function that ends this. No kind of work waits for another: to erase a large
 * namespace takes hours.
 */
export function startSweeping(
  ports: LeftoverPorts,
  { onSwept, onTrouble }: SweepingOptions,
): () => Promise<void> {
  const stop = new AbortController();
  const { signal: stopping } = stop;
  const ends = sweepingWork({ ...ports, stopping }).map((sweepOnce) => {
    const work = async () => {
      const finished = await sweepOnce();
      if (finished > 0) onSwept(finished);
    };
    const onFailed = (error: unknown) => {
      if (!stopping.aborted) onTrouble(error);
    };
    return every(work, { everyMs: SWEEP_MS, immediately: true, onTrouble: onFailed });
  });
  return async () => {
    stop.abort();
    await Promise.all(ends.map((end) => end()));
  };
}

/** Finishes erasures of logs that a crash interrupted; returns their number. */
export async function sweep(ports: ErasurePorts): Promise<number> {
  const { erasures, clock, stopping } = ports;
  let finished = 0;
  const failed: unknown[] = [];
  for await (const erasure of allErasures(erasures)) {
    stopping?.throwIfAborted();
    try {
      if ("lost" in erasure) throw unavailable(`the record of the erasure ${erasure.id} is damaged`);
      // A process whose clock was ahead has left those that seem to begin later.
      if (Math.abs(clock.wallMs() - erasure.begunAtMs) <= UNFINISHED_MS) continue;
      await finish(ports, erasure);
      finished++;
    } catch (error) {
      // An erasure that fails now must not block the others.
      failed[0] ??= error;
    }
  }
  if (failed.length > 0) throw failed[0];
  return finished;
}

/** Discards index files of logs that another replica has dropped. */
export async function discardOrphans({
  indexes,
  log,
  namespaces,
  stopping,
}: StoredFilesPorts): Promise<void> {
  const logs = new WorkInLogs(stopping);
  for (const logId of await indexes.stored()) {
    await logs.run(logId, async () => {
      const entry = (await log.last(logId))?.entry;
      if (entry !== undefined && !isEnd(entry)) return;
      // A search that is under way goes on in the next log: it would find nothing in an index that is emptied.
      await namespaces.ifLogIsOpen(logId, async (replica) => {
        replica.hasEnded = true;
        replica.end = entry;
      });
      await indexes.discard(logId);
    });
  }
  logs.end();
}

/** Work in several logs, or for several accounts: a failure in one must not block the others. */
class WorkInLogs {
  readonly #failures = new Map<string, unknown>();

  constructor(private readonly stopping: AbortSignal | undefined) {}

  /**
   * Runs work in a log or for an account, by its id, unless other work has failed there; returns whether it is done.
   *
   * @throws the reason of `stopping`, once that is aborted.
   */
  async run(id: string, work: () => Promise<unknown>): Promise<boolean> {
    this.stopping?.throwIfAborted();
    if (this.#failures.has(id)) return false;
    try {
      await work();
      return true;
    } catch (error) {
      this.#failures.set(id, error);
      return false;
    }
  }

  /** Throws the first failure, if there was one. */
  end(): void {
    for (const error of this.#failures.values()) throw error;
  }
}

/**
 * Makes work that finishes erasures of replaced and deleted memories, some in each run. The next run goes on after the
 * last of them, so that memories that cannot be erased do not keep others from their turn.
 */
export function erasingForgotten(ports: ErasurePorts): () => Promise<number> {
  let after: VersionAt | undefined;
  return async () => {
    const left = await ports.secondaryIndexes.unerased({ after, limit: ERASED_MAX });
    after = left.length < ERASED_MAX ? undefined : left.at(-1);
    return eraseLeft(ports, left);
  };
}

/** Finishes up to `limit` erasures of replaced and deleted memories, of one log or of all; returns their number. */
export async function eraseForgotten(
  ports: ErasurePorts,
  { logId, limit = ERASED_MAX }: { logId?: string; limit?: number } = {},
): Promise<number> {
  return eraseLeft(ports, await ports.secondaryIndexes.unerased({ logId, limit }));
}

async function eraseLeft(ports: ErasurePorts, left: readonly VersionAt[]): Promise<number> {
  const logs = new WorkInLogs(ports.stopping);
  for (const { logId, sequences } of byLog(left)) {
    await logs.run(logId, () => eraseEntries(ports, { logIds: [logId], sequences }));
  }
  logs.end();
  return left.length;
}

/** Divides versions by their logs. Many at a time: to overwrite memories in files that are not open, these are read. */
function* byLog(versions: readonly VersionAt[]): Iterable<Sequences> {
  const logs = new Map<string, number[]>();
  for (const { logId, sequence } of versions) {
    const sequences = logs.get(logId) ?? [];
    sequences.push(sequence);
    logs.set(logId, sequences);
  }
  for (const [logId, all] of logs) {
    for (let at = 0; at < all.length; at += ERASE_MANY) {
      yield { logId, sequences: all.slice(at, at + ERASE_MANY) };
    }
  }
}

/** Erases memories that have expired, each with a tombstone of its own; returns their number. */
export async function eraseExpired(ports: ErasurePorts): Promise<number> {
  const { names, secondaryIndexes, clock } = ports;
  const untilMs = clock.wallMs();
  const logs = new WorkInLogs(ports.stopping);
  let erased = 0;
  let after: Expiring | undefined;
  for (let lists = 0; lists < LISTS_MAX && erased < ERASED_MAX; lists++) {
    const some = await secondaryIndexes.expired({ untilMs, after, limit: LIST_MANY });
    for (const part of byLog(some)) {
      await logs.run(part.logId, async () => {
        const scope = await names.scopeOf(part.logId);
        // A log without a name is a copy, which is erased with its original, or has ended.
        if (scope === undefined) return;
        // `erasingForgotten` erases what is deleted or replaced already. If this erased it as well, each sweep would append
        // another tombstone for as long as the erasure fails.
        const replacements = await secondaryIndexes.findReplacements(part);
        const gone = new Set(
          replacements.filter(({ how }) => how !== "superseded").map(({ target }) => target),
        );
        const sequences = part.sequences.filter((sequence) => !gone.has(sequence));
        if (sequences.length > 0) await eraseVersions(ports, scope, { logId: part.logId, sequences });
        erased += sequences.length;
      });
    }
    after = some.at(-1);
    if (some.length < LIST_MANY) break;
  }
  logs.end();
  return erased;
}

/**
 * Returns what examines every name in turn, some at a time, for leftovers of processes that died or slept: names of logs
 * that have ended, and names of accounts that were closed during a store.
 */
export function removingLeftovers(ports: LeftoverPorts): () => Promise<number> {
  let after: Scope | undefined;
  return async () => {
    const named = await ports.names.list({ after, limit: NAMES_MAX });
    const logs = new WorkInLogs(ports.stopping);
    const closed = new Set<string>();
    for (const accountId of new Set(named.map(({ scope }) => scope.accountId))) {
      await logs.run(accountId, async () => {
        if (await ports.isClosed(accountId)) closed.add(accountId);
      });
    }
    let removed = 0;
    for (const each of named) {
      if ("lost" in each) continue;
      const { scope, logId } = each;
      await logs.run(logId, async () => {
        const entry = (await ports.log.last(logId))?.entry;
        if (entry !== undefined && isEnd(entry)) await completeEnd(ports, { scope, logId, end: entry });
        else if (closed.has(scope.accountId)) await drop(ports, scope, { force: true });
        else return;
        removed++;
      });
    }
    after = named.length < NAMES_MAX ? undefined : named.at(-1)?.scope;
    logs.end();
    const lost = named.find((each) => "lost" in each);
    if (lost !== undefined) throw lostName(lost);
    return removed;
  };
}

/** Entries read at a time, and at most of one log before others are read. */
const READ_MANY = 512;
const LOG_ENTRIES_MAX = 20_480;
/** Pause between two rounds, in each of which all logs that are behind are read: calls need the database, too. */
const ROUND_PAUSE_MS = 1_000;

type StoredFilesPorts = Pick<ErasurePorts, "log" | "indexes" | "namespaces" | "clock" | "stopping">;

/**
 * Returns what takes that which other processes have deleted since the last time out of the index files that this one
 * keeps, also of namespaces that nobody uses here.
 */
export function wipingStoredFiles(ports: StoredFilesPorts): () => Promise<void> {
  const { log, indexes, namespaces, clock, stopping } = ports;
  /** Numbers up to which the removals of logs were applied: to the files, or by an open index, which goes on from there. */
  const applied = new Map<string, number>();
  /** Applies some of a log's removals; returns whether these were all. */
  const catchUpWith = async (logId: string): Promise<boolean> => {
    let isCurrent = false;
    await namespaces.ifLogIsOpen(logId, async (replica) => {
      isCurrent = await catchUp(replica);
      if (!isCurrent) return;
      // Tries overwritings again that failed before, for instance because the folder was read-only.
      await indexes.wipe(logId, []);
      // Marks of files that have lost nothing for long are far behind.
      applied.set(logId, replica.applied);
    });
    if (isCurrent) return true;
    const first = applied.get(logId) ?? (await markOf(ports, logId));
    if (first === undefined) {
      // Nobody can read these files, so nothing says what they hold: all of them are erased.
      await indexes.wipe(logId, []);
      return true;
    }
    let upto = first;
    const range = {
      from: first + 1,
      upto: first + LOG_ENTRIES_MAX,
      limit: READ_MANY,
      projection: "header",
    } as const;
    for await (const entries of allEntries(log, { logId, ...range })) {
      const targets = entries.flatMap(({ entry }) => forgottenBy(entry) ?? []);
      if (targets.length > 0) await indexes.wipe(logId, targets);
      upto += entries.length;
      applied.set(logId, upto);
      await clock.yield();
    }
    return upto < range.upto;
  };
  return async () => {
    const stored = new Set(await indexes.stored());
    const open = new Set(namespaces.open.logIds);
    // Open ones come last: to build the index of one takes long.
    let lagging = [...stored].sort((a, b) => Number(open.has(a)) - Number(open.has(b)));
    for (const logId of applied.keys()) if (!stored.has(logId)) applied.delete(logId);
    const logs = new WorkInLogs(stopping);
    for (;;) {
      const stillLagging: string[] = [];
      for (const logId of lagging) {
        await logs.run(logId, async () => {
          if (!(await catchUpWith(logId))) stillLagging.push(logId);
        });
      }
      if (stillLagging.length === 0) break;
      lagging = stillLagging;
      await clock.sleep(ROUND_PAUSE_MS);
    }
    logs.end();
  };
}

/**
 * Finds the number up to which all of a log's files have its removals; undefined if none is whole. Files of another
 * log, such as those made before an older copy of the database was restored, are discarded.
 */
async function markOf(
  { indexes, log, namespaces }: StoredFilesPorts,
  logId: string,
): Promise<number | undefined> {
  const marks = await indexes.marksOf(logId);
  for (const { sequence, opId } of marks) {
    if ((await entryAt(log, logId, sequence))?.opId === opId) continue;
    // Whoever uses it by now finds that out by itself.
    const isOpen = await namespaces.ifLogIsOpen(logId, async () => {});
    if (!isOpen) await indexes.discard(logId);
    return undefined;
  }
  return marks.length === 0 ? undefined : Math.min(...marks.map(({ sequence }) => sequence));
}

/** Lets an open index apply its log; returns false if it cannot, because it is too large. */
async function catchUp(replica: Replica): Promise<boolean> {
  try {
    await replica.current();
  } catch (error) {
    if (error instanceof MemoryError && error.reason === "INDEX_TOO_LARGE") return false;
    // Whoever uses the namespace next leaves the log that has ended.
    if (!(error instanceof LogEndedError)) throw error;
  }
  return true;
}
