import { isUnavailable, unavailable } from "../../errors.js";
import { type Deleted, type Dropped, type Erased, entryAt, isEnd } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { completeEnd, type EndPort } from "./complete-end.js";

/** Maximum number of attempts to become the log's next entry while others store, and their time limit. */
const ATTEMPTS_MAX = 50;
const APPEND_TIMEOUT_MS = 10_000;
const PAUSE_MS_MAX = 50;
/** Maximum number of times that a name is followed to a new log. */
const LOG_IDS_MAX = 5;

/** A log that has not ended, and the number of its last entry. */
export interface Living {
  readonly logId: string;
  readonly last: number;
}

/**
 * Runs work on the log of a namespace, without its index; undefined if it has none. Work that answers
 * undefined has met the log's end, and runs again on the name's next log.
 */
export async function onLiving<T>(
  ports: Pick<DomainPorts, "log" | EndPort>,
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

/**
 * Finds the living log of a name. If its log has ended, this completes what the log's last writer left
 * undone.
 */
async function livingLog(
  ports: Pick<DomainPorts, "log" | EndPort>,
  scope: Scope,
): Promise<Living | "ended" | undefined> {
  const { log, names } = ports;
  const logId = await names.find(scope);
  if (logId === undefined) return undefined;
  const last = await log.last(logId);
  if (last === undefined || !isEnd(last.entry)) return { logId, last: last?.sequence ?? 0 };
  await completeEnd(ports, { scope, logId, end: last.entry });
  return "ended";
}

export interface DirectAppend {
  readonly logId: string;
  readonly entry: Deleted | Dropped | Erased;
  /** Runs before each attempt; it throws if the entry must not follow the log's present entries. */
  check?(): Promise<void>;
}

/**
 * Appends an entry after the last one of a log, and reads nothing else of it: this needs no index and takes
 * as long for a long log as for a short one. Returns false if the log has ended.
 *
 * @throws MemoryError `unavailable` if others write without a pause, or if the outcome is unknown.
 */
export async function appendDirect(
  { log, clock }: Pick<DomainPorts, "log" | "clock">,
  { logId, entry, check }: DirectAppend,
): Promise<boolean> {
  const deadlineMs = clock.nowMs() + APPEND_TIMEOUT_MS;
  let failure: unknown;
  /** The number of a failed attempt, which may still put the entry there. */
  let doubtful: number | undefined;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && clock.nowMs() <= deadlineMs; attempt++) {
    let from: number | undefined;
    try {
      const last = await log.last(logId);
      if (doubtful !== undefined && (last?.sequence ?? 0) >= doubtful) {
        if ((await entryAt(log, logId, doubtful))?.opId === entry.opId) return true;
        doubtful = undefined;
      }
      if (last && isEnd(last.entry)) return false;
      await check?.();
      from = (last?.sequence ?? 0) + 1;
      if ((await log.append({ logId, from, entries: [entry] })) === 1) return true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      failure = error;
      doubtful ??= from;
    }
    await clock.sleep(clock.random() * PAUSE_MS_MAX);
  }
  throw unavailable("others store in this namespace without a pause; try again", failure);
}
