import type { DomainPorts } from "../ports/ports.js";
import type { SupersedingOrExpiring } from "../ports/secondary-indexes.js";
import { isExpired } from "../versions/current-version.js";
import { fetchAll } from "../versions/fetch.js";

/** Numbers read at a time. */
const READ_MANY = 256;
/** Maximum number of attempts to count a log that others change meanwhile. */
const ATTEMPTS_MAX = 3;

type CountingPorts = Pick<DomainPorts, "log" | "secondaryIndexes" | "clock">;

/**
 * Counts the memories of a log that lists show. If others change the log all the time, those that they store or erase
 * in the last attempt may count or not.
 */
export async function countShown(
  { log, secondaryIndexes, clock }: CountingPorts,
  {
    logId,
    includeSuperseded = false,
    signal,
  }: { logId: string; includeSuperseded?: boolean | undefined; signal?: AbortSignal | undefined },
): Promise<number> {
  let before = await log.measure({ logId });
  for (let attempts = 1; ; attempts++) {
    const nowMs = clock.wallMs();
    const hidden = await countHidden({
      log,
      secondaryIndexes,
      clock,
      logId,
      nowMs,
      includeSuperseded,
      signal,
    });
    const after = await log.measure({ logId });
    // A sweep may have erased memories that had expired, before they were known as hidden.
    const isSame = after.memories === before.memories && after.bytes === before.bytes;
    if (isSame || attempts === ATTEMPTS_MAX) return Math.max(0, after.memories - hidden);
    before = after;
  }
}

interface Counting extends CountingPorts {
  readonly logId: string;
  readonly nowMs: number;
  readonly includeSuperseded: boolean;
  /** Aborted when the caller stops waiting: the log of a large namespace may say much of what is hidden. */
  readonly signal?: AbortSignal | undefined;
}

/** Counts the memories of a log that are not erased and that lists leave out. */
async function countHidden(counting: Counting): Promise<number> {
  const { secondaryIndexes, logId, clock, signal } = counting;
  let hidden = 0;
  for (let from = 1; ; ) {
    const some = await secondaryIndexes.listSupersedingAndExpiring({ logId, from, limit: READ_MANY });
    hidden += await hiddenBy(counting, some);
    const last = some.at(-1);
    if (last === undefined || some.length < READ_MANY) return hidden;
    from = last.sequence + 1;
    await clock.yield();
    signal?.throwIfAborted();
  }
}

/** Counts what some numbers of a log hide: themselves once they expire, and what they supersede. */
async function hiddenBy(
  { log, logId, nowMs, includeSuperseded }: Counting,
  some: readonly SupersedingOrExpiring[],
): Promise<number> {
  let hidden = some.filter((each) => isExpired(each, nowMs)).length;
  const sequences = includeSuperseded ? [] : some.flatMap(({ supersedes = [] }) => [...supersedes]);
  // One that has expired counts already, and one that was erased does not count at all.
  for await (const found of fetchAll(log, { logId, sequences, what: "head" })) {
    hidden += found.filter(({ entry }) => !isExpired(entry, nowMs)).length;
  }
  return hidden;
}
