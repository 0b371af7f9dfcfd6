import { isUnavailable, unavailable } from "../../errors.js";
import { type Deleted, type Dropped, type Erased, entryAt, isEnd } from "../ports/log.js";
import type { DomainPorts } from "../ports/ports.js";

/** Maximum number of attempts to become the log's next entry while others store, and their time limit. */
const ATTEMPTS_MAX = 50;
const APPEND_TIMEOUT_MS = 10_000;
const PAUSE_MS_MAX = 50;

export interface DirectAppend {
  readonly logId: string;
  readonly entry: Deleted | Dropped | Erased;
  /** Runs before each attempt; it throws if the entry must not follow the log's present entries. */
  readonly check?: (() => Promise<void>) | undefined;
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
