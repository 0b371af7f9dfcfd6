import { unavailable } from "../../errors.js";
import { erasureOf } from "../ports/erasures.js";
import {
  type Dropped,
  isEnd,
  type Log,
  type Measured,
  type Moved,
  type Projection,
  type Tail,
} from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";

/** Maximum number of times that a name is followed to a new log. */
const LOG_IDS_MAX = 5;
/** Maximum number of moves to other model versions that one look follows. */
const MOVES_MAX = 16;

/** The log that a namespace's next entry goes to. */
export interface LivingLog {
  readonly logId: string;
  /** The number of its last entry; 0 if it has none. */
  readonly last: number;
  /** The id of the operation that wrote that entry. */
  readonly opId: string | undefined;
  /** True if that entry ended it, and the name is about to become free. */
  readonly dropped: boolean;
}

/** A log that has not ended, and the number of its last entry. */
export type Living = Pick<LivingLog, "logId" | "last">;

export type NamedLogs = Pick<DomainPorts, "log" | "names">;
type EndPort = "names" | "erasures" | "clock";

/** Finds a namespace's log, where it has moved to; undefined if there is none. */
export async function livingLogOf({ log, names }: NamedLogs, scope: Scope): Promise<LivingLog | undefined> {
  const logId = await names.find(scope);
  return logId === undefined ? undefined : followMoves(log, logId);
}

/** Finds where a log has moved to. */
async function followMoves(log: Log, from: string): Promise<LivingLog> {
  let logId = from;
  for (let move = 0; move < MOVES_MAX; move++) {
    const last = await log.last(logId);
    if (last?.entry.op !== "moved") {
      const { sequence = 0, entry } = last ?? {};
      return { logId, last: sequence, opId: entry?.opId, dropped: entry?.op === "drop" };
    }
    logId = last.entry.to;
  }
  throw movesAgainAndAgain();
}

function movesAgainAndAgain() {
  return unavailable("the namespace moves again and again");
}

/** A slice of a log; empty if the log was dropped, whatever it still holds. */
export interface Slice<W extends Projection> extends Tail<W> {
  readonly dropped: boolean;
}

/** A log that is read onwards, and the number of the last entry that was taken. */
export interface Reading {
  logId: string;
  after: number;
}

/**
 * Reads what follows the last entry that was taken, at most `limit` entries and one slice, and goes on in the log's copy
 * once it has moved. The slice was read from a log that was neither dropped nor moved when the read ended, so an erased
 * memory in it is one that a tombstone names.
 */
export async function readOn<W extends Projection>(
  log: Log,
  reading: Reading,
  { limit, projection }: { limit: number; projection: W },
): Promise<Slice<W>> {
  for (let move = 0; move < MOVES_MAX; move++) {
    const tail = await log.read({ logId: reading.logId, from: reading.after + 1, limit, projection });
    const { logId, dropped } = await followMoves(log, reading.logId);
    if (dropped) return { entries: [], complete: true, dropped };
    if (logId === reading.logId) return { ...tail, dropped };
    reading.logId = logId;
  }
  throw movesAgainAndAgain();
}

/** Finds a namespace's log; undefined if it holds nothing yet, or was dropped. */
export async function nonEmptyLogOf(ports: NamedLogs, scope: Scope): Promise<LivingLog | undefined> {
  const living = await livingLogOf(ports, scope);
  return living === undefined || living.last === 0 || living.dropped ? undefined : living;
}

/** Measures a namespace; undefined if it holds nothing yet, or was dropped. */
export async function measureNamespace(ports: NamedLogs, scope: Scope): Promise<Measured | undefined> {
  const found = await nonEmptyLogOf(ports, scope);
  return found && ports.log.measure(found);
}

/**
 * Runs work on the log of a namespace, without its index; undefined if it has none. If its log has ended, this first
 * completes what the log's last writer left undone. Work that answers undefined has met the log's end, and runs again on
 * the name's next log.
 */
export async function onLiving<T>(
  ports: NamedLogs & Pick<DomainPorts, EndPort>,
  scope: Scope,
  work: (living: Living) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let i = 0; i < LOG_IDS_MAX; i++) {
    const logId = await ports.names.find(scope);
    if (logId === undefined) return undefined;
    const last = await ports.log.last(logId);
    if (last !== undefined && isEnd(last.entry)) {
      await completeEnd(ports, { scope, logId, end: last.entry });
      continue;
    }
    const done = await work({ logId, last: last?.sequence ?? 0 });
    if (done !== undefined) return done;
  }
  throw unavailable("the namespace is dropped again and again");
}

/**
 * Completes the end of a log, in case the process that ended it died: the name points to the copy that the log moved
 * to, or becomes free if it was dropped. Any process may repeat each step.
 */
export async function completeEnd(
  { names, erasures, clock }: Pick<DomainPorts, EndPort>,
  { scope, logId, end }: { scope: Scope; logId: string; end: Dropped | Moved },
): Promise<void> {
  // Recorded before the log loses its name, so that a crash leaves no texts without a record.
  await erasures.findOrInsert(erasureOf(scope, logId, clock));
  if (end.op === "moved") await names.rename(scope, { from: logId, to: end.to });
  else await names.retire(scope, logId);
}
