import { MemoryError, unavailable } from "../../errors.js";
import type { Mover } from "../generations/mover.js";
import type { Clock } from "../pacing/clock.js";
import { type Deleted, type Dropped, isEnd, type Log, type Scope } from "../ports/log.js";

/** How often an append tries to be the log's next entry while others store, and for how long. */
const ATTEMPTS_MAX = 50;
const APPEND_TIMEOUT_MS = 10_000;
const PAUSE_MS_MAX = 50;
/** How often a name is followed to a new log. */
const LOG_IDS_MAX = 5;

export interface DirectPorts {
  readonly log: Log;
  readonly clock: Clock;
}

/** A log that goes on, and the number of its last entry. */
export interface Living {
  readonly logId: string;
  readonly last: number;
}

/**
 * Runs work on the log that has a name, without its index; undefined when no log has it. Work that answers
 * undefined has met the log's end, and is run again on the name's next log.
 */
export async function onLiving<T>(
  ports: { readonly log: Log; readonly mover: Mover },
  scope: Scope,
  work: (living: Living) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let i = 0; i < LOG_IDS_MAX; i++) {
    const living = await livingLog(ports, scope);
    if (living === undefined) return undefined;
    const done = living === "ended" ? undefined : await work(living);
    if (done !== undefined) return done;
  }
  throw unavailable("the namespace is dropped again and again");
}

/** Where a log has ended and its name still points to it, this does what its writer left undone. */
async function livingLog(
  { log, mover }: { readonly log: Log; readonly mover: Mover },
  scope: Scope,
): Promise<Living | "ended" | undefined> {
  const logId = await log.find(scope);
  if (logId === undefined) return undefined;
  const last = await log.last(logId);
  if (last === undefined || !isEnd(last.entry)) return { logId, last: last?.sequence ?? 0 };
  const to = last.entry.op === "moved" ? last.entry.to : undefined;
  await mover.leave(scope, { from: logId, to });
  return "ended";
}

export interface DirectAppend {
  readonly logId: string;
  readonly entry: Deleted | Dropped;
  /** Run before each attempt; it throws when the entry must not come behind what the log has by then. */
  check?(): Promise<void>;
}

/**
 * Appends an entry behind the last one of a log, of which it reads nothing else: no index is needed, and
 * it makes no difference how long the log is. Answers false when the log has ended before.
 *
 * @throws MemoryError `unavailable` when others write without a pause, or when the outcome is unknown.
 */
export async function appendDirect(
  { log, clock }: DirectPorts,
  { logId, entry, check }: DirectAppend,
): Promise<boolean> {
  const deadlineMs = clock.nowMs() + APPEND_TIMEOUT_MS;
  let failure: unknown;
  /** Where an attempt failed, so that the entry may be there, now or later. */
  let doubtful: number | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && clock.nowMs() <= deadlineMs; attempt++) {
    let from: number | undefined;
    try {
      const last = await log.last(logId);
      if (doubtful !== undefined && (last?.sequence ?? 0) >= doubtful) {
        if (await isAt(log, { logId, sequence: doubtful, opId: entry.opId })) return true;
        doubtful = undefined;
      }
      if (last && isEnd(last.entry)) return false;
      await check?.();
      from = (last?.sequence ?? 0) + 1;
      if ((await log.append({ logId, from, entries: [entry] })) === 1) return true;
    } catch (error) {
      if (!isAway(error)) throw error;
      failure = error;
      doubtful ??= from;
    }
    await clock.sleep(clock.random() * PAUSE_MS_MAX);
  }
  throw unavailable("others store in this namespace without a pause; try again", failure);
}

async function isAt(
  log: Log,
  { logId, sequence, opId }: { logId: string; sequence: number; opId: string },
): Promise<boolean> {
  const { entries } = await log.read({ logId, from: sequence, limit: 1, what: "head" });
  const [found] = entries;
  return found?.sequence === sequence && found.entry.opId === opId;
}

function isAway(error: unknown): boolean {
  return error instanceof MemoryError && error.code === "unavailable";
}
